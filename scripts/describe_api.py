"""Write docs/openapi.json, the description of the HTTP API.

python -m scripts.describe_api

`tests/doors/http/test_openapi.py` checks that it is up to date.
"""

import json
from pathlib import Path

from lore.doors.http.openapi import document

TARGET = Path(__file__).parent.parent / "docs" / "openapi.json"


def text() -> str:
    """The description as it is stored."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(f"wrote {TARGET}")

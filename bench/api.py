"""Does the HTTP API keep what its OpenAPI document says, whatever it is sent?

python -m bench.api [--examples N] [--seed N] [--verb NAME ...] [--model NAME]

Starts a real `lore-server` on a store with a few memories, and has schemathesis call every operation
with examples, edge cases and random values, right and wrong ones. It fails at an answer of 500 or above, at
a status or content type that the document does not name, and at a body that does not fit its schema.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from bench.administrator import administrator
from lore.doors.http.examples import EXAMPLES
from lore.doors.http.openapi import PREFIX

SERVER = "from lore.doors.http.server import main; main()"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
FIRST = ("remember", "remember_all", "introduce", "observe", "relate")
"""Verbs whose examples fill the store."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=100, help="random calls of each operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verb", action="append", default=[], help="only this verb; may be repeated")
    parser.add_argument("--model", default="hash", help="the embedding model")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="lore-api-") as folder,
        _serving(Path(folder), options.model) as (url, token),
    ):
        for verb in FIRST:
            httpx2.post(f"{url}{PREFIX}/{verb}", json=EXAMPLES[verb], headers=token).raise_for_status()
        command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run"]
        command += [f"{url}{PREFIX}/openapi.json", "--checks", ",".join(CHECKS)]
        command += ["--max-examples", str(options.examples), "--seed", str(options.seed)]
        command += [f"--header=Authorization: {token['Authorization']}"]
        command += ["--continue-on-failure", "--generation-database", "none", "--warnings", "off"]
        command += ["--request-timeout", "60", "--suppress-health-check", "all"]
        command += [f"--include-operation-id={verb}" for verb in options.verb]
        code = subprocess.run(command, cwd=folder, check=False).returncode
        alive = httpx2.get(f"{url}/readyz").json()
    print(f"the server afterwards: {alive}")
    sys.exit(code)


@contextmanager
def _serving(folder: Path, model: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a server on an empty store in this folder, and the header of an administrator."""
    headers = {"Authorization": f"Bearer {administrator(folder, model)}"}
    env = {name: value for name, value in os.environ.items() if not name.startswith("LORE_")}
    env |= {"LORE_EMBEDDING_MODEL": model, "LORE_DATA_DIR": str(folder), "LORE_RATE_LIMIT": "0"}
    command = [sys.executable, "-c", SERVER, "--port", "0"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            words = server.stdout.readline().split()
            yield next(word.strip(";") for word in words if word.startswith("http")), headers
        finally:
            server.terminate()


if __name__ == "__main__":
    main()

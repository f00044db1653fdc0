"""The code that OpenCode loads talks to `lore-hook` and survives whatever that prints."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lore.doors.client_files import plugin_folder

PROMPT = """
import { Lore } from "./lore.mjs"
const parts = [{ id: "1", type: "text", text: "hello" }]
const lore = await Lore({ directory: "." })
await lore["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts })
console.log(JSON.stringify(parts.slice(1).map((part) => part.text)))
"""
LONG = "€" * 100_000
ANSWER = json.dumps({"hookSpecificOutput": {"additionalContext": LONG}}, ensure_ascii=False)


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the code")
@pytest.mark.parametrize(
    ("printed", "added"),
    [(ANSWER, [LONG]), ("Traceback: no JSON", []), ("{}", []), ("", [])],
    ids=["a long text", "no JSON", "no text", "nothing"],
)
def test_a_prompt_gets_the_text_of_the_hook_whole_or_none(
    tmp_path: Path, printed: str, added: list[str]
) -> None:
    shutil.copy(plugin_folder() / "opencode" / "lore.js", tmp_path / "lore.mjs")
    (tmp_path / "prompt.mjs").write_text(PROMPT)
    (tmp_path / "answer").write_text(printed)
    hook = tmp_path / "lore-hook"
    hook.write_text(f"#!/bin/sh\nexec /bin/cat '{tmp_path}/answer'\n")
    hook.chmod(0o755)
    result = subprocess.run(
        [str(shutil.which("node")), "prompt.mjs"],
        cwd=tmp_path,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == added

"""envelope: a line as a JSON-RPC message, or the error that answers it."""

import json
import re
from typing import Any

from lore.doors.protocol import EXCERPT, LONGEST_LINE, Cut

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
DEEPEST = 100
"""Levels of lists and objects in one message, itself included."""
SHOWN = 40
"""Characters of a wrong value in a message."""

_ID = rb'(-?\d{1,19}|"[^"\\\x00-\x1f]{0,200}")'
_FIRST = re.compile(
    rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{1,200}"\s*,\s*){0,2}"id"\s*:\s*' + _ID + rb"\s*[,}]"
)
_LAST = re.compile(rb',\s*"id"\s*:\s*' + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


class Refused(Exception):
    """A line that is no message; `answer` is the line that says so. id: of its request, None if unknown."""

    def __init__(self, code: int, why: str, id: str | int | None = None) -> None:
        super().__init__(why)
        self.id = id
        error = {"code": code, "message": why}
        self.answer = json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode() + b"\n"


def refusal(line: Cut) -> bytes:
    """The answer to a line that is too long."""
    return _too_long(line).answer


def read(line: bytes) -> dict[str, Any]:
    """The message in a line. Refused where it is none, or a request that cannot be one.

    A notification or an answer is never answered, so a wrong one is left to the reader. Half of a surrogate
    pair, which JavaScript leaves of an emoji that it cuts, becomes U+FFFD: the rest of the text is kept.
    """
    if isinstance(line, Cut):
        raise _too_long(line)
    message = _parsed(line)
    if isinstance(message, list):
        raise Refused(INVALID_REQUEST, "batches are not supported; send one message a line")
    if not isinstance(message, dict):
        raise Refused(INVALID_REQUEST, f"a message is an object, not {_shown(message)}")
    is_notification = isinstance(message.get("method"), str) and "id" not in message
    is_answer = "method" not in message and ("result" in message or "error" in message)
    if not (is_notification or is_answer):
        _check(message)
    return message


def _parsed(line: bytes) -> Any:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        why = f"the line is not UTF-8: byte {error.start} is 0x{line[error.start]:02x}"
        raise Refused(PARSE_ERROR, why, _id_in(line)) from None
    except ValueError as error:
        raise Refused(PARSE_ERROR, f"the line is not JSON: {error}", _id_in(line)) from None
    except RecursionError:
        raise _too_deep(line) from None
    if line.count(b"[") + line.count(b"{") > DEEPEST and not _is_flat(value):
        raise _too_deep(line)
    return _well_formed(value) if b"\\ud" in line or b"\\uD" in line else value


def _check(message: dict[str, Any]) -> None:
    id, method, parameters = message.get("id"), message.get("method"), message.get("params")
    if type(id) not in (str, int):
        raise Refused(INVALID_REQUEST, f"the id of a request is a string or an integer, not {_shown(id)}")
    if message.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, f'jsonrpc is "2.0", not {_shown(message.get("jsonrpc"))}', id)
    if not isinstance(method, str):
        raise Refused(INVALID_REQUEST, f"the method of a request is a string, not {_shown(method)}", id)
    if parameters is not None and not isinstance(parameters, dict):
        raise Refused(INVALID_REQUEST, f"params is an object, not {_shown(parameters)}", id)


def _is_flat(value: Any) -> bool:
    """Whether nothing lies deeper than DEEPEST."""
    level = [value]
    for _ in range(DEEPEST + 1):
        inside = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)
        ]
        level = [one for values in inside for one in values]
        if not level:
            return True
    return False


def _well_formed(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value if whole == text else json.loads(whole)


def _too_long(line: Cut) -> Refused:
    return Refused(INVALID_REQUEST, f"a line has at most {LONGEST_LINE:,} bytes", _id_in(line))


def _too_deep(line: bytes) -> Refused:
    return Refused(PARSE_ERROR, f"the line is nested deeper than {DEEPEST} levels", _id_in(line))


def _id_in(line: bytes) -> str | int | None:
    """The id of a request that cannot be parsed, where it stands first or last, as clients write it."""
    found = _FIRST.match(line[:EXCERPT]) or _LAST.search(line[-EXCERPT:])
    try:
        return json.loads(found.group(1)) if found else None
    except ValueError:
        return None


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"

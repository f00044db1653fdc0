"""Names: values that their name calls a secret: `PASSWORD=…`, `"api_key": "…"`, `--token …`."""

import re
from dataclasses import dataclass

from lore.redact.tokens import Span, mixed

STEMS = ("pass", "pwd", "secret", "token", "key")
"""Parts of names, in small letters; all names of secrets hold one."""
WORD = (
    r"(?:pass(?:word|wd|phrase|code|wort)?|pwd|secret(?:[_-]?(?:access[_-]?)?(?:key|token)(?:[_-]?base)?)?"
    r"|token(?:[_-]?(?:secret|key))?|key(?:[_-]?id)?)"
    r"(?:[_-]?(?:prod|production|dev|test|staging|live|local|b64|base64|plain|value|string|[0-9]{1,2}))?"
    r"(?=[\s\"'`\])=:>\\,])"
)
NAME = re.compile(WORD)
CLOSED = r"\\{0,2}[\"'`]?[\])]?[ \t]{0,8}"
"""The end of a quoted name or an index."""
OPENED = r"[ \t]{0,8}"
ANNOTATION = r"(?:&?[a-z][\w.|\[\]<>]{0,30}[ \t]{0,4}=(?!=)[ \t]{0,4}(?=[\"']))?"
ASSIGNED = re.compile(rf"{CLOSED}(?::=|=>|=(?![=~])|:(?!:)){OPENED}{ANNOTATION}")
LISTED = re.compile(r"[\"'],[ \t]{0,4}(?=[\"'])")
ENTRY = re.compile(r"[\"']?,?\s{1,40}[\"']?value[\"']?[ \t]{0,4}[:=][ \t]{0,4}")
IS = re.compile(r"[ \t](?:is|was|=)[ \t:]{1,3}")
QUOTED_NEXT = re.compile(r"[ \t]{1,4}(?=['`])")
SPACE = re.compile(r"[ \t]{1,8}")
ELEMENT = re.compile(r">(?=[^<>\n]{1,300}</)")
QUOTED = {
    '\\"': re.compile(r"[^\"\\\n]{1,2000}+"),
    "\\'": re.compile(r"[^'\\\n]{1,2000}+"),
    '"': re.compile(r"(?:[^\"\\\n]|\\.){1,2000}+"),
    "'": re.compile(r"(?:[^'\\\n]|\\.){1,2000}+"),
    "`": re.compile(r"[^`\n]{1,2000}+"),
}
BARE = re.compile(r"[^\s\"'`;,&|<>(){}\[\]\\]{1,2000}+")
IN_SHELL = re.compile(r"[^\s\"'`;&|<>\\]{1,2000}+")
IN_NAMES = "abcdefghijklmnopqrstuvwxyz0123456789_-"

KEYS = tuple(
    "api access secret private account shared signing signature encryption master auth app application client"
    " service storage deploy session webhook consumer hmac jwt cookie admin subscription write license bot".split()
)
"""What a name must say before `key`, so that it is not any key."""
OTHER_KEYS = tuple(
    "public primary foreign sort partition cache idempotency registry row object group host hash dict search lookup".split()
)
OTHER_TOKENS = tuple(
    "page next continuation sync eos bos pad unk sep cls mask cursor special start stop end max min".split()
)
LONGEST_LEAD = 40
STOP = frozenset(
    """password passwd passphrase passcode pass pwd secret token key apikey string str text value none null nil
    undefined true false yes no on off required optional hidden empty default auto bytes number int integer bool
    boolean any object char varchar unset missing invalid wrong incorrect expired bearer basic digest username
    email user todo fixme test tbd na input output prompt env environment keychain keyring vault file stdin
    generated random unknown same new old current confirm confirmation""".split()
)
FILLERS = (
    "your", "example", "placeholder", "changeme", "change-me", "change_me", "replace", "insert", "redacted", "dummy",
    "xxx", "***", "...", "…", "<", "{{", "${", "$(", "%(", "#{", "todo", "not-a", "my-", "my_", "the-", "some-", "fake",
)  # fmt: skip
REFERENCE = re.compile(
    r"[$<{(\[%`…*]|\\?\$|:[a-z_]|!(?:ref|sub|vault|secret|getatt)\b|@(?:value|\{)"
    r"|(?:vault|env|file|ssm|sops|op|arn|secret|keychain|base64|data):|enc\[", re.IGNORECASE
)
EXPRESSION = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_]\w*!?)+;?")
NUMBERED = re.compile(r"[A-Za-z_]+[0-9]{0,2}")
CAMEL = re.compile(r"(?:[A-Z]?[a-z]{2,18}+){1,6}+[0-9]{0,4}")
PART = re.compile(r"[a-z]{1,18}[0-9]{0,3}|[A-Z]{1,18}[0-9]{0,3}|v?[0-9]{1,4}")
SEPARATORS = re.compile(r"[-_./:]")


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a name announces.

    personal: the name says password. quoted: it stands in quotes. shell: it is assigned as a shell does.
    """

    text: str
    personal: bool
    quoted: bool = False
    shell: bool = False


def find(text: str, small: str) -> list[Span]:
    """Values of all such names. small: the text in small letters, of the same length."""
    found: list[Span] = []
    for stem in STEMS:
        at = small.find(stem)
        while at >= 0:
            name = NAME.match(small, at)
            end = name.end() if name else at + len(stem)
            if name and (span := _value(text, small, name)):
                found.append(span)
                end = max(end, span[1])
            at = small.find(stem, end)
    return found


def _value(text: str, small: str, name: re.Match[str]) -> Span | None:
    at, end = name.span()
    lead = _lead(small, at)
    if not _is_name(name[0], lead, text[max(0, at - 1) : at + 1]):
        return None
    start = _start(small, at - len(lead), lead, end, personal := name[0].startswith(("pass", "pwd")))
    if start is None:
        return None
    shell = _in_shell(text, at - len(lead), end)
    found = _literal(text, start, shell)
    if found is None or text.startswith("[redacted", found[0]):
        return None
    first, last, quoted = found
    value = Value(text[first:last], personal, quoted, shell)
    if text[last : last + 1] in ("(", "[") and not quoted:
        return None
    return (first, last, _kind(name[0])) if is_secret(value, small[at - len(lead) : end]) else None


def _lead(small: str, at: int) -> str:
    """The part of a name before its stem: `db_` of `db_password`, and `api ` of `API key`."""
    before = small[max(0, at - LONGEST_LEAD) : at]
    apart = before[:-1] if before.endswith(" ") and small.startswith("key", at) else before
    lead = apart[len(apart.rstrip(IN_NAMES)) :]
    return lead + before[len(apart) :] if apart is before or lead in KEYS else ""


def _is_name(word: str, lead: str, seam: str) -> bool:
    """Whether the name is one of a secret. seam: the characters on both sides of the stem's beginning."""
    bare = lead.rstrip("_- ")
    if word.startswith(("keyid", "key_id", "key-id")):
        return bare.endswith("private")
    if word.startswith("key"):
        return bare.endswith(KEYS) or (seam == "_K" and not bare.endswith(OTHER_KEYS))
    if word == "pass":
        hump = seam[:1].islower() and seam[1:].isupper()
        return not bare or lead != bare or bare.endswith("require") or hump
    return not (word.startswith("token") and bare.endswith(OTHER_TOKENS))


def _kind(word: str) -> str:
    return "password" if word.startswith(("pass", "pwd")) else "secret"


def _start(small: str, begin: int, lead: str, end: int, personal: bool) -> int | None:
    """Where the value begins, if something says that there is one."""
    for pattern in (ASSIGNED, ENTRY, IS):
        if match := pattern.match(small, end):
            return match.end()
    if lead.startswith("--") or (personal and lead == "require"):
        match = SPACE.match(small, end)
    elif small.startswith("<", begin - 1):
        match = ELEMENT.match(small, end)
    elif personal and "login " in small[max(0, begin - 100) : begin]:
        match = SPACE.match(small, end)
    elif "define(" in small[max(0, begin - 12) : begin]:
        match = LISTED.match(small, end)
    else:
        match = None if small[begin:end] == "pass" else QUOTED_NEXT.match(small, end)
    return match.end() if match else None


def _in_shell(text: str, begin: int, end: int) -> bool:
    """Whether this is NAME=value, in capitals and without spaces."""
    return text[end : end + 1] == "=" and text[begin:end].isupper() and not text.startswith("-", begin)


def _literal(text: str, start: int, shell: bool) -> tuple[int, int, bool] | None:
    """Start and end of the value, and whether it is quoted."""
    for quote in (text[start : start + 2], text[start : start + 1]):
        if quote in QUOTED:
            match = QUOTED[quote].match(text, start + len(quote))
            return (*match.span(), True) if match else None
    match = (IN_SHELL if shell else BARE).match(text, start)
    if match is None:
        return None
    return start, start + len(match[0] if shell else match[0].rstrip(".,:;?")), False


def is_reference(value: str) -> bool:
    """Whether a value only stands for a secret: a variable, a template, a placeholder."""
    small = value.lower()
    return bool(
        REFERENCE.match(value)
        or small.strip("\"'") in STOP
        or any(filler in small for filler in FILLERS)
        or len(set(value)) < 3
    )


def is_secret(value: Value, name: str) -> bool:
    """Whether a value is the secret itself, and no reference to it, expression or label."""
    text = value.text.strip()
    if is_reference(text) or "://" in text or _plain(text) in _plain(name):
        return False
    if any(map(str.isspace, text)):
        return name.endswith("phrase") and len(text.split()) > 2
    if not value.quoted and not value.shell and _is_code(text):
        return False
    if value.personal:
        return _is_password(text, value)
    if text.startswith(("/", "./", "~/", "../")) and len(text) != 40:
        return False
    if value.shell and len(text) >= 6 and not is_slug(text):
        return True
    return len(text) >= 6 and any(map(str.isdigit, text)) and mixed(text) and not is_slug(text)


def _is_password(text: str, value: Value) -> bool:
    if value.quoted or value.shell:
        return len(text) >= 3
    digits = any(map(str.isdigit, text))
    return len(text) >= 5 and (digits or not text.replace("_", "").replace(".", "").isalnum())


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _is_code(text: str) -> bool:
    """Whether an unquoted value is a variable or a path to one."""
    if CAMEL.fullmatch(text):
        return sum(map(str.isupper, text)) > 0 and text[0].islower()
    return bool(EXPRESSION.fullmatch(text)) and not _is_opaque(text)


def _is_opaque(text: str) -> bool:
    return any(len(part) > 20 and mixed(part) for part in text.split("."))


def is_slug(text: str) -> bool:
    """Whether a value is made of words and small numbers, as names are."""
    return all(PART.fullmatch(part) or CAMEL.fullmatch(part) for part in SEPARATORS.split(text) if part)

"""Names: values that their name calls a secret: `PASSWORD=…`, `"api_key": "…"`, `--token …`."""

import re
from dataclasses import dataclass
from functools import lru_cache

from lore.patterns import regex
from lore.redact.tokens import Span, mixed
from lore.wordlists import word_lists

MARK = "[redacted: "
"""How the mark begins that stands for a secret."""
STEMS = ("pass", "pwd", "psk", "secret", "token", "key", "kennwort", "contrase", "senha")
"""Parts of names, in small letters; all names of secrets hold one."""
WORD = (
    r"(?:pass(?:word|wd|phrase|code|wort|e)?|pwd|psk|kennwort|contrase(?:ñ|n)a|senha"
    r"|secret(?:[._-]?(?:access[_-]?)?(?:key|token)(?:[_-]?base)?)?"
    r"|token(?:[_-]?(?:secret|key))?|key(?:[_-]?id)?)"
    r"(?:[_-]?(?:prod|production|dev|test|staging|live|local|b64|base64|plain|value|string|[0-9]{1,2}))?"
    r"(?=[\s\"'`\])=:>\\,]|[({][ \t]?[\"']|\}[ \t]{0,4}[:=?/|])"
)
NAME = regex(WORD)
CLOSED = r"\\{0,2}[\"'`]?[\])}]?[ \t]{0,8}"
"""The end of a quoted name or an index."""
OPENED = r"[ \t]{0,8}(?:[nbrul@]{1,2}(?=[\"'])|\[\[)?"
"""Before a value: a mark of its kind, as in N'…', b"…", @"…" and [[…]]."""
ANNOTATION = r"(?:&?[a-z][\w.|\[\]<>]{0,30}[ \t]{0,4}=(?!=)[ \t]{0,4}(?=[\"']))?"
EQUALS = r"(?:as[ \t]{1,4}\w{3,20}[ \t]{0,4}|\?\?|\|\||//|\?)?=(?![=~])"
ASSIGNED = regex(rf"{CLOSED}(?::=|=>|{EQUALS}|:(?!:)){OPENED}{ANNOTATION}")
LISTED = regex(r"[\"'],[ \t]{0,4}(?=[\"'])")
BESIDE = regex(
    r"\{(?=[\"'])|[\"']?[ \t]{1,4}(?=\")|(?P<call>\([ \t]?)(?=[\"'])"
    r"|(?P<cell>[ \t`*]{0,40}\|[ \t`]{1,4})(?=[^\s|]{10})"
    r"|(?P<far>[\"']?,[ \t]{0,4}(?=[\"'])|[ \t]{1,8}(?:[07][ \t]{1,4})?(?=[^\s\"'`;,&|<>(){}\[\]\\]{10}))"
)
"""Between a name and its value: `token{"…"}`, `:password "…"`, `setPassword("…")`, the cells of a table.

far: the same where other things often stand, too: in a list, behind a space.
"""
SETTERS = ("", "set", "with")
PASSED = ("pass", "passe", "passvalue", "passstring", "pass_value", "pass_string")
"""Names of calls that pass something on."""
ENTRY = regex(r"[\"']?,?\s{1,40}[\"']?value[\"']?[ \t]{0,4}[:=][ \t]{0,4}")
IS = regex(r"[ \t](?:is|was|ist|war|lautet|est|es|=)[ \t:]{1,3}")
QUOTED_NEXT = regex(r"[ \t]{1,4}(?=['`])")
SPACE = regex(r"[ \t]{1,8}")
ELEMENT = regex(r">(?=[^<>\n]{1,300}</)")
HEAD = 128
"""Characters of a value that tell whether it is a secret."""


@dataclass(frozen=True, slots=True)
class Literal:
    """How a value is written: its head, which is judged, and all the rest of it."""

    head: re.Pattern[str]
    rest: re.Pattern[str]
    quoted: bool = True


def _literal(character: str, quoted: bool = True) -> Literal:
    return Literal(regex(f"{character}{{1,{HEAD}}}+"), regex(f"{character}*+"), quoted)


QUOTED = {
    '\\"': _literal(r"[^\"\\\n]"),
    "\\'": _literal(r"[^'\\\n]"),
    '"': _literal(r"(?:[^\"\\\n]|\\.)"),
    "'": _literal(r"(?:[^'\\\n]|\\.)"),
    "`": _literal(r"[^`\n]"),
}
BARE = _literal(r"[^\s\"'`;,&|<>(){}\[\]\\]", quoted=False)
IN_SHELL = _literal(r"[^\s\"'`;&|<>\\]", quoted=False)
IN_NAMES = "abcdefghijklmnopqrstuvwxyz0123456789_-"

_LISTS = word_lists("lore.redact", "words.txt")
KEYS = tuple(sorted(_LISTS["keys"]))
"""What a name must say before `key`, so that it is not any key."""
OTHER_KEYS = tuple(sorted(_LISTS["other keys"]))
OTHER_TOKENS = tuple(sorted(_LISTS["other tokens"]))
OTHER_PASSES = tuple(sorted(_LISTS["other passes"]))
FOLDERS = ("PWD", "OLDPWD")
"""Variables of a shell that name its folder."""
COMPLAINTS = tuple(f"{word} " for word in sorted(_LISTS["complaints"]))
"""Words of a parser before a token that it did not expect."""
PASS_OPTIONS = ("-passin ", "-passout ")
"""Options whose value is `pass:` and a password."""
LONGEST_LEAD = 40
SHORTEST_SECRET = 6
SHORTEST_FAR = 10
PAIR_ENDS = ("", " ", "\n", ";", "&")
STOP = _LISTS["no secrets"]
"""Values that are no secrets."""
FILLERS = tuple(
    """your example placeholder changeme change-me change_me replace insert redacted dummy xxx ... … < {{ ${
    $( %( #{ todo not-a my- my_ the- some- fake""".split()
)
"""Parts of placeholders."""
REFERENCE = regex(
    r"[$<{(\[`…]|\\?\$|%(?:[sdv]\b|\(|[a-z_]+%)|\*(?:\*|[a-z_]+\Z)|:[a-z_]|!(?:ref|sub|vault|secret|getatt)\b"
    r"|@(?:value|\{)|(?:vault|env|file|ssm|sops|op|arn|secret|keychain|base64|data):|enc\[|env\("
    r"|(?:sb_publishable|pk_(?:live|test))_|[0-9]\*[a-z]",
    re.IGNORECASE,
)
EXPRESSION = regex(r"[@*&]?[A-Za-z_]\w{0,128}+(?:!?+(?:\.|->|::|\?\.)[A-Za-z_]\w{0,128}+)++!?+;?")
NUMBERED = regex(r"[A-Za-z_]+[0-9]{0,2}")
CAMEL = regex(r"[A-Z]?[a-z]{2,18}+(?:[A-Z][a-z]{2,18}+|Id|Db|Ok|Is|In|On|To|By|Or|No|My|Up){0,6}[0-9]{0,4}")
"""camelCase, as variables have it."""
PART = regex(r"[a-z]{1,18}[0-9]{0,3}|[A-Z]{1,18}[0-9]{0,3}|v?[0-9]{1,4}")
SEPARATORS = regex(r"[-_./:]")
NUMBER = regex(r"0[xX][0-9a-fA-F]{1,16}|#[0-9a-fA-F]{3,8}")
"""A number or a colour."""
OF_A_TYPE = regex(
    r"[*&@]?[A-Za-z_][\w.]*(?:PrivateKey|PublicKey|SecretKey|Secret|Token|Password|Credential)\w*"
)
"""A variable or a class that is called after what it holds: `testEd25519PrivateKey`."""
EXCLAIMED = regex(r"[A-Za-z]+[!?]+")
ESCAPE = regex(r"\\[0-9ex]")
JOINED = ("+", ".", ",", ";", ")")
"""What follows a quote that ends a text."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a name announces.

    personal: the name says password. quoted: it stands in quotes. shell: it is assigned as a shell does.
    settled: it stands where no variable can stand. beside, far: how little announces it. word: the name is
    the word `pass` alone.
    """

    text: str
    personal: bool
    quoted: bool = False
    shell: bool = False
    settled: bool = False
    beside: bool = False
    far: bool = False
    word: bool = False


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
    begin, personal, word = at - len(lead), _kind(name[0]) == "password", lead + name[0] == "pass"
    if not _is_name(name[0], lead, text[max(0, at - 1) : at + 1]) or _in_mark(text, at):
        return None
    if text[begin:end] in FOLDERS or (not personal and small.endswith(COMPLAINTS, 0, begin)):
        return None
    start = _assigned(small, end) or _announced(small, begin, lead, end, personal)
    beside = None if start else _beside(small, begin, lead, name)
    if not start and not beside:
        return None
    start = start or beside.end()  # type: ignore[union-attr]
    shell = _in_shell(text, begin, end)
    first, form = _form(text, start, shell)
    if word and not _is_assigned_pass(text, begin, end, first):
        return None
    head = form.head.match(text, first)
    if head is None or text.startswith(MARK, first):
        return None
    last = head.end() if shell or form.quoted else first + len(head[0].rstrip(".,:;?"))
    following = text[last : last + 1]
    if following in ("(", "[") and not form.quoted:
        return None
    if form.quoted and head[0].startswith(JOINED) and following in ("", "\n"):
        return None
    settled = (small[end:start] == "=" and following in PAIR_ENDS) or not ASSIGNED.match(small, end)
    far = bool(beside and beside["far"])
    value = Value(text[first:last], personal, form.quoted, shell, settled, bool(beside), far, word)
    if not is_secret(value, small[begin:end]):
        return None
    rest = form.rest.match(text, head.end()) if len(head[0]) == HEAD else None
    return first, rest.end() if rest else last, _kind(name[0])


def named_secret(name: str, value: str) -> str:
    """The kind of a secret that a name announces in a mapping; empty if the value is none."""
    kind, small = _kind_named(name), name.lower()
    if not kind or value.startswith(MARK):
        return ""
    literal = Value(value[:HEAD], kind == "password", quoted=True, word=small == "pass")
    return kind if is_secret(literal, small) else ""


@lru_cache(maxsize=1_000)
def _kind_named(name: str) -> str:
    """The kind of secret that a name ends with, or nothing."""
    small = "" if name in FOLDERS else name.lower()
    for stem in STEMS:
        at = small.rfind(stem)
        word = NAME.match(small + "=", at) if at >= 0 else None
        if word and word.end() == len(name) and _is_name(word[0], small[:at], name[max(0, at - 1) : at + 1]):
            return _kind(word[0])
    return ""


def _in_mark(text: str, at: int) -> bool:
    """Whether this is inside the mark of a secret that was redacted before."""
    begin = text.rfind(MARK, max(0, at - LONGEST_LEAD), at)
    return begin >= 0 and text.find("]", begin, at) < 0


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
        apart = lead != bare or bare.endswith(("require", "store")) or hump
        return not bare or (apart and not bare.endswith(OTHER_PASSES))
    return not (word.startswith("token") and bare.endswith(OTHER_TOKENS))


def _is_assigned_pass(text: str, begin: int, end: int, first: int) -> bool:
    """Whether the word `pass` names a password: tests and people say it of much else.

    It does behind an option that takes one, before an equals sign, and in small letters before a quoted value
    or as the key of a line: `pass: "…"`, but neither `--- PASS: TestName` nor `they pass: …`.
    """
    if text.endswith(PASS_OPTIONS, 0, begin) or "=" in text[end:first]:
        return True
    if ":" not in text[end:first] or not text[begin:end].islower():
        return False
    line = text.rfind("\n", 0, begin) + 1
    return text[first - 1] in QUOTED or not text[line:begin].strip(" \t-+")


def _kind(word: str) -> str:
    return "secret" if word.startswith(("secret", "token", "key")) else "password"


def _assigned(small: str, end: int) -> int | None:
    """Where the value of an assignment begins, if this is one."""
    match = ASSIGNED.match(small, end) or ENTRY.match(small, end) or IS.match(small, end)
    return match.end() if match else None


def _announced(small: str, begin: int, lead: str, end: int, personal: bool) -> int | None:
    """Where a value begins that something else announces: an option, an element, a command."""
    if lead.startswith("-") or (personal and lead == "require"):
        pattern = SPACE
    elif small.startswith("<", begin - 1):
        pattern = ELEMENT
    elif personal and "login " in small[max(0, begin - 100) : begin]:
        pattern = SPACE
    elif "define(" in small[max(0, begin - 12) : begin]:
        pattern = LISTED
    else:
        pattern = QUOTED_NEXT
    match = None if small[begin:end] == "pass" else pattern.match(small, end)
    return match.end() if match else None


def _beside(small: str, begin: int, lead: str, name: re.Match[str]) -> re.Match[str] | None:
    """The place between a name and a value that stands beside it: as the argument of a setter, in a table."""
    match = BESIDE.match(small, name.end())
    if match is None:
        return None
    if match["call"] and (lead.rstrip("_-") not in SETTERS or name[0] in PASSED):
        return None
    before = small[max(0, begin - 8) : begin].rstrip(' \t`*"')
    return None if match["cell"] and not before.endswith("|") else match


def _in_shell(text: str, begin: int, end: int) -> bool:
    """Whether this is NAME=value, in capitals and without spaces."""
    return text[end : end + 1] == "=" and text[begin:end].isupper() and not text.startswith("-", begin)


def _form(text: str, start: int, shell: bool) -> tuple[int, Literal]:
    """Where the value itself begins, behind a quote if there is one, and how it is written."""
    for quote in (text[start : start + 2], text[start : start + 1]):
        if quote in QUOTED:
            return start + len(quote), QUOTED[quote]
    return start, IN_SHELL if shell else BARE


def is_reference(value: str) -> bool:
    """Whether a value only stands for a secret: a variable, a template, a placeholder."""
    small = value.lower()
    return bool(
        REFERENCE.match(value)
        or small.strip("\"'?") in STOP
        or any(filler in small for filler in FILLERS)
        or value.endswith("***")
        or len(set(value)) < 3
    )


def is_secret(value: Value, name: str) -> bool:
    """Whether a value is the secret itself, and no reference to it, expression or label."""
    text = value.text.strip()
    if is_reference(text) or "://" in text or _plain(text) in _plain(name):
        return False
    if any(map(str.isspace, text)):
        return name.endswith("phrase") and len(text.split()) > 2
    if not (value.quoted or value.shell) and (_is_code(text, value.settled) or EXCLAIMED.fullmatch(text)):
        return False
    if value.word and (text.isdigit() or ESCAPE.match(text)):
        return False
    if text.startswith(("/", "./", "../", "~/")) and is_slug(text.lstrip("~.")):
        return False
    if (value.beside or value.far) and not _is_strong(text, value.far):
        return False
    if value.personal:
        return _is_password(text, value)
    if len(text) < SHORTEST_SECRET or is_slug(text) or NUMBER.fullmatch(text):
        return False
    if (not (value.quoted or value.shell) and OF_A_TYPE.fullmatch(text)) or (value.far and "@" in text):
        return False
    return value.shell or (any(map(str.isdigit, text)) and any(map(str.isalpha, text)))


def _is_password(text: str, value: Value) -> bool:
    if value.quoted or value.shell:
        return len(text) >= 3
    digits = any(map(str.isdigit, text))
    return len(text) >= 5 and (digits or not text.replace("_", "").replace(".", "").isalnum())


def _is_strong(text: str, far: bool) -> bool:
    """Whether a value is hardly anything but a secret, so that little has to announce it."""
    if far and (len(text) < SHORTEST_FAR or is_slug(text) or not mixed(text)):
        return False
    return len(text) >= SHORTEST_SECRET and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _is_code(text: str, settled: bool) -> bool:
    """Whether an unquoted value is a variable or a path to one."""
    if CAMEL.fullmatch(text):
        return not settled and text[0].islower() and any(map(str.isupper, text))
    return bool(EXPRESSION.fullmatch(text)) and not _is_opaque(text)


def _is_opaque(text: str) -> bool:
    return any(len(part) > 20 and mixed(part) for part in text.split("."))


def is_slug(text: str) -> bool:
    """Whether a value is made of words and small numbers, as names are."""
    return all(PART.fullmatch(part) or CAMEL.fullmatch(part) for part in SEPARATORS.split(text) if part)

"""risks: what nobody but the user may ask of an agent, in many languages.

Commands and flags are patterns. Everything else is a set of word classes that meet in one sentence: a verb
that switches off and a certificate, say, in whatever order the language has. Words that forbid the act before
it in its clause make it harmless: "never push with --no-verify".
"""

import re
from collections.abc import Iterator
from functools import cache

from lore.patterns import regex
from lore.wordlists import word_lists

_SHELL = (
    r"(?:(?:sudo|env|doas) (?:-\w+ )?)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k|fi|c)?sh|python[\d.]*|perl"
    r"|ruby|node|php|pwsh|powershell|iex|source)\b"
)
_FETCH = r"\b(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod|http|aria2c|lynx)\b"
_PIPE = regex(
    rf"{_FETCH}[^\n|]{{1,200}}\| ?(?:base64 [^\n|]{{1,20}}\| ?|gunzip[^\n|]{{0,20}}\| ?|tee [^\n"
    rf"|]{{1,40}}\| ?)?{_SHELL}"
    rf"|{_SHELL}[^\n]{{0,20}}?(?:<\(|\$\(|`) ?{_FETCH}|\b(?:eval|source|iex|\.) ?[\"']?(?:<?\$?\("
    rf"|`) ?{_FETCH}"
    rf"|\bbase64 (?:-d|--decode|-D)\b[^\n|]{{0,80}}\| ?{_SHELL}|\bxxd -r[^\n|]{{0,40}}\| ?{_SHELL}"
    rf"|{_FETCH}[^\n]{{1,200}}?(?:&&|;| and then | then )[^\n]{{0,40}}?(?:chmod \+?[\w]+"
    rf"|{_SHELL} (?:\./|/tmp|\S+\.(?:sh|py|ps1)))"
    r"|downloadstring\(|\b(?:npx|bunx|pnpm dlx|uvx|deno run|pipx run)[^\n]{0,40}? (?:https?://|git\+)",
    re.IGNORECASE,
)
_PROSE_PIPE = regex(
    r"\b(?:pipe|piping|piped|pipen|canaliza|redirige|entube)\b[^.\n]{0,80}\b(?:in(?:to)?|to|an|a"
    r"|vers|dans|в|al?)"
    r" (?:the |die |eine |la |le |un )?(?:shell|bash|sh|zsh|python|interpreter|terminal)\b",
    re.IGNORECASE,
)
_OWN_HOST = (
    r"(?:localhost|127\.|10\.|192\.168\.|\[::1\]|[\w.-]{1,80}\.(?:internal|local|lan|corp|intranet"
    r"|localhost)\b"
    r"|(?:[\w-]{1,40}\.)?(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|yarnpkg\.com|pkg\.github\.com"
    r"|golang\.org|rubygems\.org|crates\.io|maven\.org|apache\.org|debian\.org|ubuntu\.com|docker\.(?:io|com)"
    r"|github\.com|gitlab\.com|ghcr\.io|quay\.io|pytorch\.org|nuget\.org|packagist\.org|conda\.io"
    r"|anaconda\.org)\b)"
)
_FOREIGN = rf"(?:https?|ftp|git|sparse)(?:\+\w{{1,8}})?://(?:[^\s@/]{{1,40}}@)?(?!{_OWN_HOST})[\w\[]"
_REGISTRY = regex(
    rf"(?:--?(?:extra-)?index-url|--registry|--find-links|--source|--index|--default-index|-i"
    rf"|-f)[ =]['\"]?{_FOREIGN}"
    rf"|\b(?:\w{{0,10}}_?index_url|npm_config_registry|goproxy|registry|npmregistryserver|index-url"
    rf"|mirror)['\"]?"
    rf" ?(?:=|:|to| )? ?['\"]?{_FOREIGN}"
    rf"|\b(?:config set|config) [^\n]{{0,40}}(?:registry|index-url|npmregistryserver"
    rf"|proxy)[ =]['\"]?{_FOREIGN}"
    rf"|\b(?:pip3?|uv pip|uv|npm|pnpm|yarn|gem|cargo|go|bun|poetry) (?:install|i|add"
    rf"|get)\b[^\n]{{0,60}}?{_FOREIGN}"
    rf"|\bgem sources[^\n]{{0,20}}{_FOREIGN}|\bdeb \[?[^\n]{{0,40}}trusted=yes",
    re.IGNORECASE,
)
_UNVERIFIED = regex(
    r"\bcurl\b[^\n]{0,80}? (?:-\w{0,5}k\w{0,5}|--insecure)\b|(?<!\w)--(?:no-verify"
    r"|no-check-certificate|insecure(?:-skip-tls-verify)?"
    r"|no-gpg-sign|nogpgcheck|no-gpg-checks?|allow-unauthenticated|trusted-host|skip-verify|no-sign"
    r"|no-signature\S{0,10}"
    r"|tls-verify=false|skip-tls\S{0,10}|ignore-certificate-errors|disable-web-security"
    r"|no-verify-ssl|no-hooks"
    r"|skip-hooks|force-yes|skip-checksum\S{0,5}|ignore-checksums?|no-audit|allow-untrusted)\b"
    r"|\bverify(?:_ssl|_certs?)? ?[=:] ?false\b|\bssl_?verify['\"]?[ =:]{1,3}(?:false|0|off)\b"
    r"|\bnode_tls_reject_unauthorized\b|\bpythonhttpsverify ?= ?0|\bgit_ssl_no_verify\b"
    r"|\bstrict[-_]ssl[ =:]{1,3}false"
    r"|\bstricthostkeychecking[ =]{1,3}no\b|\bhookspath[ =]{1,3}\S{0,3}/dev/null"
    r"|\bhusky(?:_skip_hooks)? ?= ?[01]\b"
    r"|\bgpgsign[ =]{1,3}false|\bgpgcheck ?= ?0|\binsecureskipverify\b"
    r"|\brejectunauthorized\b['\"]?[ :=]{1,3}false"
    r"|\bgo(?:insecure|nosumdb|nosumcheck) ?=|\bgosumdb ?= ?off|\bgonosumcheck\b"
    r"|_create_unverified_context|\bcert_none\b"
    r"|\bdanger_accept_invalid_certs\b|\bsetenforce 0\b|\bexecutionpolicy (?:bypass|unrestricted)\b"
    r"|\bcom\.apple\.quarantine\b|\bufw disable\b|\bspctl --master-disable\b"
    r"|\bset ssl:verify-certificate no\b",
    re.IGNORECASE,
)
_PERMISSIONS = regex(
    r"(?<!\w)--(?:dangerously-\S{1,50}|yolo|full-auto|allow-all-tools|trust-all-tools|auto-approve"
    r"|no-sandbox|privileged)\b"
    r"|\bbypasspermissions\b|\bdisableallhooks\b|\byolo mode\b|\bnopasswd\b|\bchmod (?:-\w )?[0-7]?777\b"
    r"|\bauthorized_keys\b|/dev/tcp/|\bnc (?:-\w{1,9} ){0,4}-\w{0,9}e\b"
    r"|\brm -[a-z]{0,8}[rf][a-z]{0,8} (?:-\S{1,20} )?(?:/(?:\s|\*|$)|~|\$home)"
    r"|\bcap_add\b[^\n]{0,20}\ball\b|\bapproval_policy\W{1,5}never\b|\bsandbox_mode\W{1,5}danger"
    r"|\b(?:permissions?|allow)\W{1,5}\[?\W{0,3}bash\(\*?\)?",
    re.IGNORECASE,
)
_SENT = regex(
    rf"\b(?:curl|wget|http|invoke-webrequest)\b(?![^\n]{{0,120}}{_OWN_HOST})[^\n]{{0,200}}?"
    r"(?: -d| --data\S{0,20}| -F| --form| -T| --upload-file| --post-file)[ =]?['\"]?[^\n]{0,20}?[@$`<]"
    rf"|\| ?(?:nc|ncat|socat)\b|\b(?:dig|nslookup|host|ping)\b[^\n]{{0,20}}\$[({{]"
    rf"|\bgit push\b[^\n]{{0,30}} {_FOREIGN}|\bgit remote (?:add|set-url)\b[^\n]{{0,30}} {_FOREIGN}"
    rf"|\b(?:scp|rsync)\b[^\n]{{0,80}}(?:\.ssh|\.env|\.aws|id_rsa)"
    rf"|{_FOREIGN}[^\s]{{0,80}}[?&]\w{{1,20}}=(?:\$|<|\{{)",
    re.IGNORECASE,
)
_COMMANDS = {
    "a download that is run at once": (_PIPE, _PROSE_PIPE),
    "packages from a foreign source": (_REGISTRY,),
    "verification that is switched off": (_UNVERIFIED,),
    "permissions that are skipped": (_PERMISSIONS,),
    "data that is sent away": (_SENT,),
}
_SENTENCES: dict[str, tuple[tuple[str, ...], ...]] = {
    "packages from a foreign source": (("registry", "act", "address"),),
    "verification that is switched off": (("off", "verification"), ("unchecked", "verification")),
    "permissions that are skipped": (("unasked", "act"),),
    "data that is sent away": (
        ("send", "secret", "address"),
        ("send", "secret", "outside"),
        ("send", "data", "address"),
        ("send", "data", "outside"),
    ),
    "a condition that waits for the user": (
        ("when", "user", "says", "act"),
        ("when", "user", "says", "send"),
    ),
}
_HARMLESS = {"permissions that are skipped": "mild", "data that is sent away": "header"}
"""A class of words that makes a sentence harmless."""
_PLANTED: dict[str, tuple[tuple[str, ...], ...]] = {
    "an attempt to replace the agent's instructions": (("dismiss", "instructions", "previous"),),
    "an order to keep something from the user": (
        ("untold", "user"),
        ("secretly", "act"),
        ("secretly", "send"),
    ),
    "an order to the agent that reads it": (("model", "must"),),
}
_END = regex(r"(?<=[.!?;])\s+|[。！？；\n]+")
_CLAUSE = regex(r"[,:;()、，：–—]")
_WIDE = regex("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ADDRESS = regex(
    rf"{_FOREIGN}|\b[\w.+-]{{1,64}}@[\w-]{{1,60}}\.\w|\b(?!{_OWN_HOST})[\w-]{{1,60}}\.(?:com|net|org"
    rf"|io|dev|co|ru|cn|xyz|site|top|info|app|sh|example|test|invalid)\b"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}\b|s3://|ftp://",
    re.IGNORECASE,
)
AFTER = 40
"""Characters behind an act in which it may be forbidden."""


def risks(text: str) -> Iterator[str]:
    """What a text asks for that only the user may, each once. text: plain, lower case, single spaces."""
    for name in {**_COMMANDS, **_SENTENCES}:
        asked = any(
            not _is_forbidden(text, found.start(), found.end())
            for pattern in _COMMANDS.get(name, ())
            for found in pattern.finditer(text)
        )
        if asked or _said(text, _SENTENCES.get(name, ()), _HARMLESS.get(name, "")):
            yield name


def orders(text: str) -> Iterator[str]:
    """What a planted text says in words of other languages than English, each once."""
    for name, sets in _PLANTED.items():
        if _said(text, sets):
            yield name


def rules() -> str:
    """All patterns and words."""
    patterns = [one.pattern for several in _COMMANDS.values() for one in several]
    words = sorted(f"{name}:{word}" for name, found in _lists().items() for word in found)
    return "\n".join([*patterns, _ADDRESS.pattern, *words, str((_SENTENCES, _PLANTED, _HARMLESS))])


def _said(text: str, sets: tuple[tuple[str, ...], ...], harmless: str = "") -> bool:
    """Whether a sentence has words of all classes of a set, and nothing that forbids it."""
    for sentence in _END.split(text):
        for names in sets:
            places = [_class(name).search(sentence) for name in names]
            found = [place for place in places if place]
            if len(found) < len(names) or (harmless and _class(harmless).search(sentence)):
                continue
            act = found[0]
            if not _is_forbidden(sentence, act.start(), act.end()):
                return True
    return False


def _is_forbidden(text: str, start: int, end: int) -> bool:
    """Whether words that forbid stand before this place in its clause, or right behind it."""
    before = _END.split(_CLAUSE.split(text[max(0, start - 80) : start])[-1])[-1]
    words = list(_class("forbid").finditer(before))
    if words and not _class("forget").match(before[words[-1].end() :].lstrip()):
        return True
    behind = _END.split(_CLAUSE.split(text[end : end + AFTER])[0])[0]
    return bool(_class("forbidden").search(behind))


def _lists() -> dict[str, frozenset[str]]:
    return dict(word_lists("lore.quarantine", "words.txt"))


@cache
def _class(name: str) -> "re.Pattern[str]":
    """Finds a word of a class."""
    if name == "address":
        return _ADDRESS
    parts = sorted(_lists()[name], key=lambda word: (-len(word), word))
    wide = [re.escape(word) for word in parts if _WIDE.search(word)]
    spaced = [_spaced(word) for word in parts if not _WIDE.search(word)]
    return regex("|".join([*wide, rf"(?<!\w)(?:{'|'.join(spaced)})"]))


def _spaced(word: str) -> str:
    """A word of a script with spaces; a star stands for any ending, an apostrophe for both of its forms."""
    end = "" if word.endswith(("*", "'")) else r"(?!\w)"
    return re.escape(word.removesuffix("*")).replace("'", "['’]").replace(r"\*", r"\w{0,10}") + end

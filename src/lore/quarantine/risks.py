"""risks: what nobody but the user may ask of an agent, in many languages.

Commands and flags are patterns; `weight` weighs the words, and how many kinds of commands stand beside them.
Words that forbid a command before it in its clause make it harmless: "never push with --no-verify".
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from lore.patterns import regex
from lore.quarantine import deeds
from lore.quarantine.addresses import ADDRESS, FOREIGN, OWN_HOST
from lore.quarantine.classes import lists, words_of
from lore.quarantine.planted import CONCEAL, OVERRIDE
from lore.quarantine.weight import LIMIT, WEIGHTS, weight

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
    rf"|{_FETCH}(?:[^\n&;]|&(?!&)){{1,200}}(?:&&|;| and then | then )[^\n]{{0,40}}?(?:chmod \+?[\w]+"
    rf"|{_SHELL} (?:\./|/tmp|\S+\.(?:sh|py|ps1)))"
    rf"|\b(?:exec|eval|system|popen)\([^\n]{{0,120}}?(?:urlopen|requests\.get|fetch\(|{_FETCH})"
    r"|downloadstring\(|\b(?:npx|bunx|pnpm dlx|uvx|deno run|pipx run)[^\n]{0,40}? (?:https?://|git\+)",
    re.IGNORECASE,
)
_PROSE_PIPE = regex(
    r"\b(?:pipe|piping|piped|pipen|canaliza|redirige|entube)\b[^.\n]{0,80}\b(?:in(?:to)?|to|an|a"
    r"|vers|dans|в|al?)"
    r" (?:the |die |eine |la |le |un )?(?:shell|bash|sh|zsh|python|interpreter|terminal)\b",
    re.IGNORECASE,
)
_REGISTRY = regex(
    rf"(?:--?(?:extra-)?index-url|--registry|--find-links|--source|--index|--default-index|-i"
    rf"|-f)[ =]['\"]?{FOREIGN}"
    rf"|\b(?:\w{{0,10}}_?index_url|npm_config_registry|goproxy|registry|npmregistryserver|index-url"
    rf"|mirror)['\"]?"
    rf" ?(?:=|:|to| )? ?['\"]?{FOREIGN}"
    rf"|\b(?:config set|config) [^\n]{{0,40}}(?:registry|index-url|npmregistryserver"
    rf"|proxy)[ =]['\"]?{FOREIGN}"
    rf"|\b(?:pip3?|uv pip|uv|npm|pnpm|yarn|gem|cargo|go|bun|poetry) (?:install|i|add"
    rf"|get)\b[^\n]{{0,60}}?{FOREIGN}"
    rf""
    rf"|\b(?:add|install|use|pin)\b[^\n]{{0,80}}?\bgit\+(?=https?:){FOREIGN}"
    rf"|\bgem sources[^\n]{{0,20}}{FOREIGN}|\bdeb \[?[^\n]{{0,40}}trusted=yes",
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
    r"|\bset ssl:verify-certificate no\b|\bpush\b[^\n]{0,40} --force(?![\w-])",
    re.IGNORECASE,
)
_PERMISSIONS = regex(
    r"(?<!\w)--(?:dangerously-\S{1,50}|yolo|full-auto|allow-all-tools|trust-all-tools|auto-approve"
    r"|privileged)\b"
    r"|\bbypasspermissions\b|\bdisableallhooks\b|\byolo mode\b|\bnopasswd\b|\bchmod (?:-\w )?[0-7]?777\b"
    r"|\bauthorized_keys\b|/dev/tcp/|\bnc (?:-\w{1,9} ){0,4}-\w{0,9}e\b"
    r"|\brm -[a-z]{0,8}[rf][a-z]{0,8} (?:-\S{1,20} )?(?:/(?:\s|\*|$)|~|\$home)"
    r"|\bcap_add\b[^\n]{0,20}\ball\b|\bapproval[_ ]policy\W{1,5}(?:to )?\W{0,2}never\b|\bdanger-full-access\b"
    r"|-auto-approve\b"
    r"|\b(?:permissions?|allow)\W{1,5}\[?\W{0,3}bash\(\*?\)?",
    re.IGNORECASE,
)
_SENT = regex(
    rf"\b(?:curl|wget|http|invoke-webrequest)\b(?![^\n]{{0,120}}{OWN_HOST})[^\n]{{0,200}}?"
    r"(?: -d| --data\S{0,20}| -F| --form| -T| --upload-file| --post-file)[ =]?['\"]?[^\n]{0,20}?[@$`<]"
    rf"|\| ?(?:nc|ncat|socat)\b|\b(?:dig|nslookup|host|ping)\b[^\n]{{0,20}}\$[({{]"
    rf"|\bgit push\b[^\n]{{0,30}} {FOREIGN}|\bgit remote (?:add|set-url)\b[^\n]{{0,30}} (?:{FOREIGN}"
    rf"|\w{{1,20}}@(?!{OWN_HOST})\w)"
    rf"|\b(?:scp|rsync)\b[^\n]{{0,80}}(?:\.ssh|\.env|\.aws|id_rsa)"
    rf"|{FOREIGN}[^\s]{{0,80}}[?&]\w{{1,20}}=(?:\$|<|\{{)",
    re.IGNORECASE,
)
SENT = "data that is sent away"
ORDER = "an order that only the user may give"
_COMMANDS = {
    "a download that is run at once": (_PIPE, _PROSE_PIPE),
    "packages from a foreign source": (_REGISTRY,),
    "verification that is switched off": (_UNVERIFIED,),
    "permissions that are skipped": (_PERMISSIONS,),
    SENT: (_SENT,),
    "a way in that is left open": (deeds.OPEN,),
    "tests that are taken away": (deeds.UNTESTED,),
    CONCEAL: (deeds.MISNAMED, deeds.CLAIMED),
    OVERRIDE: (deeds.OUTRANKED, deeds.FOLLOWED, deeds.DECODED),
}
_PLANTED: dict[str, tuple[tuple[str, ...], ...]] = {
    OVERRIDE: (("dismiss", "instructions", "previous"),),
    CONCEAL: (
        ("untold", "user"),
        ("secretly", "act"),
        ("secretly", "send"),
    ),
    "an order to the agent that reads it": (("model", "must"),),
}
_END = regex(r"(?<=[.!?;])\s+|[。！？；\n]+")
_CLAUSE = regex(r"[,:;()、，：–—]")
_QUOTATION = regex(
    r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|„[^“”\n]{1,200}[“”]|«[^»\n]{1,200}»|「[^」\n]{1,200}」|`[^`\n]{1,200}`"
)
CACHED = 1_024
"""Classes and sentences whose answer is kept: forms of one text share most of them."""
AFTER = 40
"""Characters behind an act in which it may be forbidden."""


def risks(text: str) -> Iterator[str]:
    """What a text asks for that only the user may, each once. text: plain, lower case, single spaces."""
    commands = [name for name, patterns in _COMMANDS.items() if _commands(text, patterns)]
    if deeds.PRIVATE_FILE.search(text) and ADDRESS.search(text):
        commands.append(SENT)
    if weight(without_talk(text), len(commands)) >= LIMIT:
        yield from dict.fromkeys(commands or [ORDER])


def _commands(text: str, patterns: Iterable["re.Pattern[str]"]) -> bool:
    """Whether one of the patterns is there and nothing forbids it."""
    places = (found for pattern in patterns for found in pattern.finditer(text))
    return any(not _is_forbidden(text, found.start(), found.end()) for found in places)


def without_talk(text: str) -> str:
    """The text without the quotations in sentences about attacks, their tests and their filters."""
    talk = (one for one in _END.split(text) if words_of("about", one).search(one))
    for sentence in talk:
        text = text.replace(sentence, _QUOTATION.sub(" ", sentence))
    return text


def orders(text: str) -> Iterator[str]:
    """What a planted text says in words of other languages than English, each once."""
    for name, sets in _PLANTED.items():
        if _said(text, sets):
            yield name


def rules() -> str:
    """All patterns and words."""
    patterns = [one.pattern for several in _COMMANDS.values() for one in several]
    words = sorted(f"{name}:{word}" for name, found in lists().items() for word in found)
    return "\n".join([*patterns, ADDRESS.pattern, *words, str((_PLANTED, WEIGHTS, LIMIT))])


def _said(text: str, sets: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a sentence has words of all classes of a set, and nothing that forbids it."""
    return any(_meets(sentence, names) for sentence in _END.split(text) for names in sets)


def _meets(sentence: str, names: tuple[str, ...]) -> bool:
    if not all(_has(name, sentence) for name in names):
        return False
    act = words_of(names[0], sentence).search(sentence)
    return act is not None and not _is_forbidden(sentence, act.start(), act.end())


@lru_cache(maxsize=CACHED)
def _has(name: str, sentence: str) -> bool:
    return bool(words_of(name, sentence).search(sentence))


def _is_forbidden(text: str, start: int, end: int) -> bool:
    """Whether words that forbid stand before this place in its clause, or right behind it."""
    before = _END.split(_CLAUSE.split(text[max(0, start - 80) : start])[-1])[-1]
    words = list(words_of("forbid", before).finditer(before))
    if words and not words_of("forget", before).match(before[words[-1].end() :].lstrip()):
        return True
    behind = _END.split(_CLAUSE.split(text[end : end + AFTER])[0])[0]
    return bool(words_of("forbidden", behind).search(behind))

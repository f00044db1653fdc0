"""Tokens: secrets that their own form gives away, by the formats that the vendors publish.

A text holds a token only where one of its hints stands inside a long word; there the pattern is tried once.
Every pattern is linear: a literal, then runs of one class with fixed or possessive lengths.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from lore.patterns import regex

Span = tuple[int, int, str]
"""Start and end of a secret in the text, and its kind."""

SHORTEST_WORD = 20
"""Characters; every token is at least as long."""
SHORTEST_JUMBLE = 14
"""Changes between capitals, small letters and digits in 40 random characters: 24 on average, 8 in a name."""
DISTINCT = 18
"""Different characters among 40 random ones: 30 on average."""
WORDY = 24
"""Characters of 40 in runs of three small letters or more: 6 on average in random ones, 26 in a name."""


@dataclass(frozen=True, slots=True)
class Token:
    """The form of one kind of token.

    hints: literals, one of which every token holds. back: characters from the token's start to the hint.
    mixed: the token holds both digits and letters behind its first four characters, which names rarely do.
    apart: neither `-` nor `_` stands before it.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    back: tuple[int, ...] = (0,)
    mixed: bool = False
    apart: bool = False


def _token(kind: str, hints: str, pattern: str, back: tuple[int, ...] = (0,), **traits: bool) -> Token:
    """traits: `mixed` and `apart` of a token."""
    return Token(kind, tuple(hints.split()), regex(pattern), back, **traits)


END = r"(?![A-Za-z0-9])"
TOKENS = (
    _token("lore token", "lore_", r"lore_[0-9a-f]{12}_[\w-]{43}"),
    _token("aws key", "AKIA ASIA", rf"A[KS]IA[A-Z2-7]{{16}}{END}"),
    _token("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[opusr]_[A-Za-z0-9]{36,}+"),
    _token("github token", "github_pat_", r"github_pat_\w{50,}+"),
    _token("gitlab token", "glpat-", r"glpat-[\w-]{20,}+(?:\.[\w]{2}\.[\w]{9})?", mixed=True),
    _token(
        "gitlab token",
        "gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent- glffct- glwt-",
        r"gl(?:dt|rt|ptt|cbt|soat|ft|imt|agent|ffct|wt)-[\w-]{20,}+",
        mixed=True,
    ),
    _token(
        "slack token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xoxc- xoxd-",
        r"xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9%/+-]{10,}+",
        mixed=True,
    ),
    _token("slack token", "xapp-", r"xapp-\d-[A-Z0-9]{8,}+-\d+-[a-z0-9]{32,}+"),
    _token(
        "slack webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/T?[A-Za-z0-9]{6,}+/[A-Za-z0-9/]{10,}+",
    ),
    _token("anthropic key", "sk-ant-", r"sk-ant-[\w-]{20,}+"),
    _token(
        "openai key",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}+",
        mixed=True,
    ),
    _token("openrouter key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{64}"),
    _token("langfuse key", "sk-lf-", r"sk-lf-[0-9a-f]{8}-[0-9a-f-]{27}"),
    _token("openai key", "sk-", r"sk-[A-Za-z0-9]{32,}+(?![_-][a-z])", mixed=True),
    _token("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    _token("stripe key", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}+"),
    _token("google key", "AIza", rf"AIza[\w-]{{35}}{END}"),
    _token("google secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    _token("google token", "ya29.", r"ya29\.[\w.-]{20,}+"),
    _token("google token", "1//0", r"1//0[\w-]{40,}+"),
    _token("npm token", "npm_", rf"npm_[A-Za-z0-9]{{36}}{END}"),
    _token("pypi token", "pypi-", r"pypi-[\w-]{50,}+", mixed=True),
    _token("hugging face token", "hf_ api_org_", rf"(?:hf|api_org)_[A-Za-z0-9]{{30,40}}{END}(?!_)"),
    _token("docker token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{27,}+"),
    _token("rubygems token", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _token("crates.io token", "cio", rf"cio[A-Za-z0-9]{{32}}{END}", mixed=True),
    _token("nuget key", "oy2", rf"oy2[a-z0-9]{{43}}{END}", mixed=True),
    _token("sendgrid key", "SG.", r"SG\.[\w-]{16,32}+\.[\w-]{16,64}+"),
    _token("twilio key", "SK", rf"SK[0-9a-f]{{32}}{END}"),
    _token("mailgun key", "key-", rf"key-[0-9a-f]{{32}}{END}", apart=True),
    _token("mailchimp key", "-us", rf"[0-9a-f]{{32}}-us\d{{1,2}}{END}", (32,)),
    _token("brevo key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _token("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _token("heroku key", "HRKU-", r"HRKU-[\w-]{36,}+"),
    _token("netlify token", "nfp_ nfc_ nfo_ nfu_", r"nf[pcou]_[A-Za-z0-9]{36,}+", mixed=True),
    _token("fly token", "fo1_", r"fo1_[\w-]{43}"),
    _token("fly token", "fm1a_ fm1r_ fm2_", r"fm(?:1[ar]|2)_[A-Za-z0-9+/=,_]{60,}+"),
    _token("render key", "rnd_", rf"rnd_[A-Za-z0-9]{{32}}{END}(?!_)", mixed=True),
    _token("supabase token", "sbp_", r"sbp_(?:v0_)?[0-9a-f]{40}"),
    _token("supabase token", "sb_secret_", r"sb_secret_[\w-]{22,}+", mixed=True),
    _token("planetscale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,}+"),
    _token("databricks token", "dapi", rf"dapi[0-9a-f]{{32}}(?:-\d)?{END}"),
    _token("vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}+", mixed=True),
    _token("terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}+", (14,)),
    _token(
        "doppler token",
        "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.",
        r"dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    _token("pulumi token", "pul-", rf"pul-[0-9a-f]{{40}}{END}"),
    _token("1password token", "ops_eyJ", r"ops_eyJ[\w=-]{100,}+"),
    _token(
        "1password key", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"
    ),
    _token("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _token("grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _token("grafana token", "glc_eyJ", r"glc_eyJ[A-Za-z0-9+/=]{32,}+"),
    _token("new relic key", "NRAK- NRII- NRJS- NRRA-", r"NR(?:AK|II|JS|RA)-[A-Za-z0-9_-]{19,32}", mixed=True),
    _token("sentry token", "sntrys_", r"sntrys_[\w+/=-]{40,}+"),
    _token("sentry token", "sntryu_", r"sntryu_[0-9a-f]{64}"),
    _token("posthog key", "phx_", rf"phx_[A-Za-z0-9]{{40,56}}{END}(?!_)", mixed=True),
    _token("telegram token", ":AA", r"\d{8,10}:AA[\w-]{32,34}(?![\w-])", (10, 9, 8)),
    _token("discord webhook", "/api/webhooks/", r"/api/webhooks/\d{15,22}/[\w-]{40,}+"),
    _token(
        "teams webhook",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/webhookb2/[0-9a-fA-F@-]{9,}+/IncomingWebhook/[0-9a-fA-F]{32}/[0-9a-fA-F-]{8,}+",
    ),
    _token("shopify token", "shpat_ shpss_ shpca_ shppa_ shptka_", r"shp(?:at|ss|ca|pa|tka)_[0-9a-fA-F]{32}"),
    _token("square token", "sq0", r"sq0(?:atp|csp|idp)-[\w-]{22,43}"),
    _token("square token", "EAAA", r"EAAA[\w-]{60}(?![\w-])", mixed=True),
    _token("facebook token", "EAA", r"EAA[A-Za-z0-9]{100,}+", mixed=True),
    _token(
        "braintree token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    _token("linear key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}"),
    _token("notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,50}"),
    _token("notion token", "secret_", rf"secret_[A-Za-z0-9]{{43}}{END}(?!_)", mixed=True),
    _token("airtable token", "pat", rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{END}"),
    _token("atlassian token", "ATATT3 ATCTT3", r"AT[AC]TT3[\w=-]{60,}+"),
    _token("atlassian token", "ATBB", rf"ATBB[A-Za-z0-9]{{32}}{END}", mixed=True),
    _token("figma token", "figd_ figdr_", r"figdr?_[\w-]{38,}+", mixed=True),
    _token("dropbox token", "sl.", r"sl\.(?:u\.)?[\w-]{120,}+", mixed=True),
    _token("contentful token", "CFPAT-", r"CFPAT-[\w-]{43}"),
    _token("mapbox token", "sk.eyJ", r"sk\.eyJ[\w-]{20,}+\.[\w-]{20,}+"),
    _token("postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("groq key", "gsk_", rf"gsk_[A-Za-z0-9]{{48,56}}{END}(?!_)", mixed=True),
    _token("replicate token", "r8_", rf"r8_[A-Za-z0-9]{{37}}{END}", mixed=True),
    _token("perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,56}"),
    _token("xai key", "xai-", r"xai-[A-Za-z0-9_]{70,}+", mixed=True),
    _token("nvidia key", "nvapi-", r"nvapi-[\w-]{60,}+", mixed=True),
    _token("langsmith key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _token("tavily key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}+", mixed=True),
    _token("tailscale key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9]{6,}+(?:CNTRL)?-[A-Za-z0-9]{16,}+"),
    _token("json web token", "eyJ", r"eyJ[\w-]{8,1000}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+"),
    _token("firebase key", ":APA91b", r"[\w-]{11}:APA91b[\w-]{100,}+", (11,)),
    _token("jfrog token", "AKCp", r"AKCp[A-Za-z0-9]{68,}+", mixed=True),
    _token("sonar token", "squ_ sqp_ sqa_", rf"sq[upa]_[0-9a-f]{{40}}{END}"),
    _token("buildkite token", "bkua_", r"bkua_[0-9a-f]{40}"),
    _token("circleci token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    _token("azure secret", "8Q~ 7Q~ 9Q~", r"[\w~.-]{3}\dQ~[\w~.-]{31,34}", (3,)),
    _token("azure signature", "sig=", r"(?<=sig=)[A-Za-z0-9%+/]{43,}+=?", (-4,)),
    _token("alibaba key", "LTAI", rf"LTAI[A-Za-z0-9]{{12,24}}{END}", mixed=True),
    _token("wallet key", "xprv", r"xprv[1-9A-HJ-NP-Za-km-z0OIl]{107}"),
    _token(
        "aws session token", "IQoJb3JpZ2lu FwoGZXIvYXdz", r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/=]{40,}+"
    ),
)
DISCORD = regex(r"[MNO](?:(?<![\w.-][MNO])|(?<=\\[nrt][MNO]))[\w-]{22,27}+\.[\w-]{6}\.[\w-]{27,40}+")
AWS_SECRET = regex(r"(?:(?<![\w/+=.-])|(?<=\\[nrt]))[A-Za-z0-9/+]{40}(?![\w/+=-])")

_HASH_NAME = re.compile(
    r"(?:^|[^a-z])(?:h1|sha-?\d{1,3}|md5|blake\w{1,3}|digest|checksum|hash)[:=-][ \"']{0,2}$"
).search
"""The algorithm before a hash, which a diff may have cut to 40 characters."""
_BLOCK = re.compile(r"[A-Za-z0-9+/]{48}\r?\n[ \t/#*+-]{0,20}$").search
"""The line before the last one of a block in base64."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24}").fullmatch
BEHIND = 80
"""Characters before 40 random ones that tell whether they are a part of something else."""
BASE64_CHANGES = 6
"""Changes between capitals, small letters and digits in 24 characters of base64; paths have fewer."""


def _is_start(hint: str) -> bool:
    return len(hint) >= 3 and hint[0].isalnum()


BASE64 = ("sig=", "fm1a_", "fm1r_", "fm2_", "glc_eyJ", "sntrys_", "IQoJb3JpZ2lu", "FwoGZXIvYXdz")
"""Hints of tokens with `/`, `+` and `%` in them, which break the runs of the others."""
HINTED = tuple((hint, token) for token in TOKENS for hint in token.hints if hint not in BASE64)
IN_BASE64 = tuple((hint, token) for token in TOKENS for hint in token.hints if hint in BASE64)
INSIDE = tuple((hint, token) for hint, token in HINTED if token.back != (0,) or not _is_start(hint))
"""Hints that do not begin their tokens with three characters of their own."""
BY_START: dict[str, list[tuple[str, Token]]] = {}
for _hint, _named in HINTED:
    if (_hint, _named) not in INSIDE:
        BY_START.setdefault(_hint[:3], []).append((_hint, _named))
_STARTS = re.compile(r"(?<![A-Za-z0-9])(?=([A-Za-z0-9]\S\S))").findall
_ESCAPED = regex(r"\\[nrt]|%[0-9A-F]{2}")
_RUN = re.compile(r"[A-Za-z0-9_-]{16}").search
_RUNS = re.compile(r"[A-Za-z0-9_-]{16,}+").findall
LONG_RUN = 40
_RUN_IN_BASE64 = re.compile(r"[A-Za-z0-9/+%]{40}").search
_TELLING = re.compile(r"[0-9]|[a-z][A-Z]|[A-Z][a-z]|[A-Z]{16}").search
"""A run of every token has a digit, or letters of both cases side by side, or many capitals."""
ESCAPES = frozenset({"\\n", "\\t", "\\r"})
_WORDS = re.compile(r"[a-z]{3,}+").findall
_CHANGES = regex(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")


def find(text: str) -> list[Span]:
    """Tokens of all kinds."""
    long = [word for word in text.split() if len(word) >= SHORTEST_WORD]
    if not long:
        return []
    found: list[Span] = []
    words = " ".join(filter(_RUN, long))
    if any(map(_TELLING, _RUNS(words))):
        words = _unescaped(words)
        starts = BY_START.keys() & _STARTS(words)
        for hint, token in chain(INSIDE, *(BY_START[start] for start in starts)):
            if hint in words:
                found += _of(token, hint, text)
        if DISCORD.search(words):
            found += [(*match.span(), "discord token") for match in DISCORD.finditer(text) if mixed(match[0])]
    if runs := [word for word in long if len(word) >= LONG_RUN and _RUN_IN_BASE64(word)]:
        found += _in_base64(text, " ".join(runs))
    return found


def _in_base64(text: str, words: str) -> list[Span]:
    found = [span for hint, token in IN_BASE64 if hint in words for span in _of(token, hint, text)]
    if AWS_SECRET.search(words):
        matches = (match for match in AWS_SECRET.finditer(text) if jumbled(match[0]))
        found += [(*match.span(), "aws secret") for match in matches if not _is_part(text, match.start())]
    return found


def _is_part(text: str, start: int) -> bool:
    """Whether what begins here is a hash, or the end of a block of data."""
    before = text[max(0, start - BEHIND) : start]
    return bool(_HASH_NAME(before.lower()) or _BLOCK(before))


def _unescaped(words: str) -> str:
    """Words in which a token begins a word of its own, behind `\\n` or `%20`."""
    return _ESCAPED.sub(" ", words) if "\\" in words or "%" in words else words


def _of(token: Token, hint: str, text: str) -> Iterator[Span]:
    """Tokens of one form; no part of the text is tried twice."""
    at, end = text.find(hint), -1
    while at >= 0:
        match = _at(token, at, text, end)
        end = match.end() if match else end
        if match and (not token.mixed or mixed(match[0][4:])) and not match[0].endswith("EXAMPLE"):
            yield (*match.span(), token.kind)
        at = text.find(hint, match.end() if match else at + len(hint))


def _at(token: Token, at: int, text: str, end: int) -> re.Match[str] | None:
    """The token around a hint. end: of the token before, behind which another may begin at once."""
    for back in token.back:
        start = at - back
        begins = start == end or (start >= 0 and _begins(text, start, token.apart))
        if begins and (match := token.pattern.match(text, start)):
            return match
    return None


def _begins(text: str, start: int, apart: bool) -> bool:
    """Whether a token may start here: no letter or digit stands before it, but for the end of an escape."""
    if not text[start].isalnum():
        return True
    before = text[start - 1 : start]
    if (apart and before in ("-", "_")) or (before in ("/", "+") and _in_data(text[start - 24 : start])):
        return False
    return not before.isalnum() or text[start - 2 : start] in ESCAPES or text[start - 3 : start - 2] == "%"


def _in_data(before: str) -> bool:
    return bool(_BASE64(before)) and len(_CHANGES.findall(before)) > BASE64_CHANGES


def mixed(value: str) -> bool:
    """Whether a value holds a letter and a digit, or letters of both cases without being a camelCase name."""
    if any(map(str.isdigit, value)):
        return any(map(str.isalpha, value)) and len(_CHANGES.findall(value)) > len(value) // 12
    return len(_CHANGES.findall(value)) > len(value) // 4


def jumbled(value: str) -> bool:
    """Whether 40 characters are random: they change between capitals, small letters and digits all the time.

    Hashes have one case, names consist of words; text in base64 is text again when it is decoded.
    """
    if sum(map(len, _WORDS(value))) >= WORDY:
        return False
    if len(_CHANGES.findall(value)) < SHORTEST_JUMBLE or len(set(value)) < DISTINCT:
        return False
    if not (any(map(str.isdigit, value)) and any(map(str.isupper, value)) and any(map(str.islower, value))):
        return False
    return any(byte < 32 or byte > 126 for byte in b64decode(value))

"""The earlier catalogue of 16 rules, for comparison."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rule:
    """What a secret of one kind looks like. A group `value` leaves what stands before it.

    A text without any of the `signs`, or without any of the `hints` in small letters, has none of them: to
    look for a character is quick, and for a word quicker than for a pattern.
    """

    signs: tuple[str, ...]
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(signs: str, hints: str, *pattern: str) -> Rule:
    return Rule(tuple(signs), tuple(hints.split("|")), re.compile("".join(pattern), re.DOTALL))


RULES: Mapping[str, Rule] = {
    "private key": _rule(
        "-", "-----begin", r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    ),
    "aws key": _rule("A", "akia|asia", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "github token": _rule(
        "_",
        "gho_|ghp_|ghu_|ghs_|ghr_|github_pat_",
        r"\bgh[opusr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{50,}\b",
    ),
    "gitlab token": _rule("-", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    "slack token": _rule("-", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    "anthropic key": _rule("-", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    "openai key": _rule("-", "sk-", r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}"),
    "stripe key": _rule("_", "k_live_|k_test_", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    "google key": _rule("A", "aiza", r"\bAIza[A-Za-z0-9_-]{35}"),
    "npm token": _rule("_", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    "pypi token": _rule("-", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    "hugging face token": _rule("_", "hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
    "json web token": _rule(
        "J", "eyj", r"\beyJ[A-Za-z0-9_-]{8,1000}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    ),
    "password in an address": _rule("@", "://", r"://(?P<value>[^/\s:@]+:[^/\s@]+)(?=@)"),
    "bearer token": _rule(" ", "bearer |basic ", r"(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9._~+/-]{20,}=*"),
    "password": _rule(
        "=:",
        "password|passwd|pwd|secret|apikey|api_key|api-key|accesskey|access_key|access-key"
        "|authtoken|auth_token|auth-token",
        r"(?i:(?<![A-Za-z])(?:password|passwd|pwd|(?:client[_-]?)?secret|(?:api|access)[_-]?key|auth[_-]?token)",
        r"[\"']?\s*[=:]\s*)[\"']?(?P<value>[^\s\"',;}{$<(]{8,})",
    ),
}
MARK = "[redacted"


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its secrets, and how many of each kind there were: never which."""

    text: str
    found: Mapping[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Replace what looks like a secret; a second time changes nothing more."""
    found: dict[str, int] = {}
    small = _small(text)
    for kind, rule in RULES.items():
        if _holds(text, rule.signs) and _holds(small, rule.hints):
            text, count = _hidden(text, kind, rule.pattern)
            if count:
                found[kind] = count
    return Redacted(text, found)


def _small(text: str) -> str:
    """In small letters, where a letter that a pattern takes for another one is that one."""
    return text.lower() if text.isascii() else text.replace("İ", "i").replace("ı", "i").casefold()


def _holds(text: str, parts: tuple[str, ...]) -> bool:
    for part in parts:  # noqa: SIM110 (a generator costs more than the search)
        if part in text:
            return True
    return False


def _hidden(text: str, kind: str, rule: re.Pattern[str]) -> tuple[str, int]:
    count = 0

    def mark(match: re.Match[str]) -> str:
        nonlocal count
        value = match.groupdict().get("value") or match.group()
        if value.startswith(MARK):
            return match.group()
        count += 1
        return match.group().replace(value, f"{MARK}: {kind}]")

    return rule.sub(mark, text), count

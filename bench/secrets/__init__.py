"""A labelled set of secrets and harmless texts, generated from a fixed seed."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.secrets import harmless, named, tokens

AROUND = (
    "The harbour master wrote {} on the wall.",
    "{}",
    'client = Client("{}")',
    "  value: {}",
    "fetch(url, headers={{'x-key': '{}'}})",
    "2026-01-15 09:00:01 DEBUG sent {} to the server",
    '{{"text": "line one\\n{}\\nline three"}}',
    "I pasted it here: `{}`",
)
PER_TYPE, PER_TEMPLATE, PER_LINE = 24, 12, 28
SEED = 15


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, the secret in it (empty: harmless), its type or family, and whether rules were tuned on it."""

    text: str
    secret: str
    type: str
    named: bool = False
    held_out: bool = False


def positives() -> list[Sample]:
    """Texts with one secret each."""
    return list(dict.fromkeys([*_tokens(random.Random(SEED)), *_named(random.Random(SEED + 1))]))


def later(templates: Sequence[named.Template]) -> list[Sample]:
    """Named secrets of kinds that were written after the rules."""
    chance = random.Random(SEED + 3)
    secrets = [(template, maker(chance)) for template, maker in templates for _ in range(PER_TEMPLATE)]
    return [Sample(template.format(secret), secret, "later", named=True) for template, secret in secrets]


def negatives() -> list[Sample]:
    """Texts without any secret."""
    chance = random.Random(SEED + 2)
    texts = {
        line: family
        for family, templates in harmless.FAMILIES.items()
        for template in templates
        for line in (harmless.line_of(template, chance) for _ in range(PER_LINE))
    }
    return [Sample(line, "", family, held_out=family in harmless.HELD_OUT) for line, family in texts.items()]


def _tokens(chance: random.Random) -> Iterator[Sample]:
    for type, forms in tokens.TOKENS.items():
        for number in range(PER_TYPE):
            secret = tokens.token_of(forms[number % len(forms)], chance)
            text = AROUND[number % len(AROUND)].format(secret)
            yield Sample(text, secret, type, held_out=type in tokens.HELD_OUT)


def _named(chance: random.Random) -> Iterator[Sample]:
    for type, templates in named.NAMED.items():
        for template, maker in templates:
            for _ in range(PER_TEMPLATE):
                secret = maker(chance)
                text = template.format(secret)
                yield Sample(text, secret, type, named=True, held_out=type in named.HELD_OUT)

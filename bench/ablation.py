"""Ablation of rules: measure the contribution of each group of rules on data that it was not written for.

python -m bench.ablation [--facts DATASET_DIR] [--pools NAME ...] [--talk DATASET_DIR ...] [--groups TEXT]
                         [--json FILE]

Each group is switched off in turn and everything is measured again. The table shows the contribution of the
group in percentage points: the result with it minus the result without it. Nothing is stored or embedded.

Pairs of statements: the unseen ones of `bench.corrections` and the `check` half of statement_pairs.jsonl.
`first`: the newer statement of a contradicting pair comes before the older one, which has a better score.
`update`: it is a certain update. `beside`: neither happens to a compatible pair.
--facts (FactConsolidation): `stale` is the share of outdated facts that are found, `fresh` the share of
current facts that are not taken for outdated. --talk (PrefEval, LoCoMo): every item is read as a turn of a
user. `found`: the share of evidence turns that yield a statement. `useful`: the share of statements that come
from an evidence turn.
"""

import argparse
import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench import corrections, facts
from bench.measuring import Bar
from bench.retrieval.data import load
from lore.distil.base import Spoken
from lore.distil.cues import RULES, statements_of
from lore.ranking import claims
from lore.ranking.claims import forms
from lore.ranking.compare import Relation, compare
from lore.ranking.fresh import Dated, lifted

STATEMENT_PAIRS = Path(__file__).parents[1] / "tests" / "ranking" / "statement_pairs.jsonl"
NEVER = re.compile(r"(?!)")
"""Matches no text."""
Scores = dict[str, float]
Measure = Callable[[], Scores]


class Switch(NamedTuple):
    """The value of a module's attribute while a group is off."""

    module: str
    attribute: str
    value: Any


def _false(*_: Any) -> bool:
    return False


def _nothing(*_: Any) -> list[Any]:
    return []


def _other(*_: Any) -> Relation:
    return Relation.OTHER


def _unchanged(text: str) -> str:
    return text


def _switches(module: str, value: Any, *attributes: str) -> list[Switch]:
    return [Switch(f"lore.{module}", attribute, value) for attribute in attributes]


def _without_phrases(phrases: Sequence[Any]) -> list[Switch]:
    rest = tuple(phrase for phrase in forms.PHRASES if phrase not in phrases)
    return _switches("ranking.claims.forms", rest, "PHRASES")


STATEMENT, COMPARE, FRESH = "ranking.statement", "ranking.compare", "ranking.fresh"
CUES, OWN = "distil.cues", "distil.own"
GROUPS: Mapping[str, list[Switch]] = {
    "claims": _switches(COMPARE, _false, "contradicts") + _switches("ranking.claims", _nothing, "outdated"),
    "claims: the N of X is V": _switches("ranking.claims.forms", _nothing, "_described"),
    "claims: X lives in V": _without_phrases(forms.STATES_OF_AFFAIRS),
    "claims: X was founded by V": _without_phrases(forms.EVENTS),
    "claims: X plays the sport of V": _without_phrases(forms.APPOSITION),
    "compare: a part is over": _switches(COMPARE, _other, "_by_ending"),
    "compare: our N is A, we use B": _switches(COMPARE, _false, "_is_exchanged"),
    "compare: one value differs": _switches(COMPARE, _other, "_by_difference"),
    "compare: counted nouns": _switches(COMPARE, _false, "_is_counted", "_may_count"),
    "compare: contrary prepositions": _switches(COMPARE, _false, "_is_opposed"),
    "compare: several objects": _switches(COMPARE, _false, "_has_several"),
    "statement: opens as a correction": _switches(STATEMENT, NEVER, "_OPENING"),
    "statement: holds now": _switches(STATEMENT, NEVER, "_NOW"),
    "statement: same thing, other words": _switches(STATEMENT, (), "_REWORDED"),
    "statement: opposite states": [*_switches(STATEMENT, {}, "STATES"), *_switches(COMPARE, {}, "STATES")],
    "statement: verbs of change": [
        *_switches(STATEMENT, frozenset(), "CHANGING"),
        *_switches(FRESH, frozenset(), "CHANGING"),
    ],
    "statement: periods": _switches(STATEMENT, NEVER, "_PERIOD"),
    "statement: past": _switches(STATEMENT, NEVER, "_EVENT"),
    "fresh: only the value differs": _switches(FRESH, _false, "_same_but_for_value"),
    "fresh: tells of a change": _switches(FRESH, _false, "replaces"),
    "fresh: about a part": _switches(FRESH, _false, "_is_narrower"),
    "fresh: asks for a quantity": _switches(FRESH, NEVER, "_ASKS_QUANTITY"),
    **{
        f"distil: {rule.wording}": _switches(CUES, tuple(one for one in RULES if one != rule), "RULES")
        for rule in RULES
    },
    "distil: remember that": _switches(CUES, NEVER, "_ANNOUNCING"),
    "distil: certain": _switches(CUES, NEVER, "_UNSURE"),
    "distil: resolved": _switches(CUES, NEVER, "_UNRESOLVED"),
    "distil: names its subject": _switches(CUES, _false, "_names_too_little"),
    "distil: own words": [
        *_switches(OWN, NEVER, "_FOR_OTHERS", "_LABEL", "_MACHINE", "_BY_CLIENT"),
        *_switches(OWN, _false, "_in_quotes"),
        *_switches(OWN, _unchanged, "_ends", "_untagged"),
    ],
}
"""Groups of rules, each with the switches that turn it off."""


def main() -> None:
    options = _options()
    measures: list[Measure] = [measure_pairs]
    if options.facts:
        measures.append(partial(measure_facts, options.facts, options.pools))
    measures += [partial(measure_talk, folder) for folder in options.talk]
    chosen = [name for name in GROUPS if options.groups in name]
    whole = _measured(measures)
    table = {"all rules": whole}
    bar = Bar("groups", len(chosen))
    for number, name in enumerate(chosen, 1):
        with off(GROUPS[name]):
            without = _measured(measures)
        table[name] = {column: whole[column] - without[column] for column in whole}
        bar.at(number)
    if options.json:
        options.json.write_text(json.dumps(table, indent=2) + "\n")
    print(shown(table))


@contextmanager
def off(switches: Iterable[Switch]) -> Iterator[None]:
    """The rules without a group. What was computed with it before is forgotten."""
    before = [(importlib.import_module(switch.module), switch) for switch in switches]
    values = [getattr(module, switch.attribute) for module, switch in before]
    _clear_caches()
    for module, switch in before:
        setattr(module, switch.attribute, switch.value)
    try:
        yield
    finally:
        for (module, switch), value in zip(before, values, strict=True):
            setattr(module, switch.attribute, value)
        _clear_caches()


def _clear_caches() -> None:
    for name in (STATEMENT, COMPARE, FRESH):
        for value in vars(importlib.import_module(f"lore.{name}")).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def measure_pairs() -> Scores:
    unseen = [pair for pair in corrections.read() if pair.unseen]
    further = [json.loads(line) for line in STATEMENT_PAIRS.read_text().splitlines()]
    texts = [(pair.older, pair.newer, pair.contradicts) for pair in unseen]
    texts += [(one["older"], one["newer"], one["contradicts"]) for one in further if one["half"] == "check"]
    updates = [(compare(older, newer) is Relation.UPDATE, against) for older, newer, against in texts]
    raised = [(_is_raised(pair), pair.contradicts) for pair in unseen]
    return {
        "first": _share(found for found, against in raised if against),
        "update": _share(found for found, against in updates if against),
        "beside": _share(not found for found, against in [*updates, *raised] if not against),
    }


def _is_raised(pair: corrections.Pair) -> bool:
    older, newer = Dated("older", pair.older, 1.0, 1.0), Dated("newer", pair.newer, 2.0, 0.9)
    return "newer" in lifted(pair.question, [older, newer])


def measure_facts(folder: Path, pools: Sequence[str]) -> Scores:
    stale: list[bool] = []
    fresh: list[bool] = []
    for pool in facts.read(folder):
        if not pools or pool.name in pools:
            dated = [(id, text, float(at)) for at, (id, text) in enumerate(pool.facts)]
            outdated = {pair.older for pair in claims.outdated(dated)}
            stale += [id in outdated for question in pool.questions for id in question.stale]
            fresh += [id not in outdated for question in pool.questions for id in question.fresh]
    return {"stale": _share(stale), "fresh": _share(fresh)}


def measure_talk(folder: Path) -> Scores:
    evidence: dict[str, bool] = {}
    for group in load(folder):
        wanted = {id for question in group.questions for id in question.evidence}
        for item in group.items:
            evidence[item.text] = evidence.get(item.text, False) or item.id in wanted
    kept = {text: len(statements_of([Spoken(number=1, role="user", text=text)])) for text in evidence}
    return {
        f"{folder.name} found": _share(kept[text] > 0 for text, wanted in evidence.items() if wanted),
        f"{folder.name} useful": _share(evidence[text] for text, count in kept.items() for _ in range(count)),
    }


def shown(table: Mapping[str, Scores]) -> str:
    """The first row in per cent, the others in points."""
    columns = list(next(iter(table.values())))
    width = [max(8, len(column) + 2) for column in columns]
    rows = [f"{'':38}" + "".join(f"{column:>{size}}" for column, size in zip(columns, width, strict=True))]
    for name, scores in table.items():
        sign = "" if name == "all rules" else "+"
        figures = (f"{scores[column]:{sign}.1f}" for column in columns)
        rows.append(
            f"{name:38}" + "".join(f"{one:>{size}}" for one, size in zip(figures, width, strict=True))
        )
    return "\n".join(rows)


def _measured(measures: Iterable[Measure]) -> Scores:
    return {name: value for measure in measures for name, value in measure().items()}


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return 100 * sum(found) / max(1, len(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--facts", type=Path, help="FactConsolidation")
    parser.add_argument("--pools", nargs="*", default=[], help="only these pools of it")
    parser.add_argument("--talk", type=Path, nargs="*", default=[], help="sets with evidence by turn")
    parser.add_argument("--groups", default="", help="only groups with this text in their name")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""patterns: check that each regular expression of the source takes linear time on any text.

Every pattern of the package is tried with texts derived from it: each repetition in it is matched many times,
with and without the parts before it, with an end that fails. So is every pure function that takes texts. A
pattern is linear if four times the text costs about four times the processor time.

    python -m bench.patterns [--bytes 50000] [MODULE ...]
"""

import argparse
import ast
import importlib
import inspect
import math
import pkgutil
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, get_type_hints

import lore
from lore.distil import commands, entities, sentences
from lore.distil.base import Role
from lore.errors import LoreError
from lore.patterns import Uncompiled
from lore.ranking import statement
from lore.ranking.claims import grammar
from lore.transcripts import tool_calls

# parts of `re` that no stub describes
codes: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")

LENGTH = 50_000
STEP = 4
"""How many times longer the long text is than the short one."""
MOST_GROWTH = 10.0
"""Growth of the time over one STEP: 4 is linear, 16 quadratic."""
NEGLIGIBLE_SECONDS = 0.1
"""A text that takes less needs no second measurement: a quadratic pattern takes far longer."""
MEASUREMENTS = 3
"""A pattern counts as not linear if all of so many measurements say so: a busy machine distorts one."""
HARD_SECONDS = 1.0
"""Processor time after which one attempt is given up."""
FUNCTIONS = frozenset("compile search match fullmatch finditer findall sub subn split".split())
METHODS = {name: name if name in ("match", "fullmatch") else "finditer" for name in FUNCTIONS - {"compile"}}
_ANY_FULLMATCH = re.compile(r"\b(?!re\b)[a-z]\w*\.fullmatch\(")
ENDS = ("", "\0", "\n", "!", "§x")
"""Ends that few patterns accept."""


BOUNDED: dict[str, int] = {
    "lore.distil.commands": commands.LONGEST_READ,
    "lore.distil.cues": sentences.LONGEST,
    "lore.distil.entities": entities.LONGEST_TEXT,
    "lore.distil.phrases": sentences.LONGEST,
    "lore.distil.titles": sentences.LONGEST,
    **{f"lore.ranking.claims.{name}": grammar.LONGEST_LINE for name in ("forms", "grammar", "values")},
    "lore.ranking.statement": statement.LONGEST,
    "lore.transcripts.tool_calls:_NAME": tool_calls.NAME_LIMIT,
}
"""Modules whose patterns see only texts of so many characters."""


@dataclass(frozen=True)
class Found:
    """A pattern, its place in the source (`module:name` or `module:line`), and the methods that are used."""

    place: str
    pattern: "re.Pattern[Any]"
    methods: frozenset[str]

    def run(self, text: Any) -> None:
        """All methods that are used, on one text."""
        for method in self.methods:
            if method == "finditer":
                deque(self.pattern.finditer(text), maxlen=0)
            else:
                getattr(self.pattern, method)(text)

    @property
    def longest(self) -> int:
        """Characters of the texts that it may see."""
        limits = [limit for module, limit in BOUNDED.items() if self.place.startswith(module)]
        return min(limits, default=LENGTH)


@dataclass(frozen=True)
class Trial:
    """The worst text by its first characters, its seconds, and how many times those of a quarter of it."""

    seconds: float
    growth: float
    text: str

    @property
    def linear(self) -> bool:
        return self.seconds < NEGLIGIBLE_SECONDS or self.growth < MOST_GROWTH


# --- collecting
def modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(lore.__path__, "lore."):
        if not info.name.endswith("__main__") and "index." not in info.name:  # optional dependencies
            yield importlib.import_module(info.name)


def collected() -> list[Found]:
    """All patterns of the package, each once."""
    found: dict[tuple[Any, int], Found] = {}
    for module in modules():
        for place, pattern in [*_in_values(module), *_in_calls(module)]:
            key = pattern.pattern, pattern.flags
            if key not in found:
                found[key] = Found(place, pattern, _methods(place))
    return list(found.values())


def _methods(place: str) -> frozenset[str]:
    """How a pattern is used, by its name; `finditer` stands for all that look everywhere in a text.

    A pattern in a table has no name of its own: all methods of its module count.
    """
    module, _, name = place.partition(":")
    used = _uses()[module if name.startswith("_") else ""].get(name)
    if not used:
        used = {"finditer", *(["fullmatch"] if _ANY_FULLMATCH.search(_source(module)) else [])}
    return frozenset(used)


@cache
def _uses() -> dict[str, dict[str, set[str]]]:
    """By module, and under an empty name for all of them: the methods that are called on each name."""
    uses: dict[str, dict[str, set[str]]] = {"": {}}
    for module in modules():
        here = uses.setdefault(module.__name__, {})
        for name, method in re.findall(rf"(\w+)\.({'|'.join(METHODS)})\b", _source(module.__name__)):
            for table in (here, uses[""]):
                table.setdefault(name, set()).add(METHODS[method])
    return uses


def _source(module: str) -> str:
    return Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8")


def _in_values(module: ModuleType) -> Iterator[tuple[str, "re.Pattern[Any]"]]:
    for name, value in vars(module).items():
        if not name.startswith("__"):
            for pattern in _reachable(value, set()):
                yield f"{module.__name__}:{name}", pattern


def _reachable(value: Any, seen: set[int]) -> Iterator["re.Pattern[Any]"]:
    """The patterns in a value: in containers, in the fields of values, in what a function closes over."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    if isinstance(value, Uncompiled):
        yield value.compiled()
    for one in _inside(value):
        yield from _reachable(one, seen)


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if inspect.isfunction(value):
        return [*(cell.cell_contents for cell in value.__closure__ or ()), *(value.__defaults__ or ())]
    if inspect.ismethod(value) or (inspect.isbuiltin(value) and isinstance(value.__self__, re.Pattern)):
        return [value.__self__]
    if isinstance(value, type) and value.__module__.startswith("lore."):
        return [one for name, one in vars(value).items() if not name.startswith("__")]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    return []


def _in_calls(module: ModuleType) -> Iterator[tuple[str, "re.Pattern[Any]"]]:
    """The patterns that are written where they are used: the first argument of a function of `re`."""
    path = Path(module.__file__ or "")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if (
            isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in FUNCTIONS
        ):
            pattern = _written(node.args[0])
            if pattern is not None:
                yield f"{module.__name__}:{node.lineno}", re.compile(pattern, _flags(node))


def _written(argument: ast.expr) -> str | bytes | None:
    """A pattern as it is written; a part that is known at run time only becomes a word."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str | bytes):
        return argument.value
    if isinstance(argument, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "word" for part in argument.values]
        return "".join(parts)
    return None


def _flags(call: ast.Call) -> int:
    inside = (node for value in (*call.args[1:], *call.keywords) for node in ast.walk(value))
    named = {
        node.attr for node in inside if isinstance(node, ast.Attribute) and hasattr(re.RegexFlag, node.attr)
    }
    return sum(int(re.RegexFlag[name]) for name in named)


# --- texts that hurt
def texts(pattern: "re.Pattern[Any]", length: int) -> list[Any]:
    """Texts of about `length` characters that drive the repetitions of a pattern, each with two bad ends."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags & ~(re.UNICODE if isinstance(pattern.pattern, bytes) else 0))
    units: dict[tuple[str, str], None] = {("", " "): None, ("", "-"): None, ("", "a"): None, ("", "1 "): None}
    for prefix, bodies in _repeats(list(tree), ""):
        for body in bodies:
            units[prefix, body] = units["", prefix + body] = None
    whole = _sample(list(tree), 0)
    units["", whole] = units["", whole[:-1]] = None
    chosen = [unit for unit in units if unit[1]]
    made: dict[str, None] = {}
    for number, (prefix, body) in enumerate(chosen):
        text = prefix + (body * (length // len(body) + 1))[:length]
        made[text + ENDS[number % len(ENDS)]] = made[text + "_"] = None
    if isinstance(pattern.pattern, bytes):
        return [text.encode("latin-1", "replace") for text in made]
    return list(made)


def _repeats(items: list[Any], prefix: str) -> Iterator[tuple[str, list[str]]]:
    """Each repetition without a small limit: a text that leads to it, and texts that it repeats."""
    for at, (code, value) in enumerate(items):
        here = prefix + _sample(items[:at], 0)
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, body = value
            inner = list(body)
            if most > 8:
                after = _sample(items[at + 1 : at + 2], 0)
                yield (
                    here,
                    list(dict.fromkeys([_sample(inner, 0), _sample(inner, 1), _sample(inner, 2), after])),
                )
            yield from _repeats(inner, here)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(list(branch), here)
        elif code is codes.SUBPATTERN:
            yield from _repeats(list(value[-1]), here)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(list(value[1]), here)
        elif code is codes.ATOMIC_GROUP:
            yield from _repeats(list(value), here)


def _sample(items: list[Any], variant: int) -> str:
    """A text that these items match, or nearly; variant: which of their characters to take."""
    return "".join(_one(code, value, variant) for code, value in items)


def _one(code: Any, value: Any, variant: int) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if code is codes.ANY:
        return "a -"[variant % 3]
    if code is codes.IN:
        return _member(value, variant)
    if code is codes.BRANCH:
        branches = value[1]
        return _sample(list(branches[variant % len(branches)]), variant)
    if code is codes.SUBPATTERN:
        return _sample(list(value[-1]), variant)
    if code is codes.ATOMIC_GROUP:
        return _sample(list(value), variant)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, most, body = value
        return _sample(list(body), variant) * int(min(max(least, 1), most))
    return ""


CATEGORIES = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_WORD: " ",
}


def _member(items: list[Any], variant: int) -> str:
    """A character of a class."""
    if items and items[0][0] is codes.NEGATE:
        refused = re.compile("[" + "".join(map(re.escape, _characters(items[1:]))) + "]")
        allowed = [one for one in "-a 1.,\"'A_/\t" if not refused.match(one)]
        return str(allowed[variant % len(allowed)]) if allowed else "é"
    characters = _characters(items)
    return str(characters[variant * 7 % len(characters)])


def _characters(items: list[Any]) -> list[str]:
    found: list[str] = []
    for code, value in items:
        if code is codes.LITERAL:
            found.append(chr(value))
        elif code is codes.RANGE:
            found += [chr(value[0]), chr(value[1])]
        elif code is codes.CATEGORY:
            found.append(CATEGORIES[value])
    return found or ["a"]


# --- functions around the patterns
UNITS = (
    *(
        "- a A 1 1, 1. a. a_ a- a/ a@ ( ) [a]( \" ' ` `` \\ <a ? ! é 日 Aa- aA https://a. ~/ key= a@b. ** __"
    ).split(" "),
    *("\n", "a\n", "- a\n", "# a\n", "```\n", "    a\n", "a: b\n", "> a\n", "\0", "\u200b"),
    *(
        "a, ",
        "a; ",
        ". ",
        "? ",
        "etc. ",
        "e.g. ",
        "A. ",
        "Mr. ",
        "Aa ",
        "not ",
        "from a to ",
        "is ",
        "I am ",
        "no, ",
    ),
    *("ok, ", "when ", "a is b. ", "2>&1 ", "2026-01-01 ", "in 3 days ", "please, ", " "),
)
"""Texts that are repeated."""
PURE = ("lore.distil", "lore.ranking", "lore.text", "lore.names", "lore.redact")
"""Modules whose functions depend on their arguments alone."""
MOST_FOR_FUNCTIONS = 12_500
"""Characters for functions, most of which go through their text with many patterns."""
INNER = ("lore.distil.phrases", "lore.ranking.claims.")
"""Modules whose functions are given texts of the source, or parts of one sentence."""
SENTENCES = {module: sentences.LONGEST for module in ("lore.distil.cues",)}
"""Modules whose functions see one sentence at a time, and its most characters."""
ARGUMENTS: dict[Any, Any] = {float: 1.7e9, int: 100, bool: True, "role": "user"}


@dataclass(frozen=True)
class Pure:
    """A function that takes texts."""

    place: str
    function: Callable[..., Any]
    parameters: dict[str, Any]

    def __call__(self, text: str) -> None:
        self.function(**{name: self._argument(kind, text) for name, kind in self.parameters.items()})

    @staticmethod
    def _argument(kind: Any, text: str) -> Any:
        if kind is str:
            return text
        return [text] if kind in (Sequence[str], Iterable[str]) else ARGUMENTS[kind]


def functions() -> list[Pure]:
    """All public functions of the pure modules that need texts and numbers and nothing else."""
    found: dict[int, Pure] = {}
    for module in modules():
        if module.__name__.startswith(PURE) and not module.__name__.startswith(INNER):
            for name, value in vars(module).items():
                if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_":
                    kinds = _needed(value)
                    if str in kinds.values() and all(
                        kind in (str, Sequence[str], Iterable[str], *ARGUMENTS) for kind in kinds.values()
                    ):
                        found[id(value)] = Pure(f"{module.__name__}.{name}", value, kinds)
    return list(found.values())


def _needed(function: Callable[..., Any]) -> dict[str, Any]:
    """The kinds of the parameters that have no default."""
    hints = get_type_hints(function)
    return {
        name: "role" if hints.get(name) is Role else hints.get(name)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty
    }


# --- trying
def tried(found: Found, length: int = LENGTH) -> Trial:
    """The worst of the texts for a pattern."""
    length = min(length, found.longest)
    short, long = (texts(found.pattern, size) for size in (length // STEP, length))
    return worst(found.run, zip(short, long, strict=True))


def tried_function(pure: Pure, length: int = LENGTH) -> Trial:
    """The worst of the texts for a function."""
    length = min(
        [
            length,
            MOST_FOR_FUNCTIONS,
            *(limit for module, limit in SENTENCES.items() if pure.place.startswith(module)),
        ]
    )
    return worst(
        pure,
        [(unit * (length // STEP // len(unit)), unit * (length // len(unit))) for unit in UNITS],
    )


def worst(run: Callable[[Any], object], pairs: Iterable[tuple[Any, Any]]) -> Trial:
    """The trial of the worst of pairs of texts, of which the second is STEP times as long as the first."""
    found = Trial(0.0, 0.0, "")
    for short, long in pairs:
        trial = _tried(run, short, long)
        if (not trial.linear, trial.seconds) > (not found.linear, found.seconds):
            found = trial
        if not found.linear:
            break
    return found


def _tried(run: Callable[[Any], object], short: Any, long: Any) -> Trial:
    """The first measurement that is linear, or the last of MEASUREMENTS."""
    for _ in range(MEASUREMENTS):
        trial = _measured(run, short, long)
        if trial.linear or trial.growth == math.inf:
            break
    return trial


def _measured(run: Callable[[Any], object], short: Any, long: Any) -> Trial:
    seconds, growth = _seconds(run, long), 0.0
    if seconds >= HARD_SECONDS:
        growth = math.inf
    elif seconds >= NEGLIGIBLE_SECONDS:
        seconds = min(seconds, _seconds(run, long))
        growth = seconds / max(min(_seconds(run, short) for _ in range(3)), 1e-9)
    return Trial(seconds, growth, repr(long[:60]))


def _seconds(run: Callable[[Any], object], text: Any) -> float:
    """Processor time for one text; at most HARD_SECONDS."""
    began = time.process_time()
    before = signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, HARD_SECONDS)
    try:
        run(text)
    except TimeoutError:
        return HARD_SECONDS
    except LoreError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - began


def _too_long(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--bytes", type=int, default=LENGTH, help="length of the long texts")
    arguments.add_argument("modules", nargs="*", help="beginnings of module names; all, if there are none")
    given = arguments.parse_args()
    wanted = tuple(given.modules) or ("lore",)
    print(f"texts of {given.bytes:,} characters")
    patterns = ((one.place, tried(one, given.bytes)) for one in collected() if one.place.startswith(wanted))
    _report("patterns", patterns)
    pure = (
        (one.place, tried_function(one, given.bytes)) for one in functions() if one.place.startswith(wanted)
    )
    _report("functions", pure)


def _report(what: str, trials: Iterable[tuple[str, Trial]]) -> None:
    began, bad, slowest, count = time.process_time(), 0, (0.0, ""), 0
    for place, trial in trials:
        count += 1
        if trial.linear:
            slowest = max(slowest, (trial.seconds, place))
        else:
            bad += 1
            print(f"{place}: {trial.seconds:.2f} s, grows by {trial.growth:.0f}: {trial.text}", flush=True)
    seconds = time.process_time() - began
    print(
        f"{count} {what}, {bad} not linear; slowest: {slowest[0] * 1000:.0f} ms, {slowest[1]};"
        f" {seconds:.0f} s in all"
    )


if __name__ == "__main__":
    main()

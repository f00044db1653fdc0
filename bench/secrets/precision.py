"""Count what the rules take from the output of tools, where hardly anything is a secret.

python -m bench.secrets.precision [FOLDER]

Without a folder: the lines of `tool_output` by language, of which none holds a secret. With one: all text
files in it, for example exported conversations: the number of redactions by kind, and samples of each kind
for a person to judge.
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.secrets import harmless, tool_output
from lore.redact import MARK, redact

PER_LINE = 40
SEED = 50
SAMPLES = 12
AROUND = 60


def main() -> None:
    options = _options()
    print("\n".join(_of_folder(options.folder, options.samples) if options.folder else _of_tools()))


def harmed() -> dict[str, list[tuple[str, str]]]:
    """Language -> lines as they were and as they are stored; equal if nothing was taken from them."""
    chance = random.Random(SEED)
    return {
        language: [
            (line, redact(line).text)
            for template in templates
            for line in (harmless.line_of(template, chance) for _ in range(PER_LINE))
        ]
        for language, templates in tool_output.TOOLS.items()
    }


def _of_tools() -> Iterator[str]:
    total = changed = 0
    yield "language      lines  harmed"
    for language, lines in harmed().items():
        wrong = sum(before != after for before, after in lines)
        total, changed = total + len(lines), changed + wrong
        yield f"{language:<12} {len(lines):>6} {wrong:>7}"
    yield f"{'all':<12} {total:>6} {changed:>7}"


def _of_folder(folder: Path, most: int) -> Iterator[str]:
    kinds: Counter[str] = Counter()
    samples: dict[str, Counter[str]] = {}
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files:
        result = redact(path.read_bytes().decode("utf-8", "replace"))
        kinds.update(result.found)
        for kind, around in _marks(result.text):
            samples.setdefault(kind, Counter())[around] += 1
    yield f"{sum(kinds.values()):,} redactions in {len(files):,} files"
    for kind, count in kinds.most_common():
        yield f"\n{kind}: {count:,}"
        yield from (
            f"{times:>6} x {around}" for around, times in samples.get(kind, Counter()).most_common(most)
        )


def _marks(text: str) -> Iterator[tuple[str, str]]:
    """Kind and surroundings of each redaction; the secret itself is never shown."""
    at = text.find(MARK)
    while at >= 0:
        end = text.find("]", at)
        before = text[max(0, at - AROUND) : at].rpartition("\n")[2]
        after = text[end + 1 : end + AROUND].partition("\n")[0]
        yield text[at + len(MARK) : end], f"{before}{text[at : end + 1]}{after}"
        at = text.find(MARK, end)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="text files, for example exported conversations")
    parser.add_argument("--samples", type=int, default=SAMPLES, help=f"of each kind, {SAMPLES} by default")
    return parser.parse_args()


if __name__ == "__main__":
    main()

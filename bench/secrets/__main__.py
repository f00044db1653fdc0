"""Measure how well, and how fast, secrets are distinguished from harmless text.

python -m bench.secrets [--json FILE] [--quick]

Prints precision and recall per type on the labelled set, separately for the part that the rules were tuned on
and the rest; the lines of Python's own library that are changed; and MB/s next to the earlier catalogue.
A secret counts as found if neither half of it is left. Changed harmless lines, and marks beside the secret,
count against precision.
"""

import argparse
import json
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bench.corpus import Corpus
from bench.secrets import Sample, earlier, later, negatives, positives
from bench.secrets.later import LATER, UNTUNED
from lore.redact import redact

SOURCES = Path(__file__).parents[2] / "src"
HOSTILE = ("token=", "eyJ-", "sk-proj-", "password is ", "curl -u ")
LEAST_HALF = 4


def main() -> None:
    options = _options()
    report = measured(quick=options.quick)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2))
    print(_shown(report))


def measured(quick: bool = False) -> dict[str, Any]:
    """All figures; quick: on a tenth of the texts."""
    step = 10 if quick else 1
    secrets, harmless = positives()[::step], negatives()[::step]
    parts = {
        "all": (secrets, harmless),
        "tuned": ([s for s in secrets if not s.held_out], [s for s in harmless if not s.held_out]),
        "held out": ([s for s in secrets if s.held_out], [s for s in harmless if s.held_out]),
        "named": ([s for s in secrets if s.named], harmless),
        "later kinds": (later(LATER), harmless),
        "untuned kinds": (later(UNTUNED), harmless),
    }
    return {
        "parts": {name: _quality(*samples) for name, samples in parts.items()},
        "earlier": _quality(secrets, harmless, lambda text: earlier.redact(text).text),
        "types": _types(secrets, harmless),
        "library": _library(step),
        "speed": {name: _speed(texts[::step]) for name, texts in _texts().items()},
        "hostile_ms": {part: _hostile(part) for part in HOSTILE},
    }


@cache
def _redacted(text: str) -> str:
    return redact(text).text


def _quality(
    secrets: Sequence[Sample],
    harmless: Sequence[Sample],
    clean: Callable[[str], str] = _redacted,
) -> dict[str, Any]:
    cleaned = [clean(sample.text) for sample in secrets]
    found = sum(_gone(sample, text) for sample, text in zip(secrets, cleaned, strict=True))
    beside = sum(max(0, text.count("[redacted") - 1) for text in cleaned)
    harmed = sum(clean(sample.text) != sample.text for sample in harmless)
    return {
        "secrets": len(secrets),
        "harmless": len(harmless),
        "recall": found / len(secrets),
        "precision": found / max(1, found + beside + harmed),
        "harmed": harmed,
    }


def _gone(sample: Sample, text: str) -> bool:
    half = max(LEAST_HALF, len(sample.secret) // 2)
    return sample.secret[:half] not in text and sample.secret[-half:] not in text


def _types(secrets: Sequence[Sample], harmless: Sequence[Sample]) -> dict[str, Any]:
    """Per type: its recall, and its precision among all marks of the kinds that its secrets get."""
    false: Counter[str] = Counter()
    for sample in harmless:
        false.update(redact(sample.text).found)
    by_type: dict[str, list[Sample]] = {}
    for sample in secrets:
        by_type.setdefault(sample.type, []).append(sample)
    figures = {}
    for type, samples in by_type.items():
        results = [redact(sample.text) for sample in samples]
        found = sum(_gone(sample, result.text) for sample, result in zip(samples, results, strict=True))
        wrong = sum(false[kind] for kind in {kind for result in results for kind in result.found})
        figures[type] = {
            "secrets": len(samples),
            "recall": found / len(samples),
            "precision": found / max(1, found + wrong),
            "held_out": samples[0].held_out,
        }
    return figures


def _library(step: int) -> dict[str, Any]:
    """Lines of Python's library and its tests, some of which hold the passwords of test servers."""
    lines = changed = 0
    kinds: Counter[str] = Counter()
    for file in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))[::step]:
        if "site-packages" in file.parts:
            continue
        text = file.read_bytes().decode("utf-8", "replace")
        lines += text.count("\n")
        found = redact(text).found
        kinds.update(found)
        changed += sum(found.values())
    return {"lines": lines, "changed": changed, "kinds": dict(kinds)}


def _texts() -> dict[str, list[str]]:
    """Texts of about 700 characters, as turns are, and whole files, as the results of tools are."""
    files = [file.read_text() for file in sorted(SOURCES.rglob("*.py"))]
    code = "\n".join(files)
    corpus = Corpus(1)
    return {
        "prose": [corpus.text(40, 200) for _ in range(2_000)],
        "code, 700 characters": [code[at : at + 700] for at in range(0, len(code), 700)],
        "code, whole files": files,
    }


def _speed(texts: Sequence[str]) -> dict[str, float]:
    """MB/s of processor time, the best of five turns in which both take part."""
    size = sum(map(len, texts)) / 1e6
    best = {"now": float("inf"), "earlier": float("inf")}
    for _ in range(5):
        for name, clean in _contestants():
            began = time.process_time()
            for text in texts:
                clean(text)
            best[name] = min(best[name], time.process_time() - began)
    now, before = size / best["now"], size / best["earlier"]
    return {"now": now, "earlier": before, "ratio": now / before}


def _contestants() -> Iterator[tuple[str, Callable[[str], object]]]:
    yield "now", redact
    yield "earlier", earlier.redact


def _hostile(part: str) -> dict[str, float]:
    """Milliseconds for 50 KB and 100 KB of beginnings of secrets: twice as long is linear."""
    figures = {}
    for size in (50_000, 100_000):
        text = (part * size)[:size]
        began = time.process_time()
        redact(text)
        figures[str(size)] = (time.process_time() - began) * 1e3
    return figures


def _shown(report: dict[str, Any]) -> str:
    lines = ["                secrets  harmless   recall  precision  harmed"]
    for name, part in {**report["parts"], "earlier rules": report["earlier"]}.items():
        lines.append(
            f"{name:<14} {part['secrets']:>8,} {part['harmless']:>9,} {part['recall']:>8.4f}"
            f" {part['precision']:>10.4f} {part['harmed']:>7}"
        )
    lines += ["", "type                      secrets   recall  precision"]
    for type, part in sorted(report["types"].items()):
        held = "  held out" if part["held_out"] else ""
        lines.append(
            f"{type:<25} {part['secrets']:>7} {part['recall']:>8.3f} {part['precision']:>10.3f}{held}"
        )
    library = report["library"]
    lines += ["", f"Python's library: {library['changed']} changes in {library['lines']:,} lines"]
    lines += [
        f"{name:<22} {speed['now']:>6.1f} MB/s, earlier {speed['earlier']:>6.1f} MB/s: x {speed['ratio']:.2f}"
        for name, speed in report["speed"].items()
    ]
    lines += [
        f"hostile {part!r:<15} {times['50000']:>5.0f} ms for 50 KB, {times['100000']:>5.0f} ms for 100 KB"
        for part, times in report["hostile_ms"].items()
    ]
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="a tenth of the texts")
    return parser.parse_args()


if __name__ == "__main__":
    main()

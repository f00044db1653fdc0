"""report: the figures as a table for people; progress is printed elsewhere."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

Cell = str | int | float | None


class Spread(NamedTuple):
    """Of a list of figures."""

    p50: float
    p99: float
    best: float
    worst: float


def spread(figures: Sequence[float]) -> Spread:
    if not figures:
        return Spread(0.0, 0.0, 0.0, 0.0)
    ordered = sorted(figures)
    last = len(ordered) - 1
    return Spread(ordered[round(last * 0.5)], ordered[round(last * 0.99)], ordered[0], ordered[-1])


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Names to the left, figures to the right."""
    cells = [list(heads), *([_shown(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(heads))]
    texts = [any(isinstance(row[at], str) for row in rows) for at in range(len(heads))]
    lines = [
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, texts, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([title, *(f"  {line}" for line in lines), ""])


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if cell >= 100 else f"{cell:.1f}" if cell >= 10 else f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell

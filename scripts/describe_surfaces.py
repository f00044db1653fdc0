"""Write docs/surfaces/*.md from the surfaces themselves: python -m scripts.describe_surfaces"""

from pathlib import Path
from typing import Any

from lore.surfaces import SURFACES, Surface, Tool

FOLDER = Path(__file__).parent.parent / "docs" / "surfaces"


def main() -> None:
    for surface in SURFACES.values():
        page_of(surface).write_text(page_text(surface), encoding="utf-8")


def page_of(surface: Surface) -> Path:
    return FOLDER / f"{surface.name}.md"


def page_text(surface: Surface) -> str:
    """The page of one surface: the instructions for an agent, then each tool."""
    parts = [
        f"# The {surface.name} dialect",
        "Written by `python -m scripts.describe_surfaces`; do not edit by hand.",
        "What an agent is told:",
        f"> {surface.instructions}",
        *_differences(surface),
        *(_tool(tool) for tool in surface.tools.values()),
    ]
    return "\n\n".join(parts) + "\n"


def _differences(surface: Surface) -> list[str]:
    if not surface.differences:
        return []
    lines = "\n".join(f"- {difference}" for difference in surface.differences)
    return ["## Where it differs from the server that it replaces", lines]


def _tool(tool: Tool) -> str:
    hints = {
        "reads only": tool.read_only,
        "may destroy": tool.destructive,
        "may be repeated": tool.idempotent,
    }
    effects = ", ".join(name for name, holds in hints.items() if holds) or "adds or strengthens"
    rows = [_row(name, schema, tool) for name, schema in tool.input_schema["properties"].items()]
    table = "\n".join(["| argument | type | default | meaning |", "|---|---|---|---|", *rows])
    answer = ", ".join(f"`{name}`" for name in tool.output_schema["properties"])
    return f"## `{tool.name}`\n\n{tool.description} ({effects})\n\n{table}\n\nAnswers with {answer}."


def _row(name: str, schema: dict[str, Any], tool: Tool) -> str:
    required = name in tool.input_schema.get("required", ())
    default = "required" if required else f"`{schema['default']}`" if "default" in schema else ""
    kind = schema["type"] if isinstance(schema["type"], str) else " or ".join(schema["type"])
    return f"| `{name}` | {kind} | {default} | {schema.get('description', '')} |"


if __name__ == "__main__":
    main()

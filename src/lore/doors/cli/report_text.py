"""report_text: what a consolidation amounted to, in plain words."""

from collections.abc import Mapping

from lore.doors.cli.terminal import plural

WORDS = {  # what is counted -> one of it, several
    "sessions_digested": ("conversation digested", "conversations digested"),
    "fragments_extracted": ("memory gained", "memories gained"),
    "contradictions_resolved": ("outdated memory replaced", "outdated memories replaced"),
    "relevance_updated": ("memory weighed", "memories weighed"),
    "twins_merged": ("repetition merged", "repetitions merged"),
    "roots_merged": ("tree joined another", "trees joined others"),
    "links_created": ("link made", "links made"),
    "roots_resummarized": ("overview written", "overviews written"),
    "reflections_generated": ("insight gained", "insights gained"),
    "edges_pruned": ("faded link ended", "faded links ended"),
    "fragments_pruned": ("faded memory forgotten", "faded memories forgotten"),
}
ROUTINE = frozenset({"relevance_updated"})
"""What is counted although nothing came of it."""
NOTHING = "nothing to do"
RULES = "none: works by rules; [llm] backend in config.toml chooses one"


def amount(counts: Mapping[str, int], routine: bool = True) -> str:
    """All that was done. routine: also what changed nothing."""
    told = [
        plural(counts[name], *WORDS.get(name, (name.replace("_", " "),) * 2))
        for name in sorted(counts, key=[*WORDS, *counts].index)
        if counts[name] and (routine or name not in ROUTINE)
    ]
    return ", ".join(told) or NOTHING


def models_named(models: Mapping[str, str] | None) -> str:
    """The language models by name, each once, and the address that gets the prompts."""
    if models and "trouble" in models:
        return f"cannot be asked: {models['trouble']}"
    if not models:
        return RULES
    names = dict.fromkeys(name for role, name in models.items() if role != "address")
    address = f" ({models['address']})" if "address" in models else ""  # daemons of older versions name none
    return ", ".join(names) + address


def took(seconds: float) -> str:
    """How long, to a tenth of a second."""
    return f"{seconds:,.1f} s" if seconds < 60 else f"{seconds // 60:,.0f} min {seconds % 60:02.0f} s"

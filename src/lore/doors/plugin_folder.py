"""plugin_folder: find the plugin for agents: inside the installed package, or beside `src` in a checkout."""

from pathlib import Path

PACKAGE = Path(__file__).parent.parent
PLACES = (PACKAGE / "plugin", PACKAGE.parent.parent / "plugin")


def plugin_folder() -> Path:
    """The folder that clients add as a marketplace."""
    return next(place for place in PLACES if (place / ".claude-plugin").is_dir())

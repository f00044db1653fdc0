"""The environment: the only reader of its variables, light enough for a process that lives for a moment."""

import os

PREFIX = "LORE_"
BORROWED = ("MEMORY_FILE_PATH",)
"""What has a name without our prefix, because another server gave it one."""
SESSION = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID")
"""Where clients tell a process that an agent starts which conversation it serves."""

FRUGAL = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"}
"""What keeps a resident process small; both are read when its libraries are loaded."""

NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1"}
"""Variables that keep libraries from reporting to their makers; read when the libraries are loaded."""


def switch_off_telemetry() -> None:
    """Set `NO_TELEMETRY` for this process and its children, whatever was set before.

    The package does this when it is imported, so before it loads any other library.
    """
    os.environ.update(NO_TELEMETRY)


def variables() -> dict[str, str]:
    """The variables that speak to Lore; an empty one says nothing."""
    return {name: value for name, value in os.environ.items() if _ours(name) and value}


def for_resident(kept: tuple[str, ...]) -> dict[str, str]:
    """What a process gets that outlives this one: of the variables that speak to Lore, only these."""
    others = {name: value for name, value in os.environ.items() if name in kept or not _ours(name)}
    return FRUGAL | others


def config_home() -> str:
    """Where the programs of this user keep their settings; a relative path is no answer."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    return given if os.path.isabs(given) else os.path.expanduser("~/.config")


def of_clients(names: tuple[str, ...]) -> dict[str, str]:
    """What the clients' own variables say, of these."""
    return {name: value for name, value in os.environ.items() if name in names and value}


def session() -> str:
    """The conversation of the agent that started this process, where its client tells."""
    return next((os.environ[name] for name in SESSION if os.environ.get(name)), "")


def folder() -> str:
    """Where this process is at work; empty if that was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _ours(name: str) -> bool:
    return name.startswith(PREFIX) or name in BORROWED

"""The environment: the only reader of its variables, light enough for a process that lives for a moment."""

import os

PREFIX = "LORE_"
DISABLE = "LORE_DISABLE"
"""Set for programs that Lore runs itself: a client among them shall not call Lore in turn."""
SCRATCH = "lore-scratch-"
"""How the names of folders begin in which Lore runs such programs; no conversation in one is ever kept."""
BORROWED = ("MEMORY_FILE_PATH",)
"""Settings of Lore without its prefix, because another server gave them their names."""
SESSION = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID")
"""Variables in which clients name the session to the processes that an agent starts."""

FRUGAL = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"}
"""Variables that keep a resident process small; they are read when its libraries are loaded."""

NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1"}
"""Variables that keep libraries from reporting to their makers; they are read when the libraries are
loaded."""

APPLICATIONS = {"darwin": ("", "Library/Application Support"), "win32": ("APPDATA", "AppData/Roaming")}
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
CONFIG_HOME = ("XDG_CONFIG_HOME", ".config")


def switch_off_telemetry() -> None:
    """Set `NO_TELEMETRY` for this process and its children, whatever was set before.

    The package does this when it is imported, so before it loads any other library.
    """
    os.environ.update(NO_TELEMETRY)


def variables() -> dict[str, str]:
    """The settings of Lore in the environment; an empty variable is ignored."""
    return {name: value for name, value in os.environ.items() if _is_setting(name) and value}


def disabled() -> bool:
    """Whether this process shall do nothing, because Lore itself started the client that started it."""
    return os.environ.get(DISABLE, "") not in ("", "0")


def child_environment(*, settings: bool) -> dict[str, str]:
    """The environment of a process that outlives this one. settings: with those of Lore."""
    return FRUGAL | {name: value for name, value in os.environ.items() if settings or not _is_setting(name)}


def guest_environment(*without: str) -> dict[str, str]:
    """The environment of another program that works for Lore, and in which Lore is switched off."""
    variables = child_environment(settings=False) | {DISABLE: "1"}
    return {name: value for name, value in variables.items() if name not in without}


def config_home() -> str:
    """The folder for settings of this user's programs."""
    return _base_folder("XDG_CONFIG_HOME", "~/.config")


def data_home() -> str:
    """The folder for data of this user's programs."""
    return _base_folder("XDG_DATA_HOME", "~/.local/share")


def has_display() -> bool:
    """Whether a program on Linux can show anything: there is a display, or Qt shall do without one."""
    return any(os.environ.get(name) for name in DISPLAYS)


def stay_out_of_dock() -> None:
    """Have Qt show no entry in the dock of macOS for this process."""
    os.environ["QT_MAC_DISABLE_FOREGROUND_APPLICATION_TRANSFORM"] = "1"


def application_folder(platform: str) -> tuple[str, str]:
    """Where programs of a platform keep their data: a variable, and the fallback below the home."""
    return APPLICATIONS.get(platform, CONFIG_HOME)


def of_clients(names: tuple[str, ...]) -> dict[str, str]:
    """The variables of these names, which belong to other programs; empty ones are left out."""
    return {name: value for name, value in os.environ.items() if name in names and value}


def session() -> str:
    """The id of the session that started this process; empty if its client does not name it."""
    return next((os.environ[name] for name in SESSION if os.environ.get(name)), "")


def folder() -> str:
    """The working folder of this process; empty if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _base_folder(variable: str, fallback: str) -> str:
    """The folder that a variable names; a relative path is ignored."""
    folder = os.environ.get(variable, "")
    return folder if os.path.isabs(folder) else os.path.expanduser(fallback)


def _is_setting(name: str) -> bool:
    return (name.startswith(PREFIX) and name != DISABLE) or name in BORROWED

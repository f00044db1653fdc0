"""tray_install: put `lore-tray` into the menu of applications, and take it out again."""

import os
import plistlib
import shlex
import shutil
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lore.doors.client_files import PACKAGE, PLUGINS
from lore.doors.endpoint import Endpoint
from lore.environment import config_home, data_home
from lore.errors import Unavailable
from lore.version import VERSION

SOURCES = (PACKAGE / "deploy/tray", PACKAGE.parent.parent / "deploy/tray")
"""The files of the tray: inside the installed package, or beside `src` in a checkout."""
ICON = "lore/.claude-plugin/icon.png"
ICNS_512 = b"ic09"
"""The kind of a picture with 512 pixels a side in a file of icons for macOS."""
PROGRAM = "lore-tray"
BUNDLE_ID = "com.lore.tray"
READABLE, EXECUTABLE = 0o644, 0o755


@dataclass(frozen=True, slots=True)
class File:
    """A file that belongs to the tray. mode: who may read, write and run it."""

    path: Path
    content: bytes
    mode: int = READABLE


@dataclass(frozen=True, slots=True)
class Desktop:
    """The files that a desktop needs. autostart: for a start at login. bundle: the folder of the others."""

    files: Sequence[File]
    autostart: File
    bundle: Path | None = None

    def install(self, *, autostart: bool) -> list[Path]:
        """Write the files; their paths. Without `autostart` an earlier one is removed."""
        if not autostart:
            _remove(self.autostart.path)
        files = [*self.files, *([self.autostart] if autostart else [])]
        for file in files:
            _write(file)
        return [file.path for file in files]

    def uninstall(self) -> list[Path]:
        """Remove the files; the paths of those that were there."""
        removed = [file.path for file in (*self.files, self.autostart) if _remove(file.path)]
        if self.bundle is not None:
            shutil.rmtree(self.bundle, ignore_errors=True)
        return removed


def desktop_of(platform: str, endpoint: Endpoint) -> Desktop:
    """The desktop of a platform, by its name in `sys.platform`; Unavailable if there are no files for it."""
    if platform not in DESKTOPS:
        raise Unavailable(
            f"there are files for {' and '.join(DESKTOPS)}, not for {platform}; run {PROGRAM} by hand"
        )
    return DESKTOPS[platform]([sys.executable, "-P", "-m", "lore.doors.tray", *endpoint.flags])


def linux(command: Sequence[str]) -> Desktop:
    """Desktops that follow freedesktop.org: GNOME, KDE Plasma, Xfce and others."""
    name = f"{PROGRAM}.desktop"
    text = _source(name).read_text(encoding="utf-8")
    run = " ".join(map(_quoted, command))
    entry = text.replace(f"Exec={PROGRAM}\n", f"Exec={run}\n").encode()
    data = Path(data_home())
    icon = File(data / "icons/hicolor/512x512/apps" / f"{PROGRAM}.png", _icon())
    files = [File(data / "applications" / name, entry), icon]
    return Desktop(files, autostart=File(Path(config_home(), "autostart", name), entry))


def macos(command: Sequence[str]) -> Desktop:
    """An application without an entry in the dock, and a launch agent that starts it at login."""
    bundle = Path("~/Applications/Lore.app").expanduser()
    contents = bundle / "Contents"
    about = plistlib.loads(_source("Info.plist").read_bytes())
    about |= {"CFBundleShortVersionString": VERSION, "CFBundleVersion": VERSION}
    script = _source(PROGRAM).read_text(encoding="utf-8")
    script = script.replace(f"exec {PROGRAM}\n", f"exec {shlex.join(command)}\n")
    program = File(contents / "MacOS" / PROGRAM, script.encode(), EXECUTABLE)
    agent = plistlib.loads(_source(f"{BUNDLE_ID}.plist").read_bytes())
    agent["ProgramArguments"] = [str(program.path)]
    agents = Path("~/Library/LaunchAgents").expanduser()
    files = [
        File(contents / "Info.plist", plistlib.dumps(about)),
        program,
        File(contents / "Resources" / f"{PROGRAM}.icns", _icns(_icon())),
    ]
    return Desktop(files, File(agents / f"{BUNDLE_ID}.plist", plistlib.dumps(agent)), bundle)


DESKTOPS: Mapping[str, Callable[[Sequence[str]], Desktop]] = {"linux": linux, "darwin": macos}


def _source(name: str) -> Path:
    folder = next((folder for folder in SOURCES if folder.is_dir()), None)
    if folder is None:
        raise Unavailable(f"{SOURCES[0]} is missing; install agent-lore again")
    return folder / name


def _icon() -> bytes:
    return next(path for folder in PLUGINS if (path := folder / ICON).is_file()).read_bytes()


def _icns(png: bytes) -> bytes:
    """A file of icons that holds one picture."""
    picture = ICNS_512 + struct.pack(">I", len(png) + 8) + png
    return b"icns" + struct.pack(">I", len(picture) + 8) + picture


def _quoted(word: str) -> str:
    """One word of an Exec line. The specification of desktop entries escapes it twice."""
    for character in '\\"`$':
        word = word.replace(character, f"\\{character}")
    return '"' + word.replace("\\", "\\\\").replace("%", "%%") + '"'


def _write(file: File) -> None:
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        draft = file.path.with_name(f".{file.path.name}.{os.getpid()}")
        draft.write_bytes(file.content)
        draft.chmod(file.mode)
        draft.replace(file.path)
    except OSError as error:
        raise Unavailable(f"{file.path} cannot be written: {error.strerror}") from error


def _remove(path: Path) -> bool:
    """Remove a file; whether there was one."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Unavailable(f"{path} cannot be removed: {error.strerror}") from error
    return True

"""project: which repository a folder belongs to. Worktrees share one; folders of the same name do not."""

import errno
import re
from dataclasses import dataclass
from pathlib import Path

from lore.transcripts import foreign

REMOTE = re.compile(r'^\s*\[remote "([^"]+)"\]\s*$')
SECTION = re.compile(r"^\s*\[")
URL = re.compile(r"^\s*url\s*=\s*(\S+)\s*$")
SCP = re.compile(r"^(?:[^@/:]+@)?([^/:]+):(?!//)(.+)$")
ADDRESS = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/:]*)(?::\d+)?/(.+)$", re.IGNORECASE)
PREFERRED = "origin"


@dataclass(frozen=True, slots=True)
class Project:
    """key: its remote as host/path, or the folder of its history where there is none. name: for people."""

    key: str
    name: str


def project_of(folder: str, remote: str = "") -> Project | None:
    """Of a folder, which may be gone by now; remote: what a client said about it.

    None of no folder, and of a text that is too long to be one.
    """
    if remote:
        return _named(repository(remote))
    if not folder or len(folder) > foreign.LONGEST_PATH:
        return None
    return repository_of(folder) or _named(folder.rstrip("/") or "/")


def repository_of(folder: str) -> Project | None:
    """Of a folder inside of a repository; None of any other."""
    common = _common(Path(folder)) if folder and len(folder) <= foreign.LONGEST_PATH else None
    if common is None:
        return None
    remotes = _remotes(common)
    url = remotes.get(PREFERRED) or next(iter(remotes.values()), "")
    return _named(repository(url) if url else str(common.parent if common.name == ".git" else common))


def repository(url: str) -> str:
    """A remote without what differs between the ways to it: scheme, user, port, `.git`, case of the host."""
    found = ADDRESS.match(url) or SCP.match(url)
    if found is None:
        return url.rstrip("/").removesuffix(".git")
    host, path = found.groups()
    return f"{host.lower()}/{path.strip('/').removesuffix('.git')}"


def name_of(key: str) -> str:
    """What people call the project of this key."""
    return key.rstrip("/").rpartition("/")[2] or key


def _named(key: str) -> Project:
    """A folder may be called what is no text; its key can be stored all the same."""
    key = key.encode("utf-8", "replace").decode()
    return Project(key, name_of(key))


def _common(folder: Path) -> Path | None:
    """Where the history is, which all worktrees of a repository share."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_dir():
                return git
            if git.is_file():
                return _shared(place, foreign.read_text(git))
        except (OSError, ValueError):
            continue
    return None


def _shared(place: Path, pointer: str) -> Path | None:
    """A worktree's or a submodule's `.git` is a file that says where its own folder is."""
    if not pointer.startswith("gitdir:"):
        return None
    try:
        own = _resolved(place, pointer.removeprefix("gitdir:"))
    except OSError:
        return None
    try:
        return _resolved(own, foreign.read_text(own / "commondir"))
    except OSError:
        return own


def _resolved(folder: Path, written: str) -> Path:
    """The path that a file of git names, from the folder that the file is in. OSError if it names none."""
    if len(written) > foreign.LONGEST_PATH:
        raise OSError(errno.ENAMETOOLONG, "no possible file name", str(folder))
    try:
        return (folder / written.strip()).resolve()
    except (RuntimeError, ValueError) as error:  # a loop of links, a NUL
        raise OSError(errno.ELOOP, "no possible file name", str(folder)) from error


def _remotes(common: Path) -> dict[str, str]:
    try:
        lines = foreign.read_text(common / "config").splitlines()
    except OSError:
        return {}
    remotes: dict[str, str] = {}
    name = ""
    for line in lines:
        if section := REMOTE.match(line):
            name = section.group(1)
        elif SECTION.match(line):
            name = ""
        elif name and (url := URL.match(line)):
            remotes.setdefault(name, url.group(1))
    return remotes

"""project: the repository that a folder belongs to. Worktrees share one; folders of the same name do not."""

import errno
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from lore.patterns import regex
from lore.text import plain_name
from lore.transcripts import untrusted_files

REMOTE = regex(r'^\s*\[remote "([^"]+)"\]\s*$')
SECTION = regex(r"^\s*\[")
URL = regex(r"^\s*url\s*=\s*(\S+)\s*$")
SCP = regex(r"^(?:[^@/:]+@)?([^/:]+):(?!//)(.+)$")
ADDRESS = regex(r"^[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/:]*)(?::\d+)?/(.+)$", re.IGNORECASE)
PREFERRED = "origin"
NAME_WIDTH = 80
BREAKING = ("Cc", "Cf", "Zl", "Zp")
"""Categories of characters that end a line or hide: a key is one line, whatever a folder is called."""


@dataclass(frozen=True, slots=True)
class Project:
    """key: the remote as host/path, or the folder of the repository without one. name: for people."""

    key: str
    name: str


def project_of(folder: str, remote: str = "") -> Project | None:
    """The project of a folder, which may no longer exist. remote: the URL that the client recorded for it.

    None without a folder, or if it is too long to be a path.
    """
    if remote:
        return _project(repository(remote))
    if not folder or len(folder) > untrusted_files.LONGEST_PATH:
        return None
    return repository_of(folder) or _project(folder.rstrip("/") or "/")


def foreign_project(folder: str, remote: str = "") -> Project | None:
    """The project of a folder on another machine: nothing on this disk says what it is."""
    if remote:
        return _project(repository(remote))
    return _project(folder.rstrip("/") or "/") if folder else None


def repository_of(folder: str) -> Project | None:
    """The project of a folder inside a repository; None for any other folder."""
    common = _common(Path(folder)) if folder and len(folder) <= untrusted_files.LONGEST_PATH else None
    if common is None:
        return None
    remotes = _remotes(common)
    url = remotes.get(PREFERRED) or next(iter(remotes.values()), "")
    return _project(repository(url) if url else str(common.parent if common.name == ".git" else common))


def repository(url: str) -> str:
    """A remote without scheme, user, port, `.git` and the case of the host: the same for all its URLs."""
    found = ADDRESS.match(url) or SCP.match(url)
    if found is None:
        return url.rstrip("/").removesuffix(".git")
    host, path = found.groups()
    return f"{host.lower()}/{path.strip('/').removesuffix('.git')}"


def name_of(key: str) -> str:
    """The name of the project with this key, for people and agents: it begins no section of a text."""
    return plain_name(key.rstrip("/").rpartition("/")[2] or key, NAME_WIDTH)


def _project(key: str) -> Project:
    key = key.encode("utf-8", "replace").decode()  # the bytes of a folder's name may not be valid text
    key = "".join(" " if unicodedata.category(one) in BREAKING else one for one in key)
    return Project(key, name_of(key))


def _common(folder: Path) -> Path | None:
    """The git folder that all worktrees of a repository share."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_dir():
                return git
            if git.is_file():
                return _shared(place, untrusted_files.read_text(git))
        except (OSError, ValueError):
            continue
    return None


def _shared(place: Path, pointer: str) -> Path | None:
    """The common folder of a worktree or a submodule, whose `.git` is a file with the path of its folder."""
    if not pointer.startswith("gitdir:"):
        return None
    try:
        own = _resolved(place, pointer.removeprefix("gitdir:"))
    except OSError:
        return None
    try:
        return _resolved(own, untrusted_files.read_text(own / "commondir"))
    except OSError:
        return own


def _resolved(folder: Path, path: str) -> Path:
    """A path that a file of git names, relative to the folder of the file. OSError if it is impossible."""
    if len(path) > untrusted_files.LONGEST_PATH:
        raise OSError(errno.ENAMETOOLONG, "no possible file name", str(folder))
    try:
        return (folder / path.strip()).resolve()
    except (RuntimeError, ValueError) as error:  # a loop of links, a NUL
        raise OSError(errno.ELOOP, "no possible file name", str(folder)) from error


def _remotes(common: Path) -> dict[str, str]:
    try:
        lines = untrusted_files.read_text(common / "config").splitlines()
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

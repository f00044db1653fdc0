"""textsearch_extension: pg_textsearch for the PostgreSQL of tests and benches, from a package of Debian.

`python -m scripts.textsearch_extension` fetches the package from the Debian mirror that this machine uses and
unpacks it in the virtual environment. No wheel has the extension. The package may be newer than the system:
`lowered` makes its library load with an older C library.
"""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE, SUITE = "postgresql-18-pg-textsearch", "forky"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FOLDER = Path(sys.prefix) / "pg_textsearch"
"""Where the extension is unpacked: `lib` and `share/extension`."""
LIBRARY = "lib/pg_textsearch.so"
NEW_PREFIX, NEW_VERSION = b"__isoc23_", (2, 38)
"""Functions that read numbers have another name since this version of glibc: they also accept 0b101."""
DYNAMIC_SYMBOLS, VERSIONS_NEEDED = 11, 0x6FFFFFFE
"""Types of sections in an ELF file: SHT_DYNSYM and SHT_GNU_verneed."""


def installed() -> Path | None:
    """The folder of the extension; None if it could not be fetched."""
    return FOLDER if (FOLDER / LIBRARY).exists() else None


def fetch() -> None:
    """Bring the extension into FOLDER."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        root = _unpacked(work)
        extension = work / "extension"
        shutil.copytree(root / "usr/share/postgresql/18", extension / "share")
        (extension / "lib").mkdir()
        content = (root / "usr/lib/postgresql/18" / LIBRARY).read_bytes()
        (extension / LIBRARY).write_bytes(content if _glibc() >= NEW_VERSION else lowered(content))
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.copytree(extension, FOLDER)


def _unpacked(work: Path) -> Path:
    """The content of the newest package, fetched with lists of its own: those of the system stay."""
    (work / "sources").write_text(f"deb [signed-by={KEYRING}] {_mirror()} {SUITE} main\n")
    for folder in ("lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    places = {"Etc::sourcelist": "sources", "State::lists": "lists", "Cache": "cache"}
    options = [part for key, place in places.items() for part in ("-o", f"Dir::{key}={work / place}")]
    apt = ("apt-get", "-qq", "-o", "Dir::Etc::sourceparts=-", "-o", "APT::Sandbox::User=root", *options)
    for command in (("update",), ("download", PACKAGE)):
        subprocess.run([*apt, *command], cwd=work, check=True, capture_output=True)
    (package,) = work.glob("*.deb")
    subprocess.run(["dpkg", "-x", package, work / "root"], check=True, capture_output=True)
    return work / "root"


def _mirror() -> str:
    """The first address of Debian's packages that apt uses here."""
    command = ("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages")
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return next(address for address in listed if address.endswith("/debian/"))


def _glibc() -> tuple[int, ...]:
    _, version = str(os.confstr("CS_GNU_LIBC_VERSION")).split()
    return tuple(map(int, version.split(".")))


# --- a library for an older C library


@dataclass(frozen=True, slots=True)
class Section:
    """Where a section of an ELF file of 64 bits stands. link: the number of the section with its names."""

    type: int
    start: int
    size: int
    link: int


def lowered(content: bytes) -> bytes:
    """A library that asks for the older functions of the same behaviour, in their oldest version.

    Names are the ends of the new ones, so they are in the file already; nothing moves.
    """
    patched = bytearray(content)
    sections = list(_sections(content))
    for section in sections:
        names = sections[section.link].start
        if section.type == DYNAMIC_SYMBOLS:
            for at in range(section.start, section.start + section.size, 24):
                (name,) = struct.unpack_from("<I", content, at)
                if content.startswith(NEW_PREFIX, names + name):
                    struct.pack_into("<I", patched, at, name + len(NEW_PREFIX))
        elif section.type == VERSIONS_NEEDED:
            versions = {_version(content, names, at): at for at in _needed(content, section.start)}
            oldest = versions[min(versions)]
            for version, at in versions.items():
                if version >= NEW_VERSION:
                    patched[at : at + 4] = content[oldest : oldest + 4]  # the hash of its name
                    patched[at + 8 : at + 12] = content[oldest + 8 : oldest + 12]  # the name
    return bytes(patched)


def _sections(content: bytes) -> Iterator[Section]:
    (table,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    for at in range(table, table + size * count, size):
        yield Section(*struct.unpack_from("<4xI16xQQI", content, at))


def _needed(content: bytes, start: int) -> Iterator[int]:
    """Where the versions stand that the library needs of the only other library that it names."""
    count, first = struct.unpack_from("<2xH4xI", content, start)
    at = start + first
    for _ in range(count):
        yield at
        (following,) = struct.unpack_from("<12xI", content, at)
        at += following


def _version(content: bytes, names: int, at: int) -> tuple[int, ...]:
    """GLIBC_2.38 as (2, 38)."""
    (name,) = struct.unpack_from("<8xI", content, at)
    text = content[names + name : content.index(b"\0", names + name)].decode()
    return tuple(map(int, text.removeprefix("GLIBC_").split(".")))


def main() -> int:
    try:
        fetch()
    except (OSError, subprocess.CalledProcessError, StopIteration) as error:
        output = getattr(error, "stderr", b"") or b""
        print(f"{PACKAGE} could not be fetched: {error!r} {output.decode()}".strip(), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

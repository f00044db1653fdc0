"""Draw the plugin's icon: three strata, and a memory that shines through them.

python -m scripts.draw_icon
"""

import struct
import zlib
from pathlib import Path

SIZE = 512
GROUND, STRATA, LIGHT = (24, 33, 47), ((52, 84, 110), (68, 116, 143), (92, 152, 173)), (247, 201, 100)
BANDS = ((150, 196), (236, 282), (322, 368))
CENTRE, RADIUS = 256, 62
FILE = Path(__file__).parent.parent / "plugin/lore/.claude-plugin/icon.png"


def colour(x: int, y: int) -> tuple[int, int, int]:
    """The colour of one pixel."""
    if (x - CENTRE) ** 2 + (y - CENTRE) ** 2 < RADIUS**2:
        return LIGHT
    bow = (x - CENTRE) ** 2 // 1600
    for (top, bottom), stratum in zip(BANDS, STRATA, strict=True):
        if 64 < x < SIZE - 64 and top + bow < y + 20 < bottom + bow:
            return stratum
    return GROUND


def png() -> bytes:
    """The picture as a PNG file."""
    rows = b"".join(b"\0" + bytes(part for x in range(SIZE) for part in colour(x, y)) for y in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


if __name__ == "__main__":
    FILE.write_bytes(png())

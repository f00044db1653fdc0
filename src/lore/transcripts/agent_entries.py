"""agent_entries: the text of a file in which an agent keeps notes → its entries, one for each thing noted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lore.text import folded

PREFERENCE, FACT = "preference", "fact"
OF_THE_USER = frozenset({"user", "feedback"})
"""Types in Claude Code's notes that stand for what the user is or wants."""
USER_SECTIONS = frozenset({"user profile", "user preferences", "preferences"})
GEMINI_HEADING = "gemini added memories"
INDEX = "what's in memory"
"""The section of Codex's summary that only lists other files."""
FENCES = ("```", "~~~")
BULLETS = ("- ", "* ", "+ ")
FRONT = "---"
APPLIES_TO, PLACE = "applies_to:", "cwd="
TOP, SECOND, DEEPEST = 1, 2, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that an agent has noted. key: tells it apart from the others of its file.

    folder: where the agent worked; empty if the entry does not say.
    """

    key: str
    text: str
    title: str = ""
    summary: str = ""
    type: str = FACT
    folder: str = ""


def claude_code(name: str, text: str) -> list[Entry]:
    """A file of Claude Code's memory of a project; its index has entries only if it holds more than links."""
    fields, body = _front(text)
    if name == "MEMORY.md":
        kept = "\n".join(line for line in body.splitlines() if not _is_pointer(line))
        return _unique(_sections(kept, SECOND), "MEMORY")
    summary = fields.get("description", "")
    content = body.strip() or summary
    if not content:
        return []
    title = fields.get("name") or name.removesuffix(".md")
    type = PREFERENCE if fields.get("type", "").lower() in OF_THE_USER else FACT
    return [Entry(key="", text=content, title=title, summary=summary, type=type)]


def codex_summary(name: str, text: str) -> list[Entry]:
    """Codex's summary of all that it remembers: one entry for each section."""
    sections = [one for one in _sections(text, SECOND) if one[0] and not _is_index(one[0])]
    return _unique(sections, name)


def codex_handbook(name: str, text: str) -> list[Entry]:
    """Codex's notes by task: one entry for each group of tasks, which names the folder it is about."""
    return _unique(_sections(text, TOP), name.removesuffix(".md"))


def codex_rollout(name: str, text: str) -> list[Entry]:
    """Codex's summary of one conversation, behind lines that say where it took place."""
    head, _, body = text.lstrip("\ufeff").partition("\n\n")
    fields = _fields(head.splitlines())
    if "cwd" not in fields and "thread_id" not in fields:
        body = text
    if not body.strip():
        return []
    title = next((heading[1] for _, heading in _lines(body) if heading), "") or name.removesuffix(".md")
    return [Entry(key="", text=body.strip(), title=title, folder=fields.get("cwd", ""))]


def gemini(name: str, text: str) -> list[Entry]:
    """The memories that Gemini CLI adds to a file of the user: one entry for each bullet."""
    bodies = [body for heading, body in _sections(text, SECOND) if heading.lower() == GEMINI_HEADING]
    bullets: list[str] = []
    for line in "\n".join(bodies).splitlines():
        if line.startswith(BULLETS):
            bullets.append(line[2:])
        elif bullets and line.strip():
            bullets[-1] += f"\n{line.strip()}"
    texts = {folded(one): one.strip() for one in bullets if one.strip()}
    return [Entry(key=key, text=one) for key, one in texts.items()]


def _is_pointer(line: str) -> bool:
    """Whether a line of an index only links to another file of notes."""
    bullet = line.strip()
    return bullet.startswith(BULLETS) and bullet[2:].lstrip().startswith("[") and ".md)" in bullet


def _is_index(heading: str) -> bool:
    return heading.lower().replace("’", "'").startswith(INDEX)


def _unique(sections: list[tuple[str, str]], title: str) -> list[Entry]:
    """The sections as entries; a repeated heading gets a number. title: of text before any heading."""
    seen: Counter[str] = Counter()
    entries = []
    for heading, body in sections:
        key = folded(heading)
        seen[key] += 1
        type = PREFERENCE if key in USER_SECTIONS else FACT
        folder = next(filter(None, map(_place, body.splitlines())), "")
        number = f"\n{seen[key]}" if seen[key] > 1 else ""
        entries.append(Entry(key=key + number, text=body, title=heading or title, type=type, folder=folder))
    return entries


def _place(line: str) -> str:
    """The folder that a line of Codex's handbook names as the one that its section is about."""
    if not line.startswith(APPLIES_TO):
        return ""
    return line.partition(PLACE)[2].partition(";")[0].strip()


def _sections(text: str, deepest: int) -> list[tuple[str, str]]:
    """Heading and text of each section that has any, cut at headings down to this level."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line, heading in _lines(text):
        if heading is not None and heading[0] <= deepest:
            sections.append((heading[1], []))
        else:
            sections[-1][1].append(line)
    return [(heading, body) for heading, lines in sections if (body := "\n".join(lines).strip())]


def _lines(text: str) -> Iterator[tuple[str, tuple[int, str] | None]]:
    """Each line, with its level and words if it is a heading; none is inside a block of code."""
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith(FENCES)
        level = len(line) - len(line.lstrip("#"))
        found = not fenced and 0 < level <= DEEPEST and line[level : level + 1].isspace()
        yield line, (level, line.strip("# \t")) if found else None


def _front(text: str) -> tuple[dict[str, str], str]:
    """The fields before the text of a file, and the text."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FRONT:
        return {}, text
    ends = (number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FRONT)
    end = next(ends, 0)
    return (_fields(lines[1:end]), "\n".join(lines[end + 1 :])) if end else ({}, text)


def _fields(lines: Sequence[str]) -> dict[str, str]:
    """Lines like `name: value`, also those inside another field; the first of a name counts."""
    parted = (line.partition(":") for line in lines)
    pairs = [(name.strip().lower(), value.strip()) for name, _, value in parted]
    return {name: _unquoted(value) for name, value in reversed(pairs) if value}


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value

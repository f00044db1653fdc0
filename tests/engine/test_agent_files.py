"""Notes that agents keep in files of their own: read once, followed as they change, never written."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from lore import Draft, Lore
from lore.bookmark import Bookmark
from lore.config import Config
from lore.doors.agent_notes import AgentNotes
from lore.doors.transcript_watcher import Transcripts
from lore.engine.agent_files import GONE, NotesRead
from lore.inspection import Selection
from lore.model import AGENT_FILE, TURN, Cause, Filter, Memory
from lore.transcripts.agent_files import CLIENTS
from lore.transcripts.sources import SOURCES

PORT = "The harbour office answers on port 4711, since the old port is taken by the tide gauge."
SHORT = "Mara wants short answers without a summary at their end."
ALL = Filter(source_types=frozenset({AGENT_FILE}))


class Machine:
    """A home folder with the files of agents, and the reader of their notes."""

    def __init__(self, home: Path, config: Config) -> None:
        self.home = home
        self.checkout = home / "work" / "ferry.app"
        (self.checkout / ".git").mkdir(parents=True)
        self.project = str(self.checkout)
        self._where = Transcripts(
            sources=list(SOURCES.values()), home=home, variables={}, ignore_list=config.data_dir / "ignore"
        )
        self._mtime = 1_700_000_000

    def write(self, path: str | Path, text: str) -> Path:
        """Write a file below the home, each time a second later."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self._mtime += 1
        os.utime(file, (self._mtime, self._mtime))
        return file

    @property
    def memory(self) -> Path:
        """Claude Code's folder for the notes on the checkout."""
        name = "".join(one if one.isalnum() else "-" for one in str(self.checkout))
        return Path(".claude", "projects", name, "memory")

    def note(self, name: str, text: str, type: str = "project") -> Path:
        """A note of Claude Code on the checkout."""
        front = f"---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: {type}\n---\n\n"
        return self.write(self.memory / f"{name}.md", f"{front}{text}\n")

    def read(self, lore: Lore, again: bool = False) -> NotesRead:
        """Read the notes as a program does that has just begun."""
        return AgentNotes(lore, self._where).read(again)

    def watch(self, lore: Lore) -> AgentNotes:
        return AgentNotes(lore, self._where)


@pytest.fixture
def machine(tmp_path: Path, config: Config) -> Machine:
    return Machine(tmp_path / "home", config)


def notes(lore: Lore) -> dict[str, Memory]:
    """title -> memory."""
    found = lore.select(ALL, 100)
    titles = {memory.title: memory for memory in found}
    assert len(titles) == len(found)
    return titles


def counts(read: NotesRead) -> tuple[int, int, int, int]:
    assert not read.failed
    return read.new, read.changed, read.restored, read.forgotten


def test_a_note_of_claude_code_is_a_memory_of_its_project(lore: Lore, machine: Machine) -> None:
    machine.note("harbour-port", PORT)
    machine.note("short-answers", SHORT, "feedback")
    machine.write(
        machine.memory / "MEMORY.md",
        "# Memory\n\n- [Port](harbour-port.md) — the port\n- [Short](short-answers.md) — answers\n",
    )
    assert counts(machine.read(lore)) == (2, 0, 0, 0)
    found = notes(lore)
    port, short = found["harbour-port"], found["short-answers"]
    assert (port.content, port.summary, port.kind, port.type) == (PORT, "about harbour-port", "note", "fact")
    assert (port.source, port.source_type, port.project) == ("claude-code", "agent-file", machine.project)
    assert port.metadata["agent"] == "claude-code"
    assert port.metadata["file"] == (machine.memory / "harbour-port.md").relative_to(".claude").as_posix()
    assert len(port.metadata["hash"]) == 32
    assert port.metadata["mtime"] == 1_700_000_001
    assert (short.type, port.trust, short.trust) == ("preference", 0.5, 0.6)


def test_an_index_that_holds_more_than_links_has_an_entry_for_each_section(
    lore: Lore, machine: Machine
) -> None:
    text = f"# Memory\n- [Port](a.md) — x\n## Harbour\n{PORT}\n\n## User preferences\n- {SHORT}\n"
    machine.write(machine.memory / "MEMORY.md", text)
    machine.read(lore)
    assert {title: (one.content, one.type) for title, one in notes(lore).items()} == {
        "Harbour": (PORT, "fact"),
        "User preferences": (f"- {SHORT}", "preference"),
    }


def test_what_codex_and_gemini_have_noted_is_found(lore: Lore, machine: Machine) -> None:
    folder = Path(".codex", "memories")
    machine.write(
        folder / "memory_summary.md",
        f"v1\n## User Profile\n{SHORT}\n## General Tips\n- Tests run with make check.\n"
        "## What's in Memory\n- ferry: port\n",
    )
    machine.write(
        folder / "MEMORY.md",
        f"# Task Group: ferry port\nscope: the port\napplies_to: cwd={machine.checkout}; reuse_rule=here\n\n"
        f"## Task 1: move it, success\n- {PORT}\n",
    )
    machine.write(
        folder / "rollout_summaries" / "2026-one.md",
        f"thread_id: 019f\nupdated_at: 2026-07-10T11:07:42+00:00\ncwd: {machine.checkout}\n\n"
        "# Repaired the importer of timetables\n\nIt failed on leap days.\n",
    )
    machine.write(folder / "raw_memories.md", "Not this one.\n")
    machine.write(
        ".gemini/GEMINI.md",
        "# Rules of mine\n- Not this one.\n\n## Gemini Added Memories\n- The ferry sails in winter\n  too.\n"
        "- The bridge opens at six.\n\n## More of mine\n- Nor this one.\n",
    )
    assert counts(machine.read(lore)) == (6, 0, 0, 0)
    assert {(one.source, one.title, one.type, one.project) for one in notes(lore).values()} == {
        ("codex", "User Profile", "preference", ""),
        ("codex", "General Tips", "fact", ""),
        ("codex", "Task Group: ferry port", "fact", machine.project),
        ("codex", "Repaired the importer of timetables", "fact", machine.project),
        ("gemini", "The ferry sails in winter\ntoo.", "fact", ""),
        ("gemini", "The bridge opens at six.", "fact", ""),
    }
    assert lore.status().agent_notes == {"codex": 4, "gemini": 2}
    [hit] = [hit for hit in lore.search("leap days importer").hits if "leap days" in hit.memory.content]
    assert hit.standing == "agent's note (codex)"


def test_reading_again_doubles_nothing_and_changes_nothing(lore: Lore, machine: Machine) -> None:
    machine.note("port", PORT)
    machine.read(lore)
    before = lore.activity(1).entries
    os.utime(machine.home / machine.memory / "port.md", (1_800_000_000, 1_800_000_000))
    assert machine.read(lore) == NotesRead(files=1)
    assert machine.read(lore) == NotesRead()
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        writer.put_records([], removed=writer.records(Bookmark))
    assert machine.read(lore) == NotesRead(files=1)
    assert lore.activity(1).entries == before


def test_a_file_is_followed_as_it_changes_goes_and_comes_back(lore: Lore, machine: Machine) -> None:
    path = machine.note("port", PORT)
    watch = machine.watch(lore)
    assert counts(watch.read()) == (1, 0, 0, 0)
    id = notes(lore)["port"].id

    machine.note("port", "The harbour office answers on port 5000.", "user")
    assert counts(watch.read()) == (0, 1, 0, 0)
    changed = notes(lore)["port"]
    assert (changed.id, changed.type) == (id, "preference")
    assert changed.content == "The harbour office answers on port 5000."
    assert PORT in str(lore.history(id)[-1].before)

    path.unlink()
    assert counts(watch.read()) == (0, 0, 0, 1)
    assert (notes(lore), lore.status().agent_notes) == ({}, {})
    assert lore.history(id)[-1].after == {
        **lore.history(id)[-1].after,  # type: ignore[dict-item]
        "forgotten_reason": GONE,
    }

    machine.note("port", PORT)
    assert counts(watch.read()) == (0, 1, 1, 0)
    assert (notes(lore)["port"].id, notes(lore)["port"].content) == (id, PORT)


def test_an_entry_goes_and_the_others_stay(lore: Lore, machine: Machine) -> None:
    head = "## Gemini Added Memories\n"
    machine.write(".gemini/GEMINI.md", f"{head}- One ferry.\n- Two ferries.\n")
    machine.read(lore)
    ids = {title: one.id for title, one in notes(lore).items()}
    machine.write(".gemini/GEMINI.md", f"{head}- Two ferries.\n- Three ferries.\n")
    assert counts(machine.read(lore)) == (1, 0, 0, 1)
    assert notes(lore).keys() == {"Two ferries.", "Three ferries."}
    assert notes(lore)["Two ferries."].id == ids["Two ferries."]


def test_what_a_person_has_forgotten_or_erased_stays_so(lore: Lore, machine: Machine) -> None:
    for name in ("port", "pier", "sluice"):
        machine.note(name, f"{PORT} That is about the {name}.")
    machine.read(lore)
    ids = {name: one.id for name, one in notes(lore).items()}
    lore.forget([ids["port"], ids["sluice"]])
    lore.purge([ids["sluice"]])
    for name in ("port", "sluice"):
        machine.note(name, f"Now the {name} is closed.")
    machine.write(machine.memory / "port.md", "Now the port is open.")
    assert counts(machine.read(lore)) == (0, 0, 0, 0)
    assert notes(lore).keys() == {"pier"}


def test_what_a_person_has_restored_is_not_taken_away_again(lore: Lore, machine: Machine) -> None:
    path = machine.note("port", PORT)
    machine.read(lore)
    id = notes(lore)["port"].id
    path.unlink()
    machine.read(lore)
    lore.restore([id])
    machine.note("pier", SHORT)
    assert counts(machine.read(lore)) == (1, 0, 0, 0)
    assert notes(lore).keys() == {"port", "pier"}


def test_a_note_that_was_replaced_is_current_again_when_it_changes(lore: Lore, machine: Machine) -> None:
    machine.note("port", PORT)
    machine.read(lore)
    lore.supersede(notes(lore)["port"].id, lore.remember("The harbour office has moved.").id)
    assert notes(lore) == {}
    machine.note("port", "The harbour office answers on port 5000.")
    machine.read(lore)
    assert notes(lore)["port"].superseded_by is None
    assert lore.read(notes(lore)["port"].id).successor is None


def test_all_notes_of_a_client_go_and_come_back_at_once(lore: Lore, machine: Machine) -> None:
    machine.note("port", PORT)
    machine.write(".gemini/GEMINI.md", "## Gemini Added Memories\n- The bridge opens at six.\n")
    machine.read(lore)
    own = lore.remember(Draft(content="The harbour is my own.", source="claude-code"))
    where = Selection(sources=frozenset({"claude-code"}), source_types=frozenset({AGENT_FILE}))
    gone = lore.forget_where(where)
    assert gone.count == 1
    assert counts(machine.read(lore)) == (0, 0, 0, 0)
    assert notes(lore).keys() == {"The bridge opens at six."}
    assert lore.read(own.id)
    lore.undo(gone.batch)
    assert notes(lore).keys() == {"The bridge opens at six.", "port"}


def test_notes_on_an_ignored_project_are_left_as_they_are(lore: Lore, machine: Machine) -> None:
    machine.note("port", PORT)
    machine.read(lore)
    (machine.checkout / ".loreignore").write_text("*\n")
    machine.note("port", "This is secret.")
    machine.note("pier", "This too.")
    machine.write(
        ".codex/memories/rollout_summaries/one.md",
        f"thread_id: 1\ncwd: {machine.checkout}\n\n# Secret\n\nMore of it.\n",
    )
    assert counts(machine.read(lore)) == (0, 0, 0, 0)
    assert [one.content for one in notes(lore).values()] == [PORT]
    (machine.checkout / ".loreignore").unlink()
    assert counts(machine.read(lore)) == (0, 0, 0, 0)
    assert counts(machine.read(lore, again=True)) == (2, 1, 0, 0)


def test_links_to_other_places_and_large_files_are_not_read(lore: Lore, machine: Machine) -> None:
    outside = machine.write("diary.md", "Dear diary")
    machine.note("port", PORT)
    link = machine.home / machine.memory / "diary.md"
    link.symlink_to(outside)
    large = machine.note("large", "tide " * 300_000)
    read = machine.read(lore)
    assert notes(lore).keys() == {"port"}
    assert read.failed == {
        str(link): "cannot be read: a link to a file outside the client's folder",
        str(large): "cannot be read: more than 1,048,576 bytes",
    }


def test_secrets_are_not_stored(lore: Lore, machine: Machine) -> None:
    machine.note("port", "The token is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8.")
    machine.read(lore)
    assert "[redacted" in notes(lore)["port"].content


@pytest.mark.parametrize("transcript", [True, False])
def test_the_project_is_that_of_the_transcripts_or_of_the_folder_that_exists(
    lore: Lore, machine: Machine, transcript: bool
) -> None:
    """The name of the folder does not tell `ferry.app` from `ferry/app`."""
    (machine.home / "work" / "ferry" / "app").mkdir(parents=True)
    machine.note("port", PORT)
    if transcript:
        folder = str(machine.home / "work" / "ferry" / "app")
        line = json.dumps({"type": "user", "cwd": folder})
        machine.write(machine.memory.parent / "one.jsonl", f"{line}\n")
        (machine.home / "work" / "ferry" / ".git").mkdir()
        machine.read(lore)
        assert notes(lore)["port"].project == str(machine.home / "work" / "ferry")
    else:
        (machine.home / "work" / "ferry" / "app").rmdir()
        machine.read(lore)
        assert notes(lore)["port"].project == machine.project


def test_notes_on_a_folder_that_is_gone_belong_to_no_other_project(lore: Lore, machine: Machine) -> None:
    machine.write(".claude/projects/-gone-ferry/memory/port.md", PORT)
    machine.read(lore)
    assert notes(lore)["port"].project == "/gone/ferry"


def test_a_client_does_not_get_what_it_loads_itself(lore: Lore, machine: Machine) -> None:
    machine.note("port", PORT)
    machine.read(lore)
    lore.embed_pending()
    prompt = "on which port does the harbour office answer?"
    here = replace(lore, project=machine.project)
    for actor, shown in (("claude-code", False), ("codex-mcp-client", True), ("", True)):
        asking = replace(here, actor=actor)
        assert ("agent's note (claude-code)" in asking.brief().text) is shown, actor
        assert bool(asking.remind(prompt).ids) is shown, actor
        assert any(hit.memory.content == PORT for hit in asking.search(prompt).hits)


def test_a_note_is_no_copy_of_a_tool_that_shows_its_own_file(lore: Lore, machine: Machine) -> None:
    os.utime(machine.note("port", PORT), (lore.clock(), lore.clock()))
    machine.read(lore)
    here = replace(lore, project=machine.project)

    def shown_after(output: str) -> bool:
        turn = Draft(content=output, kind=TURN, type="tool", session="s", project=machine.project)
        lore.remember(turn)
        return "agent's note" in replace(here, actor="codex").brief().text

    assert shown_after(f"Read: {machine.memory}/port.md\n{PORT}")
    assert not shown_after(f"WebFetch: example.org\n{PORT}")


def test_the_clients_whose_notes_are_read_are_sources_of_transcripts() -> None:
    assert set(CLIENTS) <= SOURCES.keys()

"""agent_notes: look at the files in which agents keep notes, again and again; read them when they change."""

import logging
from dataclasses import replace

from lore.doors.transcript_watcher import Transcripts
from lore.engine import Lore
from lore.engine.agent_files import NotesRead
from lore.transcripts import agent_files, ignore_rules
from lore.transcripts.agent_files import AgentFile

logger = logging.getLogger(__name__)


def found(where: Transcripts, unseen: dict[str, str] | None = None) -> list[AgentFile]:
    """The files of notes there. unseen: receives what cannot be looked at, and why."""
    problems = {} if unseen is None else unseen
    files = agent_files.find(where.sources, where.home, where.variables, problems)
    return [file for file in files if file.written_at >= where.since]


class AgentNotes:
    """The notes of the clients whose transcripts are read. A look at unchanged files opens none of them.

    failed: files that could not be read, and places that cannot be looked at, with the reasons.
    """

    def __init__(self, lore: Lore, where: Transcripts) -> None:
        self._lore = lore
        self._where = where
        self._seen: tuple[list[AgentFile], dict[str, str]] | None = None
        self.failed: dict[str, str] = {}

    def read(self, again: bool = False) -> NotesRead:
        """Read what is new or has changed since the last time, or all of it; forget what is gone."""
        where, unseen = self._where, dict[str, str]()
        files = found(where, unseen)
        if (files, unseen) == self._seen:
            return NotesRead()
        ignored = ignore_rules.load(where.ignore_list, where.home)
        read = self._lore.read_agent_files(files, [source.name for source in where.sources], ignored, again)
        failed = {**unseen, **read.failed}
        for path in failed.keys() - self.failed.keys():
            logger.warning("%s: %s", path, failed[path])
        self.failed = failed
        self._seen = None if read.failed else (files, unseen)
        return replace(read, failed=failed)

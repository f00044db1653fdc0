"""The part of the menu that is about files of the caller's repository; `Lore` inherits it."""

from collections.abc import Callable, Sequence

from lore.actions import Action
from lore.engine.cite import cite
from lore.engine.parts import Parts
from lore.engine.pitfalls import pitfalls
from lore.engine.verify import States, states_of, verify
from lore.model import Memory


class FileVerbs(Parts):
    """Verbs that compare memories with the working tree."""

    def citations(self, memories: Sequence[Memory]) -> States:
        """The files that these memories cite, each fresh, changed or gone; none outside of the repository."""
        return states_of(memories, self._context("citations").tree)

    def verify(self, paths: Sequence[str], report: Callable[[str, int, int], None]) -> States:
        """The citations of all memories of the repository, or those of some files and folders."""
        return verify(paths, self._context("verify"), report=report)

    def cite(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """Record the present content of the files that these memories cite; returns the ids."""
        return cite(ids, self._context("cite", reason))

    def pitfalls(self, action: Action) -> list[Memory]:
        """At most three memories that warn of an action; counts as no use."""
        return pitfalls(action, self._context("pitfalls"))

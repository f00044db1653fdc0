"""Whatever is done in whatever order, Lore agrees with a dictionary."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from lore import Draft, Filter, Invalid, Lore, NotFound, Query, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.model import Revision
from lore.store.values import Page

WORDS = st.lists(st.sampled_from("walrus penguin harbour vault key ice".split()), min_size=1, max_size=4)
TEXTS = WORDS.map(" ".join)


class AgainstADictionary(RuleBasedStateMachine):
    """The dictionary holds what is known, what is forgotten, and which ties are active."""

    memories = Bundle("memories")
    links = Bundle("links")

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.contents: dict[str, str] = {}
        self.forgotten: set[str] = set()
        self.ties: dict[str, tuple[str, str]] = {}
        self.lore = self._opened()

    def _opened(self) -> Lore:
        return wire(Config(data_dir=self.folder), embedder=HashEmbedder(), clock=self.clock)

    def teardown(self) -> None:
        if hasattr(self, "lore"):
            failed = [finding for finding in self.lore.check() if not finding.passed]
            self.lore.close()
            shutil.rmtree(self.folder)
            assert failed == []

    @property
    def known(self) -> set[str]:
        return self.contents.keys() - self.forgotten

    @rule(target=memories, content=TEXTS)
    def remember(self, content: str) -> str:
        memory = self.lore.remember(Draft(content=content))
        assert memory.id not in self.contents
        self.contents[memory.id] = content
        return memory.id

    @rule(target=memories, content=TEXTS, parent=memories)
    def remember_below(self, content: str, parent: str) -> object:
        try:
            memory = self.lore.remember(Draft(content=content, parent=parent, embed_now=True))
        except NotFound:
            assert parent in self.forgotten
            return multiple()
        assert parent in self.known
        assert self.lore.read(memory.id, use=False).parent == parent
        self.contents[memory.id] = content
        return memory.id

    @rule(id=memories, content=TEXTS)
    def revise(self, id: str, content: str) -> None:
        try:
            self.lore.revise(Revision(id=id, content=content))
        except NotFound:
            assert id in self.forgotten
        else:
            self.contents[id] = content

    @rule(target=links, source=memories, end=memories)
    def link(self, source: str, end: str) -> object:
        try:
            [link] = self.lore.link([Tie(source=source, target=end)])
        except Invalid:
            assert source == end
            return multiple()
        except NotFound:
            assert {source, end} & self.forgotten
            return multiple()
        self.ties[link.id] = (source, end)
        return link.id

    @rule(parent=memories, child=memories)
    def move(self, parent: str, child: str) -> None:
        try:
            self.lore.link([Tie(source=parent, target=child, kind="hierarchical")])
        except Invalid:
            way = self.lore.store.reader("shared").ancestors([parent]).get(parent, [])
            assert child in (parent, *way)
        except NotFound:
            assert {parent, child} & self.forgotten
        else:
            assert self.lore.read(child, use=False).parent == parent

    @rule(id=consumes(links))
    def unlink(self, id: str) -> None:
        assert self.lore.unlink([id]) == ([id] if id in self.ties else [])
        self.ties.pop(id, None)

    @rule(id=memories)
    def make_root(self, id: str) -> None:
        if id in self.known:
            ties = [link for link in self.lore.read(id, use=False).links if link.kind == "hierarchical"]
            self.lore.unlink([link.id for link in ties if link.target == id])
            assert self.lore.read(id, use=False).parent is None

    @rule(ids=st.lists(memories, max_size=3, unique=True))
    def forget(self, ids: list[str]) -> None:
        assert self.lore.forget(ids) == [id for id in ids if id in self.known]
        self.forgotten |= set(ids)

    @rule(ids=st.lists(memories, max_size=3, unique=True))
    def restore(self, ids: list[str]) -> None:
        assert set(self.lore.restore(ids)) == set(ids) & self.forgotten
        self.forgotten -= set(ids)

    @rule(id=memories)
    def read(self, id: str) -> None:
        try:
            reading = self.lore.read(id)
        except NotFound:
            assert id in self.forgotten
        else:
            assert reading.memory.content == self.contents[id]
            assert not set(reading.children) & self.forgotten

    @rule(text=TEXTS, deep=st.booleans(), policy=st.sampled_from(["lore", "tree", "scored"]))
    def search(self, text: str, deep: bool, policy: str) -> None:
        answer = self.lore.search(Query(text=text, deep=deep, policy=policy, limit=100))
        found = [hit.memory.id for hit in answer.hits]
        assert len(found) == len(set(found))
        assert set(found) <= self.known
        if policy == "lore":
            words = set(text.split())
            fitting = {self.contents[id] for id in self.known if words & set(self.contents[id].split())}
            assert {self.contents[id] for id in found} >= fitting  # of equal memories one is enough

    @rule()
    def embed_pending(self) -> None:
        self.lore.embed_pending()
        assert self.lore.status().pending == 0

    @rule(days=st.floats(-1, 100))
    def wait(self, days: float) -> None:
        self.clock.sleep(days=days)

    @precondition(lambda self: hasattr(self, "lore"))
    @rule()
    def reopen(self) -> None:
        self.lore.close()
        self.lore = self._opened()

    @precondition(lambda self: hasattr(self, "lore"))
    @invariant()
    def lore_agrees(self) -> None:
        reader = self.lore.store.reader("shared")
        stored = {memory.id: memory for memory in reader.select(Filter(), Page(limit=10_000))}
        assert stored.keys() == self.known
        assert all(memory.content == self.contents[id] for id, memory in stored.items())
        ways = reader.ancestors(stored)
        assert all(memory.depth == len(ways[id]) for id, memory in stored.items())
        assert {trace.id for trace in reader.traces(Filter(roots=True))} == {
            id for id, way in ways.items() if not way
        }
        active = {id for id, ends in self.ties.items() if set(ends) <= self.known}
        assert {link.id for link in reader.links(self.contents, ("associative",))} == active


TestAgainstADictionary = AgainstADictionary.TestCase
TestAgainstADictionary.settings = settings(
    max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)

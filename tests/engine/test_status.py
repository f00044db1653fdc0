"""status: where the data is, how much there is, whether all is well."""

from lore import Draft, Lore, Tie
from lore.clock import Clock
from lore.config import Config
from lore.version import VERSION


def test_an_empty_lore_says_that_it_is_empty(lore: Lore, config: Config) -> None:
    status = lore.status()
    assert (status.version, status.location) == (VERSION, str(config.database))
    assert (status.namespace, status.model) == ("shared", "hash/words/384")
    assert (status.counts.memories, status.embedded, status.pending) == (0, 0, 0)
    assert (status.embedding_state, status.error, status.last_write_at) == ("ready", "", None)
    assert status.size_bytes > 0


def test_a_status_counts_what_the_reader_sees(lore: Lore, clock: Clock) -> None:
    root = lore.remember(Draft(content="root", kind="topic"))
    child = lore.remember(Draft(content="child", parent=root.id))
    gone = lore.remember(Draft(content="gone"))
    lore.link([Tie(source=root.id, target=child.id)])
    lore.for_namespace("theirs").remember(Draft(content="theirs"))
    clock.sleep(hours=1)
    lore.forget([gone.id])
    lore.embed_pending()
    status = lore.for_namespace("mine").status()
    assert status.namespace == "mine"
    assert (status.counts.memories, status.counts.roots, status.counts.links) == (2, 1, 2)
    assert (status.counts.forgotten, status.counts.superseded) == (1, 0)
    assert status.counts.kinds == {"note": 1, "topic": 1}
    assert status.last_write_at == clock()


def test_asking_for_the_status_changes_nothing(lore: Lore) -> None:
    memory = lore.remember(Draft(content="walrus"))
    assert lore.status() == lore.status()
    assert lore.read(memory.id, use=False).memory == memory

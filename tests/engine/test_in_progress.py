"""The conversation that asks is no answer to its own questions."""

from dataclasses import replace

import pytest

from lore import Draft, Filter, Lore, Query
from lore.clock import Clock

QUESTION = Query(text="walrus on the ice", counted=False)
NOTE = "Not listed: 1 turn of the conversation in progress."


def turn(lore: Lore, session: str, **more: str) -> str:
    draft = Draft(content=f"the walrus of {session} is on the ice", kind="turn", session=session)
    return lore.remember(replace(draft, **more)).id  # type: ignore[arg-type]


def found(lore: Lore, query: Query = QUESTION) -> set[str]:
    return {hit.memory.id for hit in lore.search(query).hits}


def test_the_turns_of_the_conversation_that_asks_are_left_out_and_counted(lore: Lore) -> None:
    own, other = turn(lore, "mine"), turn(lore, "theirs")
    distilled = lore.remember(Draft(content="A walrus weighs a ton on the ice", session="mine")).id
    lore.embed_pending()
    asking = replace(lore, conversation="mine")
    assert found(lore) == {own, other, distilled}
    assert found(asking) == {other, distilled}
    assert asking.search(QUESTION).notes() == (NOTE,)
    assert found(asking, replace(QUESTION, where=Filter(sessions=frozenset({"mine"})))) == {own, distilled}


@pytest.mark.parametrize(
    ("written", "left_out"),
    [
        ({"source": "gemini", "project": "ferry"}, True),
        ({"source": "gemini"}, True),
        ({"source": "gemini", "project": "tug"}, False),
        ({"source": "codex", "project": "ferry"}, False),
    ],
    ids=["same client and project", "project unknown", "another project", "another client"],
)
def test_without_a_session_the_client_is_known_by_what_it_wrote_since_it_connected(
    lore: Lore, clock: Clock, written: dict[str, str], left_out: bool
) -> None:
    before = turn(lore, "before", source="gemini", project="ferry")
    clock.sleep(days=1)
    asking = replace(lore, project="ferry", actor="gemini-cli-mcp-client", connected_at=clock())
    clock.sleep(days=1)
    own = turn(lore, "running", **written)
    lore.embed_pending()
    assert found(asking) == ({before} if left_out else {before, own})
    assert asking.search(QUESTION).in_progress == int(left_out)

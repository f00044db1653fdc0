"""accounts: one for each conversation, as its turns stand, however they came and wherever they went."""

from dataclasses import replace
from pathlib import Path

import pytest

from lore import Filter, Lore, Query
from lore.clock import Clock
from lore.distil.account import account_id
from lore.engine.accounts import GROWING_SECONDS, due_accounts
from lore.engine.background import Accounting
from lore.engine.ingest import Ingested, ingest
from lore.model import ACCOUNT, Memory
from tests.engine.test_ingest import CLAUDE, SESSION, line, read

ASKED = "Why are mails lost when the worker is restarted?"
REPORTED = "Fixed the worker: it keeps its queue in `queue.db` now, so that no mail is lost."


def accounts(lore: Lore) -> list[Memory]:
    return lore.select(Filter(kinds=frozenset({ACCOUNT})), 10)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / f"{SESSION}.jsonl"
    file.write_bytes(line(1, ASKED) + line(2, REPORTED, "assistant"))
    return file


def test_a_conversation_that_is_read_has_an_account_which_grows_with_it(
    lore: Lore, clock: Clock, file: Path
) -> None:
    read(lore, file)
    [account] = accounts(lore)
    assert ASKED in account.content
    assert "keeps its queue" in account.content
    assert (account.session, account.trust, account.source) == (SESSION, 0.5, "claude-code")
    [reported] = account.metadata["done"]
    assert lore.read(reported["turns"][0]).memory.content == REPORTED

    clock.sleep(seconds=GROWING_SECONDS)
    with file.open("ab") as grown:
        grown.write(line(3, "Does the importer have the same fault?"))
        grown.write(line(4, "The importer was corrected, too: it lost every second row.", "assistant"))
    read(lore, file)
    [longer] = accounts(lore)
    assert longer.id == account.id
    assert "every second row" in longer.content


def test_one_that_grows_all_the_time_is_written_again_by_the_background(
    lore: Lore, clock: Clock, file: Path
) -> None:
    read(lore, file)
    with file.open("ab") as grown:
        grown.write(line(3, "The importer was corrected, too.", "assistant"))
    sum(ingest(file, CLAUDE, lore._context("ingest"), ignored=lambda folder: False, growing=True), Ingested())
    [account] = accounts(lore)
    assert "importer" not in account.content
    assert due_accounts(lore.store.reader(lore.namespace)) == [lore.read(account.id).parent]
    Accounting(lore.store, lore.namespace, lore.tenant).step(clock() + GROWING_SECONDS)
    [account] = accounts(lore)
    assert "importer" in account.content
    assert due_accounts(lore.store.reader(lore.namespace)) == []


def test_the_brief_says_how_the_last_conversation_ended(lore: Lore, file: Path) -> None:
    read(lore, file)
    [account] = accounts(lore)
    brief = replace(lore, project=account.project).brief()
    assert "## Last time (what the agents reported)" in brief.lines
    assert any("keeps its queue" in one and account.id[-8:] in one for one in brief.lines)


def test_it_goes_and_comes_back_with_its_conversation(lore: Lore, file: Path) -> None:
    read(lore, file)
    session = lore.read(accounts(lore)[0].id).parent
    assert session is not None
    lore.forget([session])
    assert accounts(lore) == []
    lore.restore([session])
    assert [one.id for one in accounts(lore)] == [account_id(session)]


def test_it_quotes_no_turn_that_was_forgotten_and_stays_forgotten_itself(
    lore: Lore, clock: Clock, file: Path
) -> None:
    read(lore, file)
    [answer] = [
        hit.memory for hit in lore.search(Query(text="queue worker")).hits if hit.memory.type == "assistant"
    ]
    lore.forget([answer.id])
    assert "keeps its queue" not in accounts(lore)[0].content
    lore.restore([answer.id])
    assert "keeps its queue" in accounts(lore)[0].content
    lore.forget([accounts(lore)[0].id])
    clock.sleep(days=1)
    Accounting(lore.store, lore.namespace, lore.tenant).step(clock())
    assert accounts(lore) == []

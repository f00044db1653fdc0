"""What a conversation leaves behind."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.base import Digest, Finding, Role, Spoken
from lore.distil.cues import MOST_OF_TURN
from lore.distil.digest import MOST_FINDINGS, digest

HOUR = 3600.0


def talk(*said: tuple[Role, str]) -> list[Spoken]:
    return [Spoken(number=number, role=role, text=text) for number, (role, text) in enumerate(said, start=1)]


def findings(digested: Digest) -> list[Finding]:
    return [finding for topic in digested.topics for finding in topic.findings]


def shell(number: int, line: str, output: str = "", failed: bool = False) -> Spoken:
    return Spoken(number=number, role="tool", text=f"Bash: {line}\n{output}", tool="Bash", failed=failed)


@pytest.mark.parametrize(
    "spoken",
    [
        [],
        talk(("user", "hi!"), ("assistant", "Hello! How can I help you today?"), ("user", "nothing, bye")),
        talk(("user", "run the tests"), ("assistant", "Let me run them."), ("assistant", "All tests pass.")),
        [shell(1, "ls"), shell(2, "pytest -q"), shell(3, "git status")],
    ],
    ids=["nothing", "small talk", "chatter", "tools"],
)
def test_what_will_not_matter_leaves_nothing(spoken: list[Spoken]) -> None:
    assert digest(spoken) == Digest()


def test_a_session_becomes_a_topic_with_its_findings() -> None:
    [topic] = digest(
        talk(
            ("user", "Please find out why the nightly import of orders is slow"),
            ("assistant", "The root cause is a missing index on orders.sold_at."),
            ("user", "Every night we import about 40,000 orders"),
            ("user", "We decided to drop no index like `orders.sold_at` without a review"),
        )
    ).topics
    assert topic.title == "Nightly import of orders"
    assert topic.overview.startswith("Nightly import of orders. We decided to drop no index")
    assert topic.turns == (1, 2, 3, 4)
    assert [(finding.type, finding.importance, finding.turns) for finding in topic.findings] == [
        ("decision", "high", (4,)),
        ("fact", "medium", (3,)),
    ]
    assert topic.findings[0].entities == ("orders.sold_at",)


@pytest.mark.parametrize("role", ["assistant", "summary", "tool"])
def test_only_the_words_of_users_are_kept(role: Role) -> None:
    spoken = talk(("user", "explain the worker"), (role, "Never use sleep in tests. We use `uv`, not pip."))
    assert digest(spoken) == Digest()


def test_a_name_in_every_topic_relates_none() -> None:
    spoken = [
        Spoken(number=n, role="user", text=f"We use the `moka` cache for part {n}.", at=n * 9 * HOUR)
        for n in range(1, 4)
    ]
    digested = digest(spoken)
    assert len(digested.topics) == 3
    assert digested.relations == ()


def test_no_two_findings_say_the_same() -> None:
    again = "never use sleep in the integration tests"
    assert len(findings(digest(talk(("user", again), ("user", f"please {again}!"))))) == 1


TABLES = [f"Never touch the {letter * 3} table." for letter in "abcdefghijklmnopqrst"]


def test_rules_that_differ_in_one_name_are_different() -> None:
    found = findings(digest(talk(*(("user", rule) for rule in TABLES[:3]))))
    assert [finding.text for finding in found] == TABLES[:3]


def test_a_topic_has_no_more_findings_than_can_be_read() -> None:
    spoken = talk(*(("user", "\n\n".join(TABLES[at : at + 4])) for at in range(0, 20, 4)))
    assert len(findings(digest(spoken))) == MOST_FINDINGS


def test_who_lays_down_many_rules_at_once_is_quoting() -> None:
    assert len(findings(digest(talk(("user", "\n\n".join(TABLES)))))) == MOST_OF_TURN


def test_a_command_that_took_two_tries_is_worth_a_topic_of_its_own() -> None:
    spoken = [
        shell(1, "pip install rich", "error: externally-managed-environment", failed=True),
        shell(2, "uv add rich"),
    ]
    [finding] = findings(digest(spoken))
    assert (finding.type, finding.importance, finding.turns) == ("command", "low", (1, 2))


def test_topics_that_share_a_rare_name_are_related() -> None:
    def day(hours: float, number: int, text: str) -> Spoken:
        return Spoken(number=number, role="user", text=text, at=hours * HOUR)

    digested = digest(
        [
            day(0, 1, "Always round prices with `total_of` in the shop."),
            day(9, 2, "We use the `moka` cache for sessions."),
            day(18, 3, "Never call `total_of` from a template."),
        ]
    )
    assert len(digested.topics) == 3
    assert [(one.first, one.second, one.text) for one in digested.relations] == [
        (0, 2, "Both speak of total_of.")
    ]


turns = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "tool", "summary"]),
        st.text(max_size=120)
        | st.sampled_from(
            [
                "no, the port is 8443",
                "We decided to use Postgres 16.",
                "The root cause is `a.b`.",
                "Bash: make test\nok",
                "never use sleep in tests",
            ]
        ),
        st.none() | st.floats(0, 1e6),
        st.booleans(),
    ),
    max_size=40,
)


@given(turns, st.integers(1, 30))
def test_any_conversation_has_a_digest_that_points_into_it(
    said: list[tuple[Role, str, float | None, bool]], max_turns: int
) -> None:
    spoken = [
        Spoken(
            number=number, role=role, text=text, at=at, failed=failed, tool="Bash" if role == "tool" else ""
        )
        for number, (role, text, at, failed) in enumerate(said, start=1)
    ]
    digested = digest(spoken, max_turns=max_turns)
    assert digested == digest(spoken, max_turns=max_turns)
    covered = [number for topic in digested.topics for number in topic.turns]
    assert covered == sorted(set(covered))
    for topic in digested.topics:
        assert topic.title
        assert topic.overview
        assert 0 < len(topic.findings) <= MOST_FINDINGS
        for finding in topic.findings:
            assert finding.text.strip()
            assert finding.turns
            assert set(finding.turns) <= set(topic.turns)
    for relation in digested.relations:
        assert 0 <= relation.first < relation.second < len(digested.topics)


def test_every_sentence_ends() -> None:
    found = findings(
        digest(talk(("user", "we always use uv in this repo"), ("user", "i prefer tabs, not spaces")))
    )
    assert found
    assert all(re.search(r"[.!?]$", finding.text) for finding in found)


CODING = talk(
    ("user", "what tickets are open?"),
    ("assistant", "Let me check the board. Now I'll list the tickets:"),
    ("user", "start with #3. you should not be editing the main workspace! fix the failing test first"),
    ("assistant", "I've updated `src/export.py` and the tests in `tests/test_export.py` pass now."),
    ("assistant", "The main issues are:"),
    ("user", "always run the linter before committing"),
    ("assistant", "The exports are stored in `~/.local/share/shop/exports`."),
    ("user", "commit and push"),
    ("assistant", "Committed as 3f2a1c9 and pushed to the branch."),
)


def test_of_a_coding_conversation_the_users_rules_are_kept() -> None:
    [topic] = digest(CODING).topics
    assert {(finding.type, finding.text) for finding in topic.findings} == {
        ("preference", "You should not be editing the main workspace!"),
        ("preference", "Always run the linter before committing."),
    }
    assert not topic.title.endswith("?")
    assert "what tickets" not in topic.overview.lower()

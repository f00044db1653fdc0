"""What a conversation leaves behind."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.base import Digest, Finding, Role, Spoken
from lore.distil.digest import MOST_FINDINGS, MOST_OF_TURN, digest

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
            ("user", "We decided to never drop indexes without a review"),
        )
    ).topics
    assert topic.title == "Nightly import of orders"
    assert topic.overview.startswith("Nightly import of orders. ")
    assert "missing index" in topic.overview
    assert topic.turns == (1, 2, 3)
    assert [(finding.type, finding.importance, finding.turns) for finding in topic.findings] == [
        ("outcome", "high", (2,)),
        ("preference", "high", (3,)),
    ]
    assert topic.findings[0].entities == ("orders.sold_at",)


def test_what_the_user_corrects_is_replaced_and_not_kept() -> None:
    found = findings(
        digest(
            talk(
                ("user", "document the reporting service"),
                ("assistant", "The reporting service listens on port 8080. It is written in Go 1.26."),
                ("user", "no, the service listens on 8443, 8080 is the health check"),
            )
        )
    )
    [correction] = [finding for finding in found if finding.type == "correction"]
    assert correction.text == "The service listens on 8443, 8080 is the health check."
    assert correction.replaces == "The reporting service listens on port 8080."
    assert correction.importance == "high"
    assert correction.replaces not in {finding.text for finding in found}


def test_a_no_to_a_question_corrects_nothing() -> None:
    spoken = talk(
        ("user", "rename the worker module"),
        ("assistant", "Shall I delete the old scheduler as well?"),
        ("user", "no, the alias has to stay for the plugins"),
    )
    assert [finding.type for finding in findings(digest(spoken))] == ["fact"]


def test_an_agent_that_changes_its_mind_corrects_nobody() -> None:
    spoken = talk(
        ("user", "which port has the service"),
        ("assistant", "The reporting service listens on port 8080."),
        ("assistant", "Actually the reporting service listens on port 8443."),
    )
    assert "correction" not in {finding.type for finding in findings(digest(spoken))}


def test_what_the_title_tells_already_is_no_finding_beside_others() -> None:
    request = "The billing worker listens on port 8080"
    assert [finding.text for finding in findings(digest(talk(("user", request))))] == [f"{request}."]
    spoken = talk(("user", request), ("user", "we decided to close that port"))
    assert [finding.type for finding in findings(digest(spoken))] == ["decision"]


def test_a_weak_statement_is_not_worth_keeping() -> None:
    assert digest(talk(("assistant", "The answer was 42 back then."))) == Digest()


def test_a_name_in_every_topic_relates_none() -> None:
    spoken = [
        Spoken(
            number=n, role="assistant", text=f"The part p{n} of `moka` holds {n}00 entries.", at=n * 9 * HOUR
        )
        for n in range(1, 4)
    ]
    digested = digest(spoken)
    assert len(digested.topics) == 3
    assert digested.relations == ()


def test_no_two_findings_say_the_same() -> None:
    again = "The worker polls the queue `jobs` every 500 ms."
    spoken = talk(("user", "explain the worker"), ("assistant", again), ("assistant", f"So: {again.lower()}"))
    assert len(findings(digest(spoken))) == 1


def test_what_points_elsewhere_is_left_out_or_told_with_its_topic() -> None:
    spoken = talk(
        ("user", "Explain the retry policy of the billing jobs"),
        ("assistant", "It runs `retry_job` on port 8080."),
        ("user", "that is too slow, we decided to retry only twice"),
    )
    [finding] = findings(digest(spoken))
    assert finding.text.startswith("[Retry policy of the billing jobs] That is too slow")


def test_a_topic_has_few_findings_and_keeps_the_important() -> None:
    facts = [("assistant", f"The host h{n} listens on port {8000 + n} in zone-{n}/rack.") for n in range(40)]
    spoken = talk(
        ("user", "list hosts"), *[("assistant", text) for _, text in facts], ("user", "I prefer IPv6 here")
    )
    found = findings(digest(spoken))
    assert len(found) <= MOST_FINDINGS
    assert found[0].type == "preference"


def test_the_surest_are_chosen_and_no_more_than_can_be_read() -> None:
    rules = [
        f"never touch {word}{word} in {word[::-1]}"
        for word in "ab cd ef gh ij kl mn op qr st uv wx yz".split()
    ]
    told = [*rules, *(f"we decided to keep {rule[-2:]}x{n} as y{n}" for n, rule in enumerate(rules))]
    assert len(findings(digest(talk(("user", "\n\n".join(told)))))) == MOST_FINDINGS
    hosts: list[tuple[Role, str]] = [
        ("assistant", f"The host h{n} is in zone z{n} of rack r{n}x.") for n in range(30)
    ]
    vpn = "The broker `b7` in deploy/b7.yaml is on port 5672 of host eu-1."
    assert vpn in {
        finding.text for finding in findings(digest(talk(("user", "list every host"), *hosts, ("user", vpn))))
    }


def test_a_command_that_took_two_tries_is_worth_a_topic_of_its_own() -> None:
    spoken = [
        shell(1, "pip install rich", "error: externally-managed-environment", failed=True),
        shell(2, "uv add rich"),
    ]
    [finding] = findings(digest(spoken))
    assert (finding.type, finding.importance, finding.turns) == ("command", "low", (1, 2))


def test_topics_that_share_a_rare_name_are_related() -> None:
    def day(hours: float, number: int, text: str) -> Spoken:
        return Spoken(number=number, role="assistant", text=text, at=hours * HOUR)

    digested = digest(
        [
            day(0, 1, "The function `total_of` lives in pricing.py."),
            day(9, 2, "The cache `moka` holds 900 entries."),
            day(18, 3, "The view calls `total_of` in line with api/views.py."),
        ]
    )
    assert len(digested.topics) == 3
    assert [(one.first, one.second, one.text) for one in digested.relations] == [
        (0, 2, "Both speak of total_of.")
    ]


def test_vectors_only_help_to_choose() -> None:
    spoken = talk(
        ("user", "explain the hosts"),
        ("assistant", "The host h1 listens on port 8001."),
        ("assistant", "The broker b7 runs in zone-2/rack."),
    )
    told = [
        Spoken(number=one.number, role=one.role, text=one.text, vector=np.eye(3, dtype=np.float32)[at])
        for at, one in enumerate(spoken)
    ]
    assert {finding.text for finding in findings(digest(told))} == {
        finding.text for finding in findings(digest(spoken))
    }
    asked: list[float] = []

    def likeness(cosine: float) -> float:
        asked.append(cosine)
        return 0.0

    digest(told, likeness)
    assert len(asked) == 3


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
    (
        "assistant",
        "The open tickets are:\n\n" + "\n".join(f"- #{n}: Add option {n} [TODO]" for n in range(8)),
    ),
    ("user", "start with #3. don't edit the main workspace! fix the failing test first"),
    ("assistant", "I've updated `src/export.py` and the tests in `tests/test_export.py` pass now."),
    ("assistant", "The main issues are:"),
    ("user", "always run the linter before committing"),
    ("assistant", "The exports are stored in `~/.local/share/shop/exports`."),
    ("user", "commit and push"),
    ("assistant", "Committed as 3f2a1c9 and pushed to the branch."),
)


def test_of_a_coding_conversation_the_users_rules_and_the_lasting_facts_are_kept() -> None:
    [topic] = digest(CODING).topics
    assert {(finding.type, finding.text) for finding in topic.findings} == {
        ("preference", "Don't edit the main workspace!"),
        ("preference", "Always run the linter before committing."),
        ("fact", "The exports are stored in `~/.local/share/shop/exports`."),
    }
    assert not topic.title.endswith("?")
    assert "what tickets" not in topic.overview.lower()
    assert not any(finding.text.rstrip(".").endswith(":") for finding in topic.findings)


def test_of_one_long_turn_only_the_most_definite_facts_are_kept() -> None:
    towns = ["Oslo", "Rome", "Bern", "Riga", "Kyiv", "Bonn", "Graz", "Lyon"]
    told = " ".join(f"The {town.lower()}ish depot {n} is run by {town}." for n, town in enumerate(towns))
    found = findings(
        digest(talk(("user", f"{told} The main depot in Turin has 40 trucks, 12 of them by MAN.")))
    )
    assert len(found) == MOST_OF_TURN
    assert any("Turin" in finding.text for finding in found)


def test_a_pasted_page_is_no_statement_of_the_user() -> None:
    menu = "\n".join(f"Our Service {n}\nBook Tour {n} in Rome" for n in range(20))
    page = f"{menu}\nThe Rome office has 12 guides and must be booked by phone.\n{menu}"
    assert findings(digest(talk(("user", page)))) == []

"""The newest first, where memories differ in nothing but the value that is asked for."""

import pytest

from lore.ranking.fresh import Dated, lifted, replaces

OLD, NEW = "The build server is called Heron.", "The build server is called Osprey."


def order(question: str, *texts: str) -> list[str]:
    """The texts, given best first and oldest first, as they stand in the end."""
    scores = {text: 1 - place / 10 for place, text in enumerate(texts)}
    risen = lifted(question, [Dated(text, text, float(at), scores[text]) for at, text in enumerate(texts)])
    return sorted(texts, key=lambda text: (-{**scores, **risen}[text], -texts.index(text)))


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("What is the build server called?", OLD, NEW),
        ("name of the server for builds", OLD, NEW),
        (
            "Whom is Ada Stone married to?",
            "Ada Stone is married to Bo Stone.",
            "Ada Stone is married to Kim.",
        ),
        ("Where do we meet?", "We meet on Mondays in room 4", "We meet on Mondays in the big hall"),
    ],
)
def test_the_newer_value_comes_first(question: str, older: str, newer: str) -> None:
    assert order(question, older, newer) == [newer, older]
    assert order(question, newer, older) == [older, newer]


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Is Heron the build server?", OLD, NEW),
        ("What was the build server called originally?", OLD, NEW),
        ("Which name did the build server have before?", OLD, NEW),
        ("capital", "The capital of Norland is Oster", "The capital of Sudland is Wester"),
        ("use tabs in Python files", "Use tabs in Python files", "Use tabs in Go files"),
        (
            "our tests",
            "Our tests run in parallel on every push",
            "Our tests run too slowly since the upgrade",
        ),
        ("heron", "Heron builds", "Heron deploys"),
        ("server", "The server is old", "A server is called Osprey"),
        ("server", OLD, OLD.lower()),
    ],
    ids=[
        "named",
        "originally",
        "before",
        "two subjects",
        "distinguished",
        "little alike",
        "short",
        "differs",
        "the same",
    ],
)
def test_what_differs_otherwise_keeps_its_place(question: str, first: str, second: str) -> None:
    assert order(question, first, second) == [first, second]


def test_the_newest_of_several_is_the_first() -> None:
    texts = [f"The build server is called {name}." for name in ("Heron", "Osprey", "Kite")]
    assert order("What is the build server called?", *texts) == texts[::-1]


def test_what_is_already_better_is_not_lifted() -> None:
    assert lifted("build server", [Dated("old", OLD, 1.0, 0.4), Dated("new", NEW, 2.0, 0.5)]) == {}


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("How long is a sprint?", "The sprint length is two weeks.", "We moved to three-week sprints."),
        ("Who is my manager?", "My manager is Theo.", "Priya became my manager in March."),
        (
            "What do we deploy with?",
            "We deploy with Ansible.",
            "Ansible is gone, deployments go through ArgoCD.",
        ),
    ],
)
def test_a_note_of_a_change_replaces_the_older_note(question: str, older: str, newer: str) -> None:
    assert replaces(question, older, newer)
    assert not replaces(question, newer, older)


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("How long is a sprint?", "The sprint length is two weeks.", "Sprint planning takes two hours."),
        (
            "What do the frontend tests run with?",
            "The frontend tests run with Vitest.",
            "The backend tests run with pytest now.",
        ),
        ("Where did Mia move?", "Mia moved to Berlin.", "Mia's parents moved to Vienna."),
        (
            "How often does the ETL job run?",
            "The ETL job runs every 6 hours.",
            "The ETL job now writes Parquet files.",
        ),
        (
            "What is the upload limit?",
            "The upload limit is 10 MB.",
            "We raised the upload limit for admins to 100 MB.",
        ),
        (
            "What reads the logs?",
            "Loki reads the logs.",
            "Vector now also reads the logs.",
        ),
    ],
    ids=["no change", "another subject", "another person", "no quantity", "a part", "one more"],
)
def test_a_note_about_something_else_replaces_nothing(question: str, older: str, newer: str) -> None:
    assert not replaces(question, older, newer)


def test_a_note_that_is_much_less_similar_to_the_question_replaces_nothing() -> None:
    pair = ("Who is my manager?", "My manager is Theo.", "Priya became my manager in March.")
    assert replaces(*pair, 0.3)
    assert not replaces(*pair, 0.4)

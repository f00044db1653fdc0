"""A memory that tells of a change answers in place of the older one, where both are about what is asked."""

import pytest

from lore.ranking.announced import replaces


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
def test_a_change_takes_the_place_of_what_it_changes(question: str, older: str, newer: str) -> None:
    assert replaces(question, older, newer)
    assert not replaces(question, newer, older)


def test_a_denial_takes_the_place_of_what_it_denies() -> None:
    liked, disliked = "Coffee is fine for me.", "Coffee is not fine for me."
    assert replaces("Is coffee fine?", liked, disliked)
    assert replaces("Is coffee fine?", disliked, liked)


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
def test_a_change_of_something_else_takes_no_place(question: str, older: str, newer: str) -> None:
    assert not replaces(question, older, newer)


def test_a_change_that_is_much_less_similar_to_the_question_takes_no_place() -> None:
    pair = ("Who is my manager?", "My manager is Theo.", "Priya became my manager in March.")
    assert replaces(*pair, 0.3)
    assert not replaces(*pair, 0.4)

"""Names in a text, without a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.entities import MOST, entities_of, plain_names, shared_rare


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The call `queue.ack` is too early", {"queue.ack"}),
        ("Look into src/shop/models.py and ./run.sh", {"src/shop/models.py", "./run.sh"}),
        ("call start_worker and wait_for_state()", {"start_worker", "wait_for_state()"}),
        ("the RetryStrategy and useQuery hooks", {"RetryStrategy", "useQuery"}),
        ("after uv add procrastinate it works", {"procrastinate"}),
        ('the state "pending review" is new', {"pending review"}),
        ("we asked Google Calendar and Postgres", {"Google Calendar", "Postgres"}),
        ("see https://www.example.org/a/b.html for it", {"example.org"}),
        ("ticket INV-482 is done", {"INV-482"}),
        ("Nothing is named here at all", set()),
        ("Die Liste ist für den Vertrieb und nicht für das Lager", set()),
        ("it needs --noEmit and --no_verify", set()),
        ("the API returns JSON over HTTP", set()),
    ],
)
def test_names_are_told_by_their_shape(text: str, names: set[str]) -> None:
    assert set(entities_of(text)) == names


def test_code_comes_before_names_and_what_is_said_twice_before_all() -> None:
    assert entities_of("ask Postgres for `job_id`") == ("job_id", "Postgres")
    assert entities_of("`one_name` and `job_id` and `job_id`")[0] == "job_id"


def test_a_part_of_another_name_is_no_name_of_its_own() -> None:
    assert entities_of("in `app/worker.py`, worker.py for short") == ("app/worker.py",)


def test_a_word_that_is_a_name_elsewhere_is_a_name() -> None:
    known = plain_names(["we tried `celery` with `a.b`", "and RabbitMQ"])
    assert known == {"celery", "rabbitmq"}
    assert entities_of("not celery again", known) == ("celery",)


def test_only_names_of_a_few_groups_are_shared_and_rare() -> None:
    groups = [["Redis", "uv"], ["redis", "uv", "redis"], ["uv", "Kafka"]]
    assert shared_rare(groups, 2) == {"redis": [0, 1]}


@given(st.text(max_size=300))
def test_any_text_has_a_few_different_names(text: str) -> None:
    names = entities_of(text)
    assert len(names) <= MOST
    assert len({name.lower() for name in names}) == len(names)

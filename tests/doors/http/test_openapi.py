"""The description of the API: it is up to date, it covers every verb, and answers keep to it."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from lore.doors.http.examples import EXAMPLES
from lore.doors.http.openapi import document
from lore.verbs import OVER_HTTP
from scripts.describe_api import TARGET, text
from tests.doors.http.guarded import Guarded, bearer, guarded

FIRST = ("remember", "remember_all", "introduce", "observe", "relate")
"""Verbs whose examples fill a store."""
VALIDATOR = import_module("jsonschema").Draft202012Validator
CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Guarded]:
    with guarded(tmp_path, allowed_hosts="testserver") as server:
        yield server


def test_the_stored_description_is_up_to_date() -> None:
    assert TARGET.read_text() == text(), "run python -m scripts.describe_api"


def test_the_description_has_every_verb_with_its_right_and_whether_it_may_be_repeated() -> None:
    operations = {path.rpartition("/")[2]: methods["post"] for path, methods in document()["paths"].items()}
    assert {
        name: (operation["x-right"], operation["x-repeatable"]) for name, operation in operations.items()
    } == {name: (verb.right, verb.repeatable) for name, verb in OVER_HTTP.items()}
    assert all(operation["summary"].endswith((".", ")")) for operation in operations.values())


def test_the_answer_to_every_example_fits_its_schema(server: Guarded) -> None:
    client = server.owner()
    assert client.get("/api/v1").json()["verbs"].keys() == OVER_HTTP.keys()
    described = client.get("/api/v1/openapi.json").json()
    for verb in (*FIRST, *OVER_HTTP):
        answer = client.post(f"/api/v1/{verb}", json=EXAMPLES.get(verb, {}))
        responses = described["paths"][f"/api/v1/{verb}"]["post"]["responses"]
        response = responses[str(answer.status_code)]
        if "$ref" in response:
            response = described["components"]["responses"][str(answer.status_code)]
        schema = {**response["content"]["application/json"]["schema"], "components": described["components"]}
        VALIDATOR(schema).validate(answer.json())
        assert answer.status_code in (200, 404), (verb, answer.json())


def test_the_api_keeps_to_its_description_whatever_it_is_sent(server: Guarded) -> None:
    """A few random calls; `python -m bench.api` makes many of each operation."""
    schema = schemathesis.openapi.from_dict(document())
    schema.app = server.app
    holder = bearer(server.token("fuzz", namespaces=("*",), rights=("admin",)))
    operations = [
        operation.ok().as_strategy() for operation in schema.get_all_operations() if isinstance(operation, Ok)
    ]
    assert len(operations) == len(OVER_HTTP)

    @settings(
        max_examples=40, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(case=st.sampled_from(operations).flatmap(lambda operation: operation))
    def keeps(case: Any) -> None:
        case.call_and_validate(checks=CHECKS, headers=holder)

    keeps()

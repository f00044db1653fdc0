"""openapi: the description of the API, generated from the table of verbs and the methods' signatures."""

from functools import cache
from inspect import getdoc
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema
from typing_extensions import override

from lore.doors.http import plain
from lore.doors.http.examples import EXAMPLES
from lore.doors.http.served import PARAMETERS
from lore.engine import Lore
from lore.verbs import OVER_HTTP, Verb
from lore.version import VERSION

PREFIX = "/api/v1"
SCHEMAS = "#/components/schemas"
DIALECT = "3.1.0"
ERRORS = {
    "400": "An argument is missing, unknown or of another type, or the store refuses its value.",
    "401": "The token is missing or not valid.",
    "403": "The token does not have this right or this namespace.",
    "404": "An id is unknown, forgotten, or not for this caller.",
    "408": "The rest of the body did not come.",
    "409": "The memory exists already; `existing` is its id.",
    "413": "The body is too large.",
    "415": "The body is not JSON, or in an unknown compression.",
    "421": "The server does not know the name in the header `Host` as its own.",
    "429": "Too many requests; `Retry-After` says when to come back.",
    "503": "The store or the model is not available.",
    "504": "The call did not end in time; the message says whether it may have been done.",
}
INTRODUCTION = (
    "The verbs of Lore, one address for each. Arguments are one JSON object; the answer is the result. The"
    " parameters of the address say where a call acts: in which namespace, project and session."
)


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of this version."""
    schemas = _schemas()
    results = {
        name: schemas.pop(plain.result_of(name).__name__)["properties"]["result"] for name in OVER_HTTP
    }
    return {
        "openapi": DIALECT,
        "info": {"title": "Lore", "version": VERSION, "description": INTRODUCTION},
        "paths": {
            f"{PREFIX}/{name}": {"post": _operation(name, verb, results[name])}
            for name, verb in OVER_HTTP.items()
        },
        "components": {
            "schemas": {**schemas, "Error": ERROR},
            "parameters": {name: _parameter(name, about) for name, about in PARAMETERS.items()},
            "responses": {status: _error(about) for status, about in ERRORS.items()},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "From `lore token create`; on the server's own machine none is needed.",
                }
            },
        },
        "security": [{"token": []}, {}],
    }


def summary_of(verb: str) -> str:
    """The first sentence about a verb."""
    return (getdoc(getattr(Lore, verb)) or "").partition("\n")[0]


ERROR: JsonSchemaValue = {
    "type": "object",
    "description": "Why a request was refused.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {
                "kind": {"type": "string", "examples": ["Invalid"]},
                "message": {"type": "string", "examples": ["search: query is missing"]},
                "existing": {"type": "string", "description": "The id of the memory that exists already."},
            },
        }
    },
}


class Schema(GenerateJsonSchema):
    """JSON Schema without titles that repeat names, with the range of integers and simple defaults only."""

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    @override
    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        return {**super().int_schema(schema), "format": "int64"}

    @override
    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return {**super().float_schema(schema), "format": "double"}

    @override
    def tuple_schema(self, schema: core_schema.TupleSchema) -> JsonSchemaValue:
        """Where all positions have the same type it is said once, which every reader understands."""
        described = super().tuple_schema(schema)
        positions = described.get("prefixItems", [])
        if positions and all(one == positions[0] for one in positions):
            described["items"] = described.pop("prefixItems")[0]
        return described

    @override
    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if isinstance(described.get("default"), dict):
            del described["default"]
        return described


def _schemas() -> dict[str, JsonSchemaValue]:
    """The schemas of the nouns, and of the arguments and the result of each verb, by name."""
    models = [model for name in OVER_HTTP for model in (plain.arguments_of(name), plain.result_of(name))]
    _, schemas = models_json_schema(
        [(model, "validation") for model in models],
        ref_template=f"{SCHEMAS}/{{model}}",
        schema_generator=Schema,
    )
    definitions: dict[str, JsonSchemaValue] = schemas["$defs"]
    return definitions


def _operation(name: str, verb: Verb, result: JsonSchemaValue) -> dict[str, Any]:
    arguments = plain.arguments_of(name)
    schema = {"$ref": f"{SCHEMAS}/{arguments.__name__}"}
    example = {"example": EXAMPLES[name]} if name in EXAMPLES else {}
    return {
        "operationId": name,
        "summary": summary_of(name),
        "description": getdoc(getattr(Lore, name)),
        "tags": [verb.right],
        "x-right": verb.right,
        "x-repeatable": verb.repeatable,
        "parameters": [{"$ref": f"#/components/parameters/{one}"} for one in PARAMETERS],
        "requestBody": {
            "required": any(field.is_required() for field in arguments.model_fields.values()),
            "content": {"application/json": {"schema": schema, **example}},
        },
        "responses": {
            "200": {"description": "The result.", "content": {"application/json": {"schema": result}}},
            **{status: {"$ref": f"#/components/responses/{status}"} for status in ERRORS},
        },
    }


def _parameter(name: str, about: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": about, "schema": {"type": "string"}}


def _error(about: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {"description": about, "content": content}

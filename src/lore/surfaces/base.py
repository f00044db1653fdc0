"""What a surface is: tools that translate arguments into verbs. The signature is the schema."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from lore.engine import Lore
from lore.errors import Invalid
from lore.surfaces.zod import invalid_arguments
from lore.text import listed, preview


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers: `data` for machines (one key set per tool), `text` in the dialect's own form."""

    data: Mapping[str, Any]
    text: tuple[str, ...] = ()

    def blocks(self) -> tuple[str, ...]:
        """The text blocks to send; without a form of its own, the data as JSON."""
        return self.text or (compact(self.data),)


class Arguments(BaseModel):
    """The arguments of a tool that has many, or an object among them: a function may take one whole."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """One function of a surface, with all that a door needs to offer it."""

    name: str
    title: str
    description: str
    function: Callable[..., Reply]
    arguments: type[BaseModel]
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    read_only: bool
    destructive: bool
    idempotent: bool
    aliases: tuple[str, ...] = ()
    drop_in: bool = False

    def __call__(self, lore: Lore, arguments: Mapping[str, Any]) -> Reply:
        """Check the arguments, then answer; LoreErrors carry the dialect's own words."""
        checked = self._checked(arguments)
        if isinstance(checked, Arguments):
            return self.function(lore, checked)
        return self.function(lore, **{name: getattr(checked, name) for name in self.arguments.model_fields})

    def _checked(self, arguments: Mapping[str, Any]) -> BaseModel:
        try:
            return self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            if self.drop_in:
                raise Invalid(invalid_arguments(self.name, error, self.input_schema)) from None
            raise Invalid(f"{self.name}: {_complaint(error, self.arguments)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something a client may read, and be told about when it has changed."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[Lore], str]
    mime_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Surface:
    """A dialect: a name, what an agent should know about it, and its tools in order.

    hint: the part of the instructions that an agent needs as well where several surfaces are offered.
    alone: its tools have the names of another surface's, so it is never part of `all`.
    adopts: an empty store begins with the graph in the file that the settings name.
    drop_in: mistakes are answered as by the server that it replaces: unknown arguments are ignored, and
    refusals have that server's words. differences: where it answers otherwise, and why, for its page.
    """

    name: str
    instructions: str
    hint: str = ""
    alone: bool = False
    adopts: bool = False
    drop_in: bool = False
    differences: tuple[str, ...] = ()
    tools: dict[str, Tool] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)

    def names(self) -> dict[str, Tool]:
        """Every name that a tool can be called by; only its own is listed."""
        return {name: tool for tool in self.tools.values() for name in (tool.name, *tool.aliases)}

    def offer(self, resource: Resource) -> None:
        """Let clients read something."""
        self.resources[resource.uri] = resource

    def tool(
        self,
        *,
        title: str,
        answer: type,
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        aliases: tuple[str, ...] = (),
    ) -> Callable[[Callable[..., Reply]], Callable[..., Reply]]:
        """Register a function under its own name; its docstring is the description."""

        def register(function: Callable[..., Reply]) -> Callable[..., Reply]:
            arguments = _arguments_of(function, "ignore" if self.drop_in else "forbid")
            self.tools[function.__name__] = Tool(
                name=function.__name__,
                title=title,
                description=inspect.cleandoc(function.__doc__ or ""),
                function=function,
                arguments=arguments,
                input_schema=_plain(arguments.model_json_schema()),
                output_schema=_outline(TypeAdapter(answer).json_schema()),
                read_only=read_only,
                destructive=destructive,
                idempotent=idempotent or read_only,
                aliases=aliases,
                drop_in=self.drop_in,
            )
            return function

        return register


def compact(data: Any) -> str:
    """JSON without waste: an agent pays for every character."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _arguments_of(function: Callable[..., Reply], extra: Literal["forbid", "ignore"]) -> type[BaseModel]:
    """The parameters after `lore`, as a model that checks them; a single one may be that model."""
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    whole = hints[parameters[0].name] if len(parameters) == 1 else None
    if inspect.isclass(whole) and issubclass(whole, Arguments):
        return whole
    fields: dict[str, Any] = {
        p.name: (hints[p.name], ... if p.default is p.empty else p.default) for p in parameters
    }
    return create_model(function.__name__, __config__=ConfigDict(extra=extra), **fields)


def _plain(schema: Any) -> Any:
    """The schema without titles, and optional values without the null that not every client understands."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1 and "default" in schema:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        return _plain({**options[0], **rest})
    return {
        key: {name: _plain(value) for name, value in item.items()} if key == "properties" else _plain(item)
        for key, item in schema.items()
        if key != "title"
    }


def _outline(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of an answer and their types: what a client can rely on, at a price it can bear."""
    properties = {name: _kind(value, schema) for name, value in schema["properties"].items()}
    return {"type": "object", "properties": properties, "required": list(schema.get("required", ()))}


def _kind(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in value:
        value = schema["$defs"][value["$ref"].rpartition("/")[2]]
    options = [_kind(option, schema).get("type") for option in value.get("anyOf", ())]
    if options:
        return {"type": options} if all(options) else {}
    return {"type": value["type"]} if "type" in value else {}


def _complaint(error: ValidationError, arguments: type[BaseModel]) -> str:
    """Each mistake in words, and what would be right."""
    known = listed(arguments.model_fields)
    sentences = []
    for mistake in error.errors(include_url=False, include_context=False):
        name = ".".join(map(str, mistake["loc"]))
        if mistake["type"] == "extra_forbidden":
            sentences.append(f"unknown argument {preview(name, 80)!r}; known: {known}")
        elif mistake["type"] == "missing":
            sentences.append(f"argument {name!r} is missing")
        else:
            given = preview(repr(mistake["input"]), 80)
            sentences.append(f"argument {name!r}: {mistake['msg'].lower()}, not {given}")
    return "; ".join(sentences)

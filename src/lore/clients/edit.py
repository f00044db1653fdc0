"""edit: the text of a client's file with Lore in it, and without."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import PurePath
from types import ModuleType
from typing import TypeAlias

from lore.clients import jsonc, toml
from lore.clients.jsonc import Json, Keys, at
from lore.clients.table import Client
from lore.errors import Invalid

HOOK = "lore-hook"
NO_SETTINGS = "const SETTINGS = {}"
"""The line of the code for a client's hooks that holds the settings of this installation."""
SERVER = "lore"
"""The name of the server: Lore knows its own tools in a transcript by it."""
_SERVER_PROGRAM = re.compile(r"(?:.*[\\/])?lore-mcp(?:\.exe)?|lore\.doors\.relay")
_HOOK_PROGRAM = re.compile(r"""(?:^|[\\/\s"'])(?:lore-hook(?:\.exe)?|lore\.doors\.hook)(?=["'\s]|$)""")

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SETTINGS = re.compile(r"^const SETTINGS = (\{.*?\});?\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Programs:
    """What clients run: the server with its arguments, and the hook with its settings, by variable.

    before_tools: the hook also runs before each use of a tool. join: makes a command line of words, as the
    shell of the platform reads them.
    """

    server: list[str]
    arguments: list[str]
    hook: list[str]
    settings: dict[str, str]
    before_tools: bool = False
    join: Callable[[Sequence[str]], str] = shlex.join

    def hook_line(self, event: str, present: str) -> str:
        """The command line of a hook. present: one that is there, whose settings stay but for new
        ones of the same name."""
        settings = [f"{name}={value}" for name, value in (_settings(present) | self.settings).items()]
        return self.join([*(["env", *settings] if settings else []), *self.hook, event])


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers in the text of a client's file."""

    client: Client
    format: ModuleType

    def present(self, text: str) -> bool:
        """Whether Lore is among them."""
        return bool(self.own(text))

    def add(self, text: str, programs: Programs) -> str:
        """The text with Lore. An entry that runs it already keeps its name, its other members and those
        of its flags that are not given anew."""
        name = next(iter(self.own(text)), SERVER)
        entry = self._all(text).get(name)
        present = _arguments(entry)
        if entry is not None and present is None:
            raise Invalid(f"another server is called {name!r}; rename or remove it first")
        command, *first = programs.server
        flags = _flags(present or []) | _flags(programs.arguments)
        shape = self.client.shape(command, [*first, *chain.from_iterable(flags.values())])
        if entry is None:
            return str(self.format.put(text, (*self.client.key, name), shape))
        for member, value in shape.items():
            text = self.format.put(text, (*self.client.key, name, member), value)
        return text

    def remove(self, text: str, original: str) -> str:
        """The text without Lore. original: the text before Lore came."""
        keep = _depth(self.format.parse(original), self.client.key)
        for name in self.own(text):
            text = self.format.drop(text, (*self.client.key, name), keep)
        return restored(text, original)

    def _all(self, text: str) -> Mapping[str, Json]:
        found = at(self.format.parse(text), self.client.key)
        return found if isinstance(found, Mapping) else {}

    def own(self, text: str) -> list[str]:
        """The names of those that run Lore."""
        return [name for name, entry in self._all(text).items() if _arguments(entry) is not None]


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks in the text of a client's file."""

    client: Client
    format: ModuleType

    def present(self, text: str) -> bool:
        """Whether Lore has hooks for all of the client's events."""
        return set(self.client.events) <= {keys[1] for keys in self.own(text)}

    def add(self, text: str, programs: Programs) -> str:
        """The text with Lore's hooks; one that is there gets the command line of now, or goes if its event is
        no longer wanted."""
        sibling = next((self._line(text, keys) for keys in self.own(text)), "")
        wanted = [*self.client.events, *([self.client.before_tool] if programs.before_tools else [])]
        while extra := [keys for keys in self.own(text) if keys[1] not in wanted]:
            text = self._drop(text, extra[0], {})
        there = {keys[1]: keys for keys in self.own(text)}
        for event in filter(None, wanted):
            if keys := there.get(event):
                line = programs.hook_line(event, self._line(text, keys))
                text = self.format.put(text, (*keys, "command"), line)
                continue
            line = programs.hook_line(event, sibling)
            hook: Json = {"type": "command", "command": line, "timeout": self.client.patience}
            place = len(_elements(at(self.format.parse(text), ("hooks", event))))
            text = self.format.put(text, ("hooks", event, place), {"hooks": [hook]})
        return text

    def remove(self, text: str, original: str) -> str:
        """The text without Lore's hooks. original: the text before Lore came."""
        before = self.format.parse(original)
        while own := self.own(text):
            text = self._drop(text, own[0], before)
        return restored(text, original)

    def _line(self, text: str, keys: Keys) -> str:
        return str(at(self.format.parse(text), (*keys, "command")))

    def _drop(self, text: str, keys: Keys, before: Json) -> str:
        """The text without one hook. before: the document before Lore came, whose parts stay."""
        if len(_elements(at(self.format.parse(text), keys[:-1]))) == 1:
            keys = keys[:3]  # the whole group: clients refuse one without hooks
        return str(self.format.drop(text, keys, _depth(before, keys[:2])))

    def own(self, text: str) -> list[Keys]:
        """The paths of Lore's hooks: hooks, event, group, hooks, hook."""
        return list(_own_hooks(at(self.format.parse(text), ("hooks",))))


@dataclass(frozen=True, slots=True)
class Module:
    """A file that Lore brings whole: the hooks of a client that loads code. source: its text."""

    source: str

    def own(self, text: str) -> list[str]:
        """The name of the program that it runs, if it is Lore's."""
        return [HOOK] if HOOK in text else []

    def present(self, text: str) -> bool:
        """Whether it is Lore's."""
        return bool(self.own(text))

    def add(self, text: str, programs: Programs) -> str:
        """The source, which runs the hook of this installation; settings stay but for new ones of the same
        name."""
        if text and not self.own(text):
            raise Invalid("this is the file of another plugin; rename or remove it first")
        command, *rest = programs.hook
        settings = json.dumps(_module_settings(text) | programs.settings)
        source = self.source.replace(NO_SETTINGS, NO_SETTINGS.replace("{}", settings))
        return source if rest else source.replace(f'"{HOOK}"', json.dumps(command))

    def remove(self, text: str, original: str) -> str:
        """The text before Lore came, if the file is Lore's."""
        return original if self.own(text) else text


Part: TypeAlias = Servers | Hooks | Module


def format_of(path: PurePath) -> ModuleType:
    """The module that edits a file, by the file's name."""
    return toml if path.suffix == ".toml" else jsonc


def is_on(text: str, path: PurePath, keys: Keys) -> bool:
    """Whether a switch is on in the text of a file."""
    return at(format_of(path).parse(text), keys) is True


def restored(text: str, original: str) -> str:
    """The original, if the text differs from it in white space alone."""
    return original if "".join(text.split()) == "".join(original.split()) else text


def _arguments(entry: Json) -> list[str] | None:
    """The arguments of `lore-mcp` in the entry of a server, None if it runs another program."""
    words = [*_words(at(entry, ("command",))), *_words(at(entry, ("args",)))]
    place = next((place for place, word in enumerate(words) if _SERVER_PROGRAM.fullmatch(word)), None)
    return None if place is None else words[place + 1 :]


def _words(value: Json) -> list[str]:
    return [value] if isinstance(value, str) else [str(word) for word in _elements(value)]


def _elements(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else []


def _own_hooks(events: Json) -> Iterator[Keys]:
    for event, groups in events.items() if isinstance(events, Mapping) else ():
        for place, group in enumerate(_elements(groups)):
            for inner, hook in enumerate(_elements(at(group, ("hooks",)))):
                command = at(hook, ("command",))
                if isinstance(command, str) and _HOOK_PROGRAM.search(command):
                    yield ("hooks", event, place, "hooks", inner)


def _flags(arguments: Sequence[str]) -> dict[str, list[str]]:
    """Arguments by flag: the words of each, itself and its value."""
    flags: dict[str, list[str]] = {}
    words: list[str] = []
    for word in arguments:
        if word.startswith("--") or not flags:
            words = flags[word.partition("=")[0]] = []
        words.append(word)
    return flags


def _settings(line: str) -> dict[str, str]:
    """The variables that a command line sets at its beginning, with `env` or without."""
    try:
        words = shlex.split(line)
    except ValueError:
        return {}
    if words and PurePath(words[0]).name == "env":
        words = words[1:]
    return dict(word.split("=", 1) for word in takewhile(_VARIABLE.match, words))


def _module_settings(text: str) -> dict[str, str]:
    """The settings in the code for a client's hooks."""
    found = _SETTINGS.search(text)
    try:
        return dict(json.loads(found[1])) if found else {}
    except ValueError as error:
        raise Invalid('SETTINGS is not JSON; write it as {"NAME": "value"}') from error


def _depth(value: Json, keys: Keys) -> int:
    """How many steps of a path exist."""
    return sum(at(value, keys[: length + 1]) is not None for length in range(len(keys)))

"""settings: every setting with its value, default, origin and help; changes go to config.toml, comments
stay."""

import os
import tomllib
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lore.clients import toml
from lore.config import (
    CHOICES,
    FILE_NAME,
    PATHS,
    SETTINGS,
    Config,
    Origin,
    keys_of,
    load,
    of_text,
    origins,
)
from lore.doors.http.body import read_json
from lore.doors.http.callers import Caller, Forbidden
from lore.doors.http.oauth import issuer_of
from lore.doors.http.openapi import PREFIX
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.http.transport import check_names, transport_options
from lore.durable import OWNER_FILE, write_durably
from lore.embed import MODELS
from lore.environment import variables
from lore.errors import Invalid, Unavailable
from lore.llm import LANGUAGE_MODELS, NONE
from lore.redact import redact
from lore.surfaces import surfaces_named
from lore.text import listed, preview
from lore.transcripts.sources import selected

PATH = f"{PREFIX}/settings"
HELP = Path(__file__).with_name("settings_help.toml")
FIXED = frozenset({"data_dir"})
"""Settings that the file cannot have."""
OF_THE_MACHINE = (
    *("server.", "llm.", "remote.", "database", "daemon."),
    *("memory_file_path", "import_roots", "encryption", "ingestion.", "namespace", "teams"),
)
"""How keys begin that say which programs run, which files are used, who may call, or who sees what the
user's own agents store."""
NOT_YOURS = "{name} is changed by the user of the server's machine: in config.toml, or with lore explorer"
TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "text": (str,),
    "path": (str,),
    "table": (dict,),
}
"""Type of a setting -> those of its values in JSON."""


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    door = SettingsDoor(served)
    return [Route("GET", PATH, "admin", door.show), Route("PUT", PATH, "admin", door.change)]


class SettingsDoor:
    """The settings of one server, and the file that has those of its next start."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._config = served.config
        self._path = served.config.data_dir / FILE_NAME
        self._writing = Lock()
        self._at_start = _values(load(variables(), data_dir=served.config.data_dir))

    async def show(self, request: Request, caller: Caller) -> Response:
        """Every setting."""
        caller.require_whole_store()
        view = await self._served.run("the settings", partial(self._view, caller), reading=True)
        return JSONResponse(view)

    async def change(self, request: Request, caller: Caller) -> Response:
        """Write settings to the file; null or an empty text restores the default."""
        caller.require_whole_store()
        body = await read_json(request, self._config.body_bytes)
        for name, value in body.items():
            _check_name(name, caller)
            _check_type(name, value)
        await self._served.run("the settings", partial(self._write, body), reading=False)
        return await self.show(request, caller)

    def _view(self, caller: Caller) -> dict[str, Any]:
        """Every setting. value: at the next start; used: by this process. restart: they differ."""
        used = _values(self._config)
        saved = _values(load(variables(), data_dir=self._config.data_dir))
        came_from = origins(variables(), self._config.data_dir)
        settings = []
        for section, names in _help().items():
            for name, about in names.items():
                flag = used[name] != self._at_start[name]
                settings.append(
                    {
                        "name": name,
                        "section": section,
                        "help": about,
                        "key": SETTINGS[name].key,
                        "type": _type(name),
                        "choices": _choices(name),
                        "value": _shown(saved[name]),
                        "used": _shown(used[name]),
                        "default": _shown(_defaults()[name]),
                        "origin": _origin(name, came_from, flag),
                        "restart": saved[name] != used[name] and not flag,
                        "writable": _is_writable(name, caller),
                    }
                )
        return {
            "file": str(self._path),
            "settings": settings,
            "restart": [one["name"] for one in settings if one["restart"]],
            "warnings": list(load(variables(), data_dir=self._config.data_dir).warnings),
        }

    def _write(self, values: Mapping[str, Any]) -> None:
        """Replace the file, if Lore could start with it."""
        with self._writing:
            try:
                text = self._path.read_text(encoding="utf-8")
                mode = self._path.stat().st_mode & 0o777
            except FileNotFoundError:
                text, mode = "", OWNER_FILE
            except (OSError, UnicodeDecodeError) as error:
                raise Unavailable(f"{self._path} cannot be read: {error}") from error
            new = changed(text, values)
            _check(of_text(new, self._path))
            if new == text:
                return
            try:
                target = Path(os.path.realpath(self._path))
                write_durably(target, new, mode=mode)
            except OSError as error:
                raise Unavailable(f"{self._path} cannot be written: {error.strerror}") from error


def changed(text: str, values: Mapping[str, Any]) -> str:
    """The text of a file with these settings; None, or an empty text, removes one."""
    for name, value in values.items():
        keys = [tuple(key.split(".")) for key in keys_of(text, name)]
        if value in (None, ""):
            for key in keys:
                text = toml.drop(text, key)
        else:
            for key in keys or [tuple(SETTINGS[name].key.split("."))]:
                text = toml.put(text, key, value)
    return text


def _check_name(name: str, caller: Caller) -> None:
    if name not in SETTINGS or name in FIXED:
        names = listed(one for one in SETTINGS if one not in FIXED)
        raise Invalid(f"there is no setting {name[:60]!r} in the file; known: {names}")
    if not _is_writable(name, caller):
        raise Forbidden(NOT_YOURS.format(name=name))


def _check_type(name: str, value: Any) -> None:
    kind = _type(name)
    fits = isinstance(value, TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")
    if value not in (None, "") and not fits:
        raise Invalid(f"{name} must be of the type {kind}, not {preview(repr(value), 40)}")


def _is_writable(name: str, caller: Caller) -> bool:
    return name not in FIXED and (caller.of_machine or not SETTINGS[name].key.startswith(OF_THE_MACHINE))


def _check(config: Config) -> None:
    """Invalid if Lore could not start with these settings."""
    check_names(config)
    transport_options(config)
    issuer_of(config)
    surfaces_named(config.surfaces)
    selected(config.ingest_sources)
    for name, choices in (
        ("embedding_model", tuple(MODELS)),
        ("llm_backend", ("", NONE, *LANGUAGE_MODELS)),
    ):
        if (value := _values(config)[name]) not in choices:
            raise Invalid(f"{name} must be one of {listed(filter(None, choices))}, not {value!r}")


# --- views
@cache
def _help() -> dict[str, dict[str, str]]:
    """Section -> setting -> one sentence about it."""
    return tomllib.loads(HELP.read_text(encoding="utf-8"))


@cache
def _defaults() -> dict[str, Any]:
    return _values(Config())


def _values(config: Config) -> dict[str, Any]:
    """Setting -> its value."""
    return {
        name: getattr(config.llm, one.llm) if one.llm else getattr(config, name)
        for name, one in SETTINGS.items()
    }


def _shown(value: Any) -> Any:
    """The value as JSON, without secrets that somebody wrote into it."""
    if isinstance(value, str | Path):
        return redact(str(value)).text
    if isinstance(value, Mapping):
        return {model: [price.tokens_in, price.tokens_out] for model, price in value.items()}
    return value


def _type(name: str) -> str:
    default = _defaults()[name]
    if name in PATHS:
        return "path"
    kinds = {bool: "boolean", int: "integer", float: "number", str: "text"}
    return kinds.get(type(default), "table")


def _choices(name: str) -> list[str]:
    own = {"embedding_model": tuple(MODELS), "llm_backend": tuple(LANGUAGE_MODELS)}
    return list(own.get(name) or CHOICES.get(name, ()))


def _origin(name: str, came_from: Mapping[str, Origin], flag: bool) -> str:
    return "flag" if flag else came_from.get(name, "default")

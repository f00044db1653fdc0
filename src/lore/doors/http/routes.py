"""routes: every route of the server is one value in a table, with the right that its caller needs.

The table is the only way to a route: the checks of access wrap each of its entries, so none can be left out.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from lore.doors.http.callers import Caller
from lore.verbs import Right

ROUTE = "lore.route"
"""Key of a request's scope: its entry in the table."""
Answer: TypeAlias = Callable[[Request, Caller], Awaitable[Response]]


class Route(NamedTuple):
    """One address and method. right: None for everybody, without a token. parameters: of the address, besides
    those that say where a request acts. most_bytes: limit of the body; 0: that of the settings."""

    method: str
    path: str
    right: Right | None
    answer: Answer
    parameters: tuple[str, ...] = ()
    most_bytes: int = 0

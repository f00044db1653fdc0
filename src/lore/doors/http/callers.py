"""callers: who sends a request, what they see and what they may do; and the errors of those who may not."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lore.errors import Invalid, LoreError
from lore.model import SHARED
from lore.store import DEFAULT_TENANT
from lore.verbs import Right

CALLER, REASON = "lore.caller", "lore.reason"
"""Keys of a request's scope: its caller, and the reason why it was refused; both for the audit."""
EVERY_NAMESPACE = "*"
"""Among the namespaces of a caller: it may act in all of its tenant."""
SCOPE = "lore:"
"""Begins the name of a right where OAuth carries it: `lore:read`."""


NOT_WHOLE_STORE = (
    "this is about the whole store: it needs a token of every namespace of the default tenant"
    " (lore token create NAME --right admin --namespace '*')"
)


class Refused(LoreError):
    """The server does not answer this caller. headers: of the refusal."""

    def __init__(self, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.headers = dict(headers or {})


class Unauthenticated(Refused):
    """The request has no token, or one that is not valid.

    invalid: it has one. why: the reason for the audit; the caller must not learn whether a token exists.
    """

    def __init__(self, message: str, *, invalid: bool = False, why: str = "") -> None:
        challenge = f'Bearer error="invalid_token", error_description="{message}"' if invalid else "Bearer"
        super().__init__(message, {"WWW-Authenticate": challenge})
        self.why = why or message


class Forbidden(Refused):
    """The caller is known, but may not do this. right: the one that it lacks, if that is the reason."""

    def __init__(self, message: str, right: Right | None = None) -> None:
        challenge = f'Bearer error="insufficient_scope", scope="{SCOPE}{right}"'
        super().__init__(message, {} if right is None else {"WWW-Authenticate": challenge})


class TooMany(Refused):
    """The caller sends more requests than it may. seconds: until it may send the next one."""

    def __init__(self, seconds: float) -> None:
        wait = max(1, math.ceil(seconds))
        super().__init__(f"too many requests; wait {wait} s", {"Retry-After": str(wait)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sends a request. name: of the token; empty for the user of this machine.

    id: of the token, or of the issuer's user. namespaces: what it sees besides `shared`; it acts in the first
    unless the request names another of them. of_machine: the user of this machine.
    """

    name: str = ""
    id: str = ""
    tenant: str = DEFAULT_TENANT
    namespaces: tuple[str, ...] = (SHARED,)
    rights: frozenset[Right] = frozenset()
    of_machine: bool = False

    @property
    def whole_store(self) -> bool:
        """Whether its rights are for the whole store: every namespace of the default tenant."""
        return self.tenant == DEFAULT_TENANT and EVERY_NAMESPACE in self.namespaces

    def may(self, right: Right) -> bool:
        """Whether the caller has this right; `admin` includes the others."""
        return right in self.rights or "admin" in self.rights

    def require(self, right: Right) -> None:
        """Forbidden unless the caller has this right."""
        if not self.may(right):
            yours = ", ".join(sorted(self.rights)) or "none"
            raise Forbidden(f"this needs the right {right!r}; yours: {yours}", right)

    def require_whole_store(self) -> None:
        """Forbidden unless its rights are for the whole store: what follows is about the memories of all."""
        if not self.whole_store:
            raise Forbidden(NOT_WHOLE_STORE)

    def require_default_tenant(self) -> None:
        """Forbidden to the callers of a tenant: what follows counts what all do, and shows no memory."""
        if self.tenant != DEFAULT_TENANT:
            raise Forbidden("these figures are of the whole server; a token of a tenant does not allow them")

    def namespace(self, wanted: str = "") -> str:
        """The namespace to act in. wanted: by the request; empty for the first one."""
        if wanted == EVERY_NAMESPACE:
            raise Invalid(f"a request acts in one namespace; name it in place of {EVERY_NAMESPACE!r}")
        if wanted and EVERY_NAMESPACE not in self.namespaces and wanted not in (*self.namespaces, SHARED):
            yours = ", ".join(dict.fromkeys((*self.namespaces, SHARED)))
            raise Forbidden(f"namespace {wanted[:100]!r} is not yours; yours: {yours}")
        return wanted or next((name for name in self.namespaces if name != EVERY_NAMESPACE), SHARED)


MACHINE = Caller(
    namespaces=(SHARED, EVERY_NAMESPACE), rights=frozenset({"read", "write", "admin"}), of_machine=True
)
"""The user of this machine."""

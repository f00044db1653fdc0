"""patterns: regular expressions that are compiled when they are first used, so that programs start faster."""

import re
from typing import Any, AnyStr, cast

METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")


class Uncompiled:
    """Stands for a pattern until somebody uses it; from then on it has the methods of the compiled one."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = self.compiled()
        for method in METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)

    def compiled(self) -> "re.Pattern[Any]":
        """The pattern itself."""
        return re.compile(self.pattern, self._flags)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, but compiled when first used."""
    return cast(re.Pattern[AnyStr], Uncompiled(pattern, flags))

"""Injection: memories that are handed to an agent unasked, as frozen values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What an agent should know at the start of a conversation. Empty where there is nothing to say.

    lines: the text by lines, with headings. ids: of the memories in it. tokens: about its cost to a model.
    """

    lines: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    tokens: int = 0

    @property
    def text(self) -> str:
        """All lines; empty without any."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """The few memories that help with one prompt. The first line introduces them.

    lines: the text by lines. ids: of the memories in it, to be passed as `shown` with the next prompt.
    """

    lines: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All lines; empty without any."""
        return "\n".join(self.lines)

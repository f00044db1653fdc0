"""Trust: how far a statement that a language model wrote is the user's, an agent's, or only a tool's word."""

from collections.abc import Iterable, Sequence

from lore.engine.said import copies, says
from lore.model import AGENT_TRUST, STORED_TRUST, Memory

ASSISTANT_TRUST, TOOL_TRUST = 0.5, 0.2
USERS_WORD = frozenset({"decision", "rule"})
"""Types of statements that can be the user's word; others only follow from what the user says."""


def trust_of(text: str, type: str, cited: Sequence[Memory], turns: Iterable[Memory]) -> float:
    """The trust of the best turn that an item cites, as far as that turn supports it.

    The user's word is a decision or rule with most of its words in a turn of the user's that it cites. What
    stands word for word in the output of a tool, and is not the user's word, is the tool's, whatever it
    cites. turns: all of the conversation.
    """
    users = [turn for turn in cited if turn.type == "user"]
    agents = [turn for turn in cited if turn.type in ("assistant", "summary")]
    supported = [turn for turn in users if turn.trust >= STORED_TRUST and says(turn.content, text)]
    if supported and type in USERS_WORD:
        return STORED_TRUST
    if not supported and any(turn.type == "tool" and copies(_result(turn), text) for turn in turns):
        return TOOL_TRUST
    if users:
        return min(AGENT_TRUST, max(turn.trust for turn in users))
    if agents:
        return min(ASSISTANT_TRUST, max(turn.trust for turn in agents))
    return min((turn.trust for turn in cited), default=TOOL_TRUST)


def _result(turn: Memory) -> str:
    """The output of a tool, without the call: that is the agent's."""
    return turn.content.partition("\n")[2]

"""Trust: how far a statement that a language model wrote is the user's, an agent's, or only a tool's word."""

from collections.abc import Iterable, Sequence

from lore.engine.said import copies, says
from lore.model import AGENT_TRUST, STORED_TRUST, Memory

ASSISTANT_TRUST, TOOL_TRUST = 0.5, 0.2
USERS_WORD = frozenset({"decision", "rule"})
"""Types of statements that can be the user's word; others only follow from what the user says."""


def trust_of(text: str, type: str, cited: Sequence[Memory], *, copied: bool) -> float:
    """The trust of the best turn that an item cites, as far as that turn supports it.

    The user's word is a decision or rule with most of its words in a turn of the user's that it cites. What
    stands word for word in the output of a tool (copied), and is not the user's word, is the tool's,
    whatever it cites.
    """
    users = [turn for turn in cited if turn.type == "user"]
    agents = [turn for turn in cited if turn.type in ("assistant", "summary")]
    supported = any(turn.trust >= STORED_TRUST and says(turn.content, text) for turn in users)
    if supported and type in USERS_WORD:
        return STORED_TRUST
    if copied and not supported:
        return TOOL_TRUST
    if users:
        return min(AGENT_TRUST, max(turn.trust for turn in users))
    if agents:
        return min(ASSISTANT_TRUST, max(turn.trust for turn in agents))
    return min((turn.trust for turn in cited), default=TOOL_TRUST)


def copied_from_tools(texts: Iterable[str], turns: Iterable[Memory]) -> frozenset[str]:
    """Those of the texts that stand, word for word, in the output of a tool among these turns."""
    texts = list(texts)
    outputs = (_result(turn) for turn in turns if turn.type == "tool")
    return frozenset(text for output in outputs for text in texts if copies(output, text))


def _result(turn: Memory) -> str:
    """The output of a tool, without the call: that is the agent's."""
    return turn.content.partition("\n")[2]

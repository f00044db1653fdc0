"""Closing: the report in which an agent says what came of a prompt, cut to its statements."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from lore.distil.base import Spoken
from lore.distil.cues import IMPERATIVE, asks
from lore.distil.phrases import content_words, pattern
from lore.distil.sentences import sentences_of
from lore.distil.titles import ended
from lore.patterns import regex
from lore.ranking.relate import shared_words
from lore.text import preview

HEADLINE, HEADLINE_WORDS = 1.2, 4
LAST_PROMPTS = 16
"""Prompts whose closing messages are read: what came earlier has mostly been overtaken."""
LAST_MESSAGES = 4
"""Messages before the user's next prompt of which the last with a sentence counts."""
OWN_CHARACTERS = 300
"""A prompt of fewer characters is the user's own."""
MOST_SENTENCES = 4
READ_CHARACTERS = 12_000
"""Characters of a message that are read."""
SENTENCES_READ = 40
REPORT = 2.0
"""The worth from which on a sentence says what came of the work."""
WANTED, MOST_WANTED = 0.3, 3
"""The worth of each word that a sentence shares with what the user asked for, and how many count."""
DISPUTE_CHARACTERS = 200
LAST_SENTENCES = 4
"""Sentences at the end of a message, of which one may say what is left."""
REPEATED = 0.6
"""Two statements that share this much of their words say the same."""
_HEADING = regex(r"^\s{0,3}(?:#{1,6}\s+(?P<marked>.{1,120}?)#*\s*|(?P<bold>\*\*[^*\n]{2,90}\*\*:?)\s*)$")
_DECORATION = regex(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u23e9-\u23fa\ufe0f\u200d\u20e3]"
    r"|^\s*[-*]\s*\[[ xX]\]\s*"
)
_HALF_BOLD = regex(r"(?<=[-*+] )\*\*(?=[^*\n]*`)|(?<=\d\. )\*\*(?=[^*\n]*`)|(?<=`)\*\*|(?<=\w)\*\*(?=:? )")
"""Marks of bold text around code, which no rule for prose removes."""
_NUMBER = regex(r"^\W*\d{1,2}[.)]\s*")
_NAMED = regex(r"`[^`\n]+`|\b\w+[./_]\w[\w./-]*")
_DETACHED = regex(r"^(?!During|Regarding|According|Following|Nothing|Everything|Something)[A-Z][a-z]+ing\b")
"""The beginning of an item whose list says what it means."""
_NAMING = regex(r"(?:what|how|why|where|key|summary|list|the|files?|changes|current)\b", re.IGNORECASE)
"""How headings begin that only name what follows."""
_INTRODUCED = regex(r":[ \t]*\n+[ \t]*```\w*[ \t]*\n[ \t]*([^\n`]{2,90})\n[ \t]*```")
"""A sentence that ends in a colon, and a block of code of one line below it."""
_MARKS = str.maketrans("", "", "*_`#>|")
_QUESTION = regex(r"[?？][\"'”’)]*\s*$")


@dataclass(frozen=True, slots=True)
class Section:
    """Some lines of a message below their heading, which may be empty."""

    heading: str
    text: str


@dataclass(frozen=True)
class Closing:
    """The last message of the agent before the user's next prompt.

    prompt: what it answers. disputed: the user's next prompt says that it is wrong. last: no prompt follows.
    wanted: the words of what the user asked for in the conversation; a sentence about them is worth more.
    """

    turn: int
    text: str
    prompt: Spoken
    disputed: bool = False
    last: bool = False
    wanted: frozenset[str] = frozenset()

    @cached_property
    def statements(self) -> list[tuple[float, str]]:
        """The sentences that report something, each with its worth, in their order."""
        found: list[tuple[float, str]] = []
        for section in sections_of(self.text):
            if pattern("remaining").match(section.heading):
                continue
            if _is_headline(section.heading):
                found.append((REPORT + HEADLINE, section.heading))
            summing = 1.0 if pattern("summing").match(section.heading) else 0.0
            for sentence in sentences_of(section.text)[: SENTENCES_READ - len(found)]:
                worth = worth_of(sentence, len(found), self._answers) + summing
                about = min(MOST_WANTED, len(content_words(sentence) & self.wanted))
                found.append((worth + WANTED * about, sentence.replace("**", "").strip("* ")))
        return [(worth, sentence) for worth, sentence in found if worth > 0]

    @property
    def _answers(self) -> bool:
        """Whether it answers a question: then what one can do is an answer."""
        prompt = self.prompt.text[:DISPUTE_CHARACTERS]
        return asks(prompt) or bool(pattern("wanting to know").search(prompt))

    @property
    def is_report(self) -> bool:
        """Whether one of its sentences says what came of the work."""
        return bool(self.statements) and max(self.statements)[0] >= REPORT

    @property
    def worth(self) -> float:
        """How much of a report it is: that of its best two sentences."""
        return sum(sorted((worth for worth, _ in self.statements), reverse=True)[:2])

    def summary(self, most: int, foreign: str = "") -> str:
        """Its best sentence, and the next best ones that fit and say something else, in their order.

        foreign: words of tools and of pasted texts, in the form of `plain_words`; a sentence that repeats
        them is not the agent's.
        """
        ranked = sorted(enumerate(self.statements), key=lambda one: (-one[1][0], one[0]))
        chosen: dict[int, str] = {}
        for place, (worth, sentence) in ranked[:SENTENCES_READ]:
            if len(chosen) == MOST_SENTENCES:
                break
            if plain_words(sentence) in foreign:
                continue
            size = sum(len(one) + 2 for one in chosen.values())
            if not chosen:
                chosen[place] = preview(sentence, most)
            elif worth >= REPORT and size + len(sentence) < most and is_new(sentence, chosen.values()):
                chosen[place] = sentence
        return " ".join(ended(chosen[place]) for place in sorted(chosen))

    def left(self) -> list[str]:
        """What it says is still to be done: below a heading of that name, else in its last sentences."""
        sections = sections_of(self.text)
        below = [
            sentence
            for section in sections
            if pattern("remaining").match(section.heading)
            for sentence in sentences_of(section.text)
        ]
        if below:
            return [one for one in below if not _idle(one)]
        sentences = [one for section in sections for one in sentences_of(section.text)]
        return [one for one in sentences[-LAST_SENTENCES:] if pattern("left").search(one) and not _idle(one)]


def closings_of(spoken: Sequence[Spoken], wanted: str) -> list[Closing]:
    """The closing messages of the last prompts, in order; none for one that only tools have answered.

    wanted: what the user asked for in the conversation.
    """
    prompts = [place for place, turn in enumerate(spoken) if is_prompt(turn)]
    found: list[Closing] = []
    for begin, end in pairwise([*prompts[-LAST_PROMPTS:], len(spoken)]):
        answers = [turn for turn in spoken[begin:end] if turn.role == "assistant" and turn.text.strip()]
        last = end == len(spoken)
        disputed = not last and bool(pattern("disputing").search(spoken[end].text[:DISPUTE_CHARACTERS]))
        words = content_words(wanted)
        messages = (
            Closing(one.number, _plain(one.text), spoken[begin], disputed, last, words)
            for one in reversed(answers[-LAST_MESSAGES:])
        )
        said = next((one for one in messages if one.statements), None)
        found += [said] if said else []
    return found


def is_prompt(turn: Spoken) -> bool:
    """Whether the user begins something: an answer to a question of the agent does not."""
    return turn.role == "user" and not turn.tool


def foreign_words(spoken: Iterable[Spoken]) -> str:
    """What tools gave back and what the user has pasted, in the form of `plain_words`."""
    results = (turn.text.partition("\n")[2] for turn in spoken if turn.role == "tool")
    pasted = (turn.text for turn in spoken if turn.role == "user" and len(turn.text) > OWN_CHARACTERS)
    return plain_words("\n".join((*results, *pasted)))


def plain_words(text: str) -> str:
    """In lower case, with one space between words and no marks of Markdown."""
    return " ".join(text.lower().translate(_MARKS).split())


def sections_of(text: str) -> list[Section]:
    """A message by its headings; a line that is bold as a whole is one."""
    found: list[Section] = []
    heading = ""
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if not fenced and (match := _HEADING.match(line)):
            found.append(Section(heading, "\n".join(lines)))
            heading = _NUMBER.sub("", (match["marked"] or match["bold"]).strip("* :#")).strip()
            lines = []
        else:
            lines.append(line)
    found.append(Section(heading, "\n".join(lines)))
    return [one for one in found if one.text.strip()]


def _is_headline(heading: str) -> bool:
    """Whether a heading says what came of the work, as `All tests pass now` does."""
    if len(heading.split()) < HEADLINE_WORDS or _NAMING.match(heading):
        return False
    return bool(pattern("reporting").search(heading))


def worth_of(sentence: str, place: int, answers: bool = False) -> float:
    """How much a sentence says about what came of the work.

    place: among the sentences of its message. answers: its message answers a question.
    """
    if pattern("intending").match(sentence) or _QUESTION.search(sentence):
        return -1.0
    worth = REPORT if pattern("reporting").search(sentence) else 0.5
    worth -= 2.5 if pattern("hollow").match(sentence) else 0.0
    worth += 0.6 if pattern("concluding").search(sentence) else 0.0
    worth -= 1.5 if _DETACHED.match(sentence) or (not answers and IMPERATIVE.match(sentence)) else 0.0
    worth -= 1.5 if not answers and pattern("supposing").search(sentence) else 0.0
    worth += 0.6 if _NAMED.search(sentence) else 0.0
    return worth + max(0.0, 0.8 - 0.2 * place) + min(len(sentence), 160) / 320


def _idle(sentence: str) -> bool:
    return bool(pattern("hollow").match(sentence) or _QUESTION.search(sentence))


def is_new(sentence: str, others: Iterable[str]) -> bool:
    """Whether none of the others says the same in much the same words."""
    ours = content_words(sentence)
    return all(shared_words(ours, content_words(other)) < REPEATED for other in others)


def _plain(text: str) -> str:
    """A message without small pictures, and with a command of one line in the sentence that introduces it."""
    return _INTRODUCED.sub(r": `\1`.\n", "\n".join(_lines(text[:READ_CHARACTERS])))


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        bare = _DECORATION.sub("", line)
        yield _HALF_BOLD.sub("", bare if bare == line else bare.replace("#  ", "# ").rstrip())

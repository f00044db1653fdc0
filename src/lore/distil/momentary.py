"""Momentary: wording of demands, praise and guesses, which hold for the moment only.

Data for `cues` and `titles`, by the form of a sentence rather than by lists of verbs.
"""

import re

from lore.distil.phrases import alternatives, beginning, within
from lore.text import STOP_WORDS

URGENT = within("""
        now | immediately | right away | asap | at once | (?:don't|stop|not) just
        (?:don't|stop|let's not) (?:tell|ask|show|wait|paus|say|giv|wast|offer|make me)(?:e|ing)?
        (?:don't|stop|let's|to) (?:\\w+ )?\\w+ (?:this|it|these|them)(?! \\w+ (?:is|are|in|on|to|for|from))
""")
"""A demand for the moment: it is urgent, it names only "this" or "it", or it is about how to answer."""
REPEATED = within("""
    always | never | from now on | in future | in the future | next time | going forward | whenever
    every time
    each time | before (?:each|every|any) | immer | niemals | ab jetzt | toujours | jamais | siempre
    nunca | sempre
""")
"""Words that make a demand a rule."""
CONJECTURE = re.compile(
    r"\bmust (?:have been|be the \w+est\b"
    r"|(?:be|feel)(?: so| very| really| quite)* (?:\w+ing|hard|tough|nice)\b)",
    re.IGNORECASE,
)
"""A guess or sympathy in the words of a rule."""
_NO_VERB = STOP_WORDS - {"do"} | frozenset(
    """since given like during despite without within unless whether although though behind beside between
        against across along among around except inside near per regarding toward towards upon via whenever
        wherever today yesterday tomorrow both half even never always maybe what everything das""".split()
)
_OBJECT = "the|a|an|my|our|your|me|us|it|this|that|these|those|them|if|whether|all|any|each|every|some|more"
IMPERATIVE = re.compile(
    rf"^\W*(?:(?:please|pls|kindly|bitte)\W+(?!(?:{_OBJECT}|i|we)\b)\w|(?:i|we) (?:need|want) you to\b"
    r"|(?:do not|don['’]?t|stop|avoid) \w"
    rf"|(?!(?:{'|'.join(sorted(_NO_VERB))})\b)[a-z]{{3,}}(?<!s)(?<!ing)(?<!ed)(?<!ly)"
    rf"(?: (?:up|out|down|off|on))? (?:{_OBJECT})\b)",
    re.IGNORECASE,
)
"""An order by its form: `please` and a verb, or a word without an ending right before its object."""
EVALUATING = re.compile(
    r"(?:\b(?:is|are|was|were|be|sounds?|looks?|feels?|seems?)|['’]s)"
    r"(?: (?:\w+ly|so|very|just|still|quite|pretty|not|being|an?|the))* "
    + alternatives("""
        perfect | great | good | nice | clear | fine | acceptable | unacceptable | noted | excellent
        frustrating
        awesome | amazing | ideal | solid | spot on | on point | helpful | interesting | important
        everything
        exactly what | what i need | best | better | bad | terrible | stubborn | ok | okay | straightforward
    """)
    + r"\b",
    re.IGNORECASE,
)
"""A predicate that only says how someone likes something."""
ADDRESSING = within("""
    you | your | you're | you've | you'll | let's | my guy
    (?:i|we) (?:\\w+ )?(?:need|want|hope|hear|appreciate|guess|feel|understand)
    (?:i|we)(?:'ll| will| don't| can't)
""")
"""A user who speaks to the agent, or of wishes and feelings."""
MINE = within("my | me")
"""Of an order: it is about a thing of the user's."""
NAMELESS = beginning("""
    there | everything | everyone | people | nothing | some | many | most | no | all these | all this | things
    something | another | like | what
""")
"""A subject that names nothing."""
LABEL = re.compile(r"^[^:.`\d]{2,40}: ")
"""A heading before a statement: no detail of it."""
CLAUSE = re.compile(
    r"(?<![@/`.-])"
    + within("""
    is | are | was | were | isn't | aren't | wasn't | has | have | had | do | does | did | don't | doesn't
    didn't
    can | can't | cannot | could | should | would | will | must | went | i | we | you | your | my | me
    us | our
    let's | that's | there's | what | how | why | where | when | who | which
    """).pattern
    + r"(?![-/.]\w)",
    re.IGNORECASE,
)
"""A finite verb, a person or a question word: a noun phrase ends before it."""

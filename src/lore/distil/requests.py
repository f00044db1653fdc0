"""Requests: wording of what users ask for, complain about or contradict. Data for `cues` and `titles`."""

import re

from lore.distil.phrases import beginning, within
from lore.text import STOP_WORDS

ASKING = beginning("""
    (?:(?:and|but|so|or) )?(?:what|how|why|where|when|who|which) (?:\\w+ )?(?:is|are|do|does|did|can|could
    should|would|will|was|were|has|have|many|much|about|to|exactly|if)
    (?:(?:and|but|so|or) )?(?:can|could|would|will|should|shall|do|does|did|didn't|doesn't|is|are
    isn't|aren't|was|were|has|have|may) (?:you|i|we|it|there|the|this|that|they|these|those|your|my|our|a|an
    any|anyone|someone)
    any idea | wondering | why not | wie | warum | wieso | wann | welche[rsnm]? | kannst du | könntest du
    soll(?:en)? (?:ich|wir) | comment | pourquoi | quand | est-ce que | qu'est-ce | peux-tu | pouvez-vous
    cómo | por qué | cuándo | puedes | podrías | come | perché | quando | puoi | como | por que | você pode
""")
ORDERING = beginning("""
    (?:(?:please|pls|just|now|then|also|and|go ahead and|ok|okay|yes|bitte|first),? )*(?:run|re-?run|fix|add
    check|show|write|commit|push|make|try|do|open|look|update|change|rename|remove|delete|leave|put|give|go
    explain|create|implement|tell|let|help|start|revert|test|undo|continue|proceed|find|read|see|search
    investigate|print|install|build|deploy|move|merge|rebase|refactor|replace|clean|list|describe|summari[sz]e
    review|verify|wait|apply|set|send|ask|grep|debug|document|bump|generate|convert|rewrite|format|compare
    have a look|take a look|analy[sz]e|examine|inspect|simplify|condense|record|think|enter|initiali[sz]e
    produce|suggest|provide|reconstruct|migrate|mark|confirm|demonstrate|pull|resolve|reconcile|store|save|plan|prepare|spend|cover|let's|skip|ignore|finish|split|extract|drop|stop|pick|point|call|use|keep|close|mach
    schreib|füge?|prüfe?|zeig|starte?|lösche?|ändere?|erstelle?|schau|lass|nimm|fais|ajoute|corrige|montre|haz
    añade|arregla|muestra|fai|aggiungi|mostra|faça|adicione|mostre)
""")
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
OPPOSING = re.compile(
    r"^\W*(?:no\b(?:[,.!:;–—-]+\s*|\s+(?=(?:the|it|we|i|that|this|you|they|there|es|el|la|non|o|a)\b))"
    r"|(?:nope|actually|wait|wrong|nein|doch|falsch|non|en fait|en realidad|in realtà|na verdade"
    r"|não)\b(?:[,.!:;–—-]+\s*|\s+(?=\w))|(?:that|this)(?:['’]?s| is) (?:wrong|incorrect|not (?:right|correct"
    r"|true))\s*[,.!:;–—-]*\s*|das (?:ist falsch|stimmt nicht)[,.!:;–—-]*\s*|not quite[,.!:;–—-]*\s*)+",
    re.IGNORECASE,
)
"""Words of contradiction before a statement."""
COMPLAINING = beginning("""
    you | you're | you've | i just | i know | there's been | i think you | i now | i don't see | i see
    we were | that's the opposite
    all that's left | seems | looks like | still
""")
"""A user who comments on the work of the moment."""
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

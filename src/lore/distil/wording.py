"""Wording: how people and agents say what they decided, want, found out, or merely wonder about.

Data for `cues`: English first, and the strongest words of German, French, Spanish, Italian, Portuguese.
"""

import re

from lore.distil.phrases import alternatives, beginning, within

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
UNSURE = within("""
    could | might | maybe | perhaps | possibly | probably | presumably | would | i think | i guess | i suspect
    i believe | i assume | seems? | appears? to | looks like | may be | not sure | in theory | i wonder
    i see | if you(?:'d)? (?:want|like|prefer|need|wish) | you can | you may | want me to | shall i | should i
    i can | we can | i'd suggest | i suggest | i recommend | i'd recommend | or should | until you | once you
    könnte | vielleicht | vermutlich | wahrscheinlich | eventuell | ich glaube | ich denke | soll ich
    du kannst | peut-être | probablement | je pense | tal vez | quizás | probablemente | creo que | forse
    probabilmente | talvez | provavelmente | acho que
""")
FOR_NOW = within("""
    for now | right now | go ahead | yet | this time | today | again | first | a moment | this one | that one
    once more
    erstmal | jetzt | nochmal | noch nicht | heute | pour l'instant | por ahora | per ora | por enquanto
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

OPPOSING = re.compile(
    r"^\W*(?:no\b(?:[,.!:;–—-]+\s*|\s+(?=(?:the|it|we|i|that|this|you|they|there|es|el|la|non|o|a)\b))"
    r"|(?:nope|actually|wait|wrong|nein|doch|falsch|non|en fait|en realidad|in realtà|na verdade"
    r"|não)\b(?:[,.!:;–—-]+\s*|\s+(?=\w))|(?:that|this)(?:['’]?s| is) (?:wrong|incorrect|not (?:right|correct"
    r"|true))\s*[,.!:;–—-]*\s*|das (?:ist falsch|stimmt nicht)[,.!:;–—-]*\s*|not quite[,.!:;–—-]*\s*)+",
    re.IGNORECASE,
)
"""How a correction begins; what follows is what holds."""
CONTRASTING = within("""
    not [^,.;]{2,60},? but(?! (?:i|we|you|it|they|that)\\b) | nicht [^,.;]{2,60},? sondern
    should be [^.;]{2,80} (?:instead|not)
    pas [^,.;]{2,60} mais | no [^,.;]{2,60} sino | non [^,.;]{2,60} ma | não [^,.;]{2,60} mas
    you misunderstood
""")
JOINING = re.compile(r"^(?:(?:then|so|and|but|also|here|ok|yes|well|now)\b[,:]?\s+)+(?=\w)", re.IGNORECASE)
"""What ties a statement to the one before, and is nothing by itself."""
LEADING = re.compile(
    r"^(?:(?:please )?(?:note|remember|keep in mind|be aware)(?: that)?|fyi|for (?:context|reference)"
    r"|just so you know|heads up|lesson learned|as you know|in short|in other words|to summari[sz]e|zur info"
    r"|beachte,? dass|merk dir|i(?:['’]ve)? (?:found(?: out)?|noticed|confirmed) that)\b[:,]?\s+",
    re.IGNORECASE,
)
"""What only announces a statement."""

STATING = within("""
    is | are | was | were | isn't | aren't | has | have | had | contains? | uses? | runs? | lives? | listens?
    expects? | requires? | needs? | returns? | stores? | supports? | depends? | reads? | writes? | comes?
    means? | takes? | costs? | belongs? | defaults? | points? | happens? | starts? | ends? | calls? | sends?
    polls? | exports? | imports? | holds? | keeps? | works? | lies? | sits? | owns? | handles? | accepts?
    rejects? | allows? | throws? | raises? | fails? | breaks? | ignores? | loads? | creates? | deletes?
    caches? | expires? | retries | limits? | serves? | maps? | must | does(?:n't| not) | do(?:n't| not)
    cannot | can't | goes | gets? | stays? | ist | sind | war | hat | haben | liegt | läuft | kommt | braucht
    erwartet | heißt | gilt | scheitert | wird | werden | verwendet | nutzt | enthält | est | sont | utilise
    contient | es | son | está | están | usa | è | sono | é | são
""")
DOING = re.compile(
    r"^(?!(?:under|in|at|on|for|with|by|from|to|of|as|like)\b)(?:[\w`'’./@-]+ ){1,4}?"
    r"(?!this |its |was )[a-z]{3,}s(?= )"
)
"""Someone or something, and a verb in the third person."""
FLEETING = within("""
    (?:is|are|was|were) (?:now )?(?:updated|deployed|committed|pushed|added|renamed|created|merged) | today
    currently | at the moment | so far | as expected | the output | the log shows | above | following
    all good | (?:is|are) (?:not )?(?:included|listed) | has been (?:updated|created|applied|added|modified)
    is (?:running|done|ready|complete|finished|applied) | are (?:fine|good|done|ready)
    is (?:fine|good|right|correct|wrong) | the (?:file|diff|change|output) (?:is|looks) | line \\d+
    tests? (?:is |are )?fail(?:s|ed|ing)? | exit code | i have | i've | i am | i'm | i was | sounds? | looks?
    your question | the user | this (?:message|conversation|session) | committed as
""")
TELLING = re.compile(
    r"`[^`]+`|\d+(?:\.\d+)*|(?<!\w)[\w.@-]*/[\w./@-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]*[A-Z0-9]\w*\b"
    r"|\b\w+\.[a-z]{2,4}\b|(?<=[\w,;:] )[A-Z][a-z]{2,}|\b\w{3,}: \w|--\w+"
    r"|\b(?:[Mm]on|[Tt]ues|[Ww]ednes|[Tt]hurs|[Ff]ri|[Ss]atur|[Ss]un)days?\b"
)
"""What makes a statement definite: code, numbers, paths, names, days."""

CAUSING = within("""
    root cause | the (?:actual |real |underlying )?(?:cause|culprit|reason) (?:is|was|for) | caused by
    turn(?:s|ed) out | (?:was|is|were) due to | (?:is|was) explained by | by mistake | accidentally
    came from
    the (?:actual |real )?(?:problem|issue|bug|error|failure) (?:is|was) (?:that|in|a|an|the|caused)
    (?:fail(?:s|ed)?|broke|crashe[sd]|happen(?:s|ed)|hangs?|timed out)[^.;]{0,60} because | die ursache
    lag daran | grund (?:ist|war|dafür) | stellte sich heraus | verursacht durch | versehentlich | la cause
    ce qui explique | le problème (?:était|venait) | causé par | la causa | el problema (?:era|es) que
    causado por | il problema era | a causa | o problema era
""")
FIXED = within("""
    (?:is|are|was|were|now|finally|got) fixed | fixed (?:it|the|by|this|that) | the fix (?:is|was) | works now
    now works? | working now | (?:is|was|are) (?:resolved|solved) | solved (?:it|by|the) | all green
    no longer (?:fails?|crashe?s?|happens?|occurs?|hangs?|leaks?|appears?) | instead of \\d+
    (?:tests?|runs?|checks?|suite|build|specs?) (?:now )?(?:all )?(?:pass|passes|passed|succeeds?|is green
    are green)
    pass(?:es)? now | (?:went|fell|dropped|shrank|improved|reduced|down) from | dropped (?:from|to)
    reduced (?:from|to|by) | behoben | funktioniert (?:jetzt|wieder|nun) | gelöst | laufen durch | corrigé
    résolu | fonctionne maintenant | arreglado | solucionado | resuelto | ya funciona | risolto | ora funziona
    corrigido | resolvido
""")
DECIDED = within("""
    (?:we|i|they|the team)(?:'ve| have)? (?:decided|agreed|chose|chosen|settled|opted|picked) | decision:
    (?!what|how|as|where)\\w+ it is(?=[:!.]|$) | we don't need (?!to\\b)\\w+ | let's (?:go|stick|stay) with
    (?:we'll|we will|we're going to|we are going to|i'll) (?:go|stick|stay) with
    (?:we're|i'm|we are) going with | (?:we|i) went with | the decision (?:is|was)
    we(?:'ll| will) (?:use|keep|take|store|call|name|have|do|support|put|run|host|ship)
    (?:wir|ich) habe?n? .{0,60}(?:entschieden|beschlossen) | wir (?:nehmen|verwenden|bleiben bei) | lasst? uns
    (?:on a|nous avons) (?:décidé|choisi) | on (?:utilise|prend|part sur) | hemos decidido | decidimos
    vamos (?:a usar|con) | usaremos | abbiamo deciso | useremo | usiamo | vamos usar
""")
AGREEING = beginning("""
    option [\\w]+ | (?:let's take )?the (?:first|second|third|last|latter) (?:one|option)
    (?:(?:then|so|ok|okay|yes|and|i think) )*let's (?:use|keep|drop|store|avoid|support|only|not|limit
    require|standardi[sz]e|default|treat|always|never|pin|target)
    (?:(?:please|and|then|so|just) )*(?:use|take|pick|choose|prefer|go for|make it) .{2,120}(?:instead
    rather than|over|not)
""")
ALWAYS = re.compile(
    beginning("""
        (?:(?:please|and|also|so|bitte|but|in this (?:repo|project|codebase)),? )*(?:always|never|from now on
        in future|in the future|going forward|next time|ab jetzt|immer|niemals|toujours|jamais|siempre|nunca
        sempre|mai)
    """).pattern
    + "|"
    + within("""
        (?:we|i)(?: should| must)? (?:always|never)(?! (?:knew|thought|had|got|said|heard|saw|did|was
        (?!need|feed|embed)\\w+ed)\\b)
        you (?:should|must|may|can|have to|need to) (?:always|never)
        (?:immer|niemals|nie) (?:auf|mit|ohne|nur|in)
        (?:make|be) sure .{0,40}(?:always|never) | from now on | going forward | ab jetzt | as a rule
        to (?:always|never) | you (?:should|must) (?:not|only)
    """).pattern,
    re.IGNORECASE,
)
PREFERRING = within("""
    i(?:'d| would)? (?:(?:really|strongly|much) )?prefer | i(?:'d| would) rather | my preference
    please .{2,60} when(?:ever)? you
    i (?:really )?(?:like|love|hate|dislike)(?! (?:to|the (?:sound|idea|look)|how|that|this|it|what)\\b)
    i'm not a fan
    i can't stand | no \\w+ please | i (?:really )?don't (?:like|want) (?:any|to see|it when|you to|\\w+ in)
    we (?:prefer|avoid|don't (?:use|like|want|allow|write|do)) | (?:ich|wir) (?:bevorzugen?|mag|mögen)
    (?:ist|wäre) mir lieber | je préfère | on préfère | prefiero | preferimos | preferisco | preferiamo
    prefiro
""")
FORBIDDING = re.compile(
    r"(?:^\W*|[,;]\s+)"
    + alternatives("""
        (?:(?:please|and|also|but|so|bitte),? )*(?:do not|don't|stop|avoid) (?!worry|bother|know|think
        forget|mind|care|see|understand|touch|need|feel|have|want|like|remember|recall|believe|hesitate)\\w+
    """)
    + r"(?!\w)",
    re.IGNORECASE,
)
ENSURING = beginning("""
    (?:(?:please|and|also|but|so),? )*(?:make sure|be sure|ensure|remember to)(?: that| to)?
    stell sicher,? dass | achte darauf,? dass | assure-toi | asegúrate | assicurati
""")
"""An order that holds from now on, unless it points at the work of the moment."""
USING = re.compile(
    beginning("""
        (?:(?:please|and|then|so|just|but),? )*(?:use|prefer|take) [^.;]{2,120}(?:instead(?: of)?|rather than
        , not)
    """).pattern
    + "|"
    + within("""
        we (?:only |always |exclusively )?use | is what we use | wir (?:nutzen|verwenden) nur
        using [^.;]{2,60} instead of
    """).pattern,
    re.IGNORECASE,
)
"""The tool that a user wants for a purpose."""
STYLING = within("""
    (?:commits?|comments?|messages?|names?|docs?|documentation|tests?|functions?|code|types?|variables?
    branches|prs?|pull requests) (?:should|must|have to|need to) (?:always |never )?(?:be|have|use|follow
    start|stay|go|not)
""")
PLANNED = within("""
    todo: | to-do | open: | offen: | next steps? (?:is|are|would be|will be)
    the (?:plan|goal|aim|idea|objective) is | roadmap | follow-?up | (?:still|also) (?:have|has|need|needs) to
    remains? to be | still (?:open|missing|outstanding) | nächste[rn]? schritte? | müssen wir noch
    steht noch aus | das ziel ist | reste à | prochaine étape | próximo paso | siguiente paso | prossimo passo
    próximo passo
""")
NEEDED = within("""
    (?:reviewer|customer|client|boss|team|management|legal|security) (?:wants?|asks? for|demands?|needs?)
    we(?:'ll| will)? (?:(?:also|still|really) )?(?:need|have to|want|must)
    we should (?:also|eventually|later) | i (?:want|need) (?:a|an|the)
    i (?:want|need) to(?! (?:update|add|create|fix|make|change|see|know|check|verify|look|run)\\b)
    (?:i|we)(?:'d| would) like
    (?:goal|aim|requirement): | eventually | wir (?:müssen|brauchen|wollen|sollten) | müssen wir | il faut
    nous devons | on doit | tenemos que | necesitamos | hay que | dobbiamo | abbiamo bisogno | precisamos
    temos que
""")
DATED = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\s?\d{1,2}\.(?:\s?\d{2,4})?|q[1-4](?:\s+\d{4})?"
    r"|(?:january|february|march|april|june|july|august|september|october|november|december|januar|februar|märz"
    r"|juni|juli|oktober|dezember)(?:\s+\d{1,4})?|\d{1,2}(?:st|nd|rd|th)?\s+may|may\s+\d{1,4})\b",
    re.IGNORECASE,
)
HAPPENING = within("""
    released? | deployed | migrated | happened | launched? | merged | went (?:down|live) | expired? | expires
    moved | shipped | switched | started? | starts | ended | ends | scheduled | planned | freeze | deadline
    due | outage | joined | left | since | until | gone | ab | seit | bis | erscheint | veröffentlicht
    gestartet
""")
BARRING = within("""
    no (?!problem|idea|need|errors?|one|longer|matter|worries|doubt
    way)(?:more )?[\\w-]+(?: [\\w-]+)? (?:in|on|please|here
    anywhere)
    (?:is|are|sind|ist) (?:forbidden|not allowed|banned|taboo|verboten|tabu) | (?:est|sont) interdite?s?
    (?:one|a single|two|\\d+) [\\w-]+ per [\\w-]+ please | explicit [\\w-]+ only
""")
"""Rules that a user lays down without saying "never"."""
BARRED = beginning("""
    (?:please )?(?:no (?!problem|idea|need|errors?|one|longer|matter|worries
    thanks)[\\w-]+(?: [\\w-]+)?,(?= (?:they|it|we|those|because|that)\\b)
    (?:one|a single) [\\w-]+ per [\\w-]+)
""")
"""A rule with its reason; a mere `No …` is an answer or a sigh."""
REQUIRING = within("""
    must | mustn't | only allowed | darf nur | dürfen nur | muss | müssen | doit | doivent | debe | deben
    deve | devono | devem
""")
BINDING = within("(?:has|needs) to (?:be|stay|have|start|go|run) | is required | are required")
SHOULD = within("""
    should (?:always |only |not |never |also )?(?:be|have|use|go|stay|start|return|wait|say|live|happen|come
    run)
    soll(?:te|ten|en)? .{3,60}(?:sein|heißen|haben|werden) | devrait être | debería ser | dovrebbe essere
""")
DIRECTING = beginning("""
    (?:(?:please|just|then|and|so|yes|ok|but),? )*(?:for [^,.;]{3,40} )?(?:use|keep|store|emit|return|name
    call|put|support|send|expose|call out|mention|allow|treat|default|shrink|cache|limit|pin|verwende|nutze
    behalte?|speichere?|nimm|utilise|garde|usa|mantén|tieni)
""")
REASONED = within("""
    instead | only | just | don't | without | anyway | rather | because | so that | otherwise | whatever
    everywhere | must | since | regardless | (?:that|which) \\w+s | nobody | chokes? | not | no | stattdessen
    nur | damit | sonst | weil | statt | seulement | parce que | sinon | solo | porque | perché | altrimenti
    apenas
""")
POSTPONED = within("""
    next (?:week|month|sprint|quarter|year|release) | after the (?:release|freeze|launch|migration)
    later this (?:week|month|year) | nächste[rn]? (?:woche|monat|sprint) | la semaine prochaine
    la próxima semana | la prossima settimana | na próxima semana
""")
POINTING = beginning("""
    option \\w+ | it | this | that | these | those | they | he | she | both | which | same
    the (?:latter|former|other|first|second) | it's | that's | this is | its | their | there | es | das
    dies(?:e[rsnm]?)? | sie | er | die müssen | c'est | cela | ça | ils | elles | esto | eso | ellos | questo
    quello | isso | isto
""")
STANDING = beginning("""
    it turn(?:s|ed) out | there (?:is|are|was|were) | that way | this (?:repo|repository|project|codebase)
    das ziel | this (?:\\w+ )?(?:service|module|library|package|team|company) | es stellte sich heraus
    es gibt | die ursache | das problem | der grund
""")
"""What begins like a word that points elsewhere, and does not."""
MEASURED = within("""
    (?:went|fell|dropped|shrank|grew|improved|reduced|down|up) from | the fix (?:is|was) to | instead of \\d+
    (?:sank|fiel|stieg) von | est passée? de | bajó de | è sceso da
""")
"""An outcome that an agent reports with its size or its remedy."""
SETTLED = within("""
    (?:we|they|the team)(?:'ve| have)? (?:decided|agreed|chose|chosen|settled|opted)(?: \\w+){3} | decision:
    the decision (?:is|was) | going with | wir haben .{0,60}(?:entschieden|beschlossen)
    nous avons (?:décidé|choisi) | hemos decidido | abbiamo deciso
""")
"""A decision in the words of an agent; `we'll use` is only its plan for the moment."""
RULING = re.compile(
    r"^\W*(?:always|never|do not)\s\w"
    r"|^\W*(?:don['’]?t|avoid)\s(?=.*`)"
    r"|(?:^|, )(?:all|any|every|each|only|no)\b[^.;]{3,80}\b(?:must|may only)\b"
    r"|(?:^|, )(?:all|any|only|no)\b[^.,;]{3,80}\bmay not\b",
    re.IGNORECASE,
)
"""A rule that an agent repeats or writes down; `don't` and `avoid` without a name in code are advice."""
OPEN = beginning("todo: | open: | not done: | still open: | offen: | noch offen:")
PLACED = within("""
    (?:is|are) (?:only |always |also )?(?:stored|located|saved|kept|tracked|managed|resolved|configured
    encoded)
    lives? (?:in|under|on|at) | resides? | defaults? to | listens? on | requires | expects | calls | imports?
    delivers | holds | (?:is|are) plain | uses \\w+ \\w+ only | est stockée? | liegt | liegen | se guarda
""")
"""An agent says where something is kept or how it is set."""
BEHAVING = re.compile(
    r"^(?:if|when)\b[^,]*`[^`]+`[^,]*, (?!use (?:it|that)\b)"
    r"|^(?:(?:the|a|an|each|every) )?(?:[\w'’-]+ ){0,2}?(?:`[^`]+`|--\w[\w-]*|[\w-]+\(\))(?: [\w-]+)?"
    r"(?: (?:also|only|always|never|automatically))? (?!exists|contains|appears|includes|does|has|was|works)"
    r"(?:[a-z-]{2,}[^s ]s|(?:is|are) (?:used|read|set|called|required|ignored|a)|can|cannot|must)(?= )",
    re.IGNORECASE,
)
"""An agent says what a named command, option or function does."""
QUANTIFIED = re.compile(
    r"\b\d[\d.,]*\s?(?:ms|s|sec\w*|min\w*|hours?|days?|[kKMG]i?B|%|bytes?|GHz|EUR|USD|entries|rows|users|times)(?!\w)"
    r"|\bports? \d+|\b[\w-]+ \d+\.\d+[\w.]*"
)
"""A quantity, a port or a version."""
ASIDE = re.compile(r"\([^()]*\)")
SPECIFIC = re.compile(
    r"`[^`]+`|(?<!\w)[\w.@~$-]*/[\w./@<>$-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*\b"
    r"|\b[\w-]+\.[a-z]{2,4}\b|(?<!\w)--\w+|\b\d[\d.,]*\s?(?:ms|s|sec\w*|min\w*|hours?|days?|[kKMG]i?B|%|bytes?"
    r"|GHz|EUR|USD)(?!\w)|\bports? \d+|\b[A-Z]\w+ \d+(?:\.\d+)*\b|\b\d{3,}\b",
)
"""Something that can be looked up: code, a path, a name in code, an option, a quantity, a version."""
PERSONAL = within("""
    i | i'm | i've | i'll | i'd | we | we're | we've | we'll | our | us | you | you're | you've | you'll
    your | my | me | let's | ich | wir | unsere? | du | dein(?:e|en)? | nous | notre | vous | votre | nosotros
""")
"""An agent that speaks of itself or to the user speaks of the moment."""
WORKING = within("""
    now | still | already | currently | yet | so far | remain(?:s|ing)? | ready | completed? | done | finished
    in progress | success(?:ful|fully)? | pass(?:es|ed|ing)? | fail(?:s|ed|ing|ures?)? | tests? | prs?
    pull requests? | commit(?:s|ted)? | push(?:ed)? | conflicts? | changes? | changed | implementation
    implemented | tasks? #?\\d+ | #\\d+ | specs? | specification | todo | in-review | lint(?:er|ing)?
    errors? | warnings? | issues? | problems? | line \\d+ | summary | should | needs? to | needed | would
    will | next | new | properly | working | works | updat(?:ed?|ing) | added | fix(?:es|ed)? | created
    modified | improv(?:ed?|ements?|ing) | this | these | likely | sections? | previous(?:ly)?
    mock(?:s|ed|ing)? | coverage | existing | has been | have been | above | below | following | earlier
    verif(?:y|ied|ication) | see | was | were | had | ensur(?:es?|ing) | correct(?! \\w) | noch | jetzt
    bereits | fertig | erledigt
""")
"""Words of work in progress: a statement of an agent that has one of them is out of date tomorrow."""
BARE = beginning("""
    \\w+(?:ed|ing)(?! (?:is|are|at|costs?|takes?)\\b) | there (?:is|are) | if not | made | set | ran | wrote
    detect | modify | accept | enhance | ensure | avoid | handle | support | provide | only | then | store
    proper | can | tool | what | why | key | allow | perform | see | for a | provides | supports | handles
    creates | uses | includes | prints | shows | adds | allows | ensures | returns | accepts | stores
    implements | gracefully | automatically | `[^`]+`(?=:| [–—-] )
    (?:if|when) [^,]{2,80}, (?:it|they)(?! is| are) | (?:the|a|an) (?:\\S+ ){1,4}(?:that|which|where)
""")
"""A statement without a subject: an item of a list of work, an instruction."""
COMPLAINING = beginning("""
    you | you're | you've | i just | i know | there's been | i think you | i now | i don't see | i see
    we were | that's the opposite
    all that's left | seems | looks like | still
""")
"""A user who comments on the work of the moment."""
MISPLACED = re.compile(r"^you\b.{5,120}(?:, (?:and )?not | instead of | rather than )", re.IGNORECASE)
"""A user who tells the agent what it did, and what would have been right."""
PASTED = re.compile(
    r"\b(?:error|exception|warning):|\btasks? #?\d+\b(?! (?:must|should))|[{};]\s|(?:\w=\S.*){3}",
    re.IGNORECASE,
)
"""A user who pastes output, or speaks of one piece of work."""
UNRESOLVED = re.compile(
    r"\b(?:it|this|that)\b(?=\W*$|[.,;!)]| (?:up|out|down|now|again|back|in|on|for|to|from|with|as|here|there"
    r"|was|needs|and|or|yet)\b)",
    re.IGNORECASE,
)
"""A word that stands for the thing at hand."""
POINTLESS = within("(?:do|does|doing|did) (?:this|that|it|so)(?! yourself)(?!, do)")
"""An order that names no action."""
PASSING = within("""
    tests? (?:\\w+ )?fail\\w* | the test \\w+s | (?:is|are) failing
    the (?:issue|problem|bug|error) (?:is|was) in | while | commit | yet | earlier | line \\d+ | needs? to
    properly | this | these | the attempt | tried | tasks? #?\\d+ | here | others? | the error | a bug in
""")
"""A cause of the moment: a test in the making, a place without a reason."""
TELLTALE = within("""
    root cause(?: [^.;]{2,60})? (?:is|was) | turn(?:s|ed) out | culprit | ursache | stellte sich heraus
    la cause | la causa | a causa
""")
"""A cause that is named as such, with or without a detail."""

"""Wording: how users say what lasts, and marks of sentences that hold for the moment only.

Data for `cues`: English first, and the strongest words of German, French, Spanish, Italian and Portuguese.
"""

import re

from lore.distil.phrases import alternatives, beginning, clause, either, within

# Sentences that are never kept

UNSURE = within("""
    could | might | maybe | perhaps | possibly | probably | presumably | would(?! rather) | i think
    i guess | i suspect | i believe(?! in) | i assume | i suppose | i wonder | i hope | hopefully | seems?
    appears? to | looks like | may(?: not)? (?:be|want|need) | not sure | in theory | if only | as if
    imagine | pretend | whether | curious | should i | shall i | let's | what if | or should | decide if
    könnte | vielleicht | vermutlich | wahrscheinlich | eventuell | ich glaube | ich denke | soll ich
    peut-être | probablement | je pense | tal vez | quizás | probablemente | creo que | forse
    probabilmente | talvez | provavelmente | acho que
""")
"""A guess, a proposal or a thing that did not happen."""
ANGRY = either(
    within("""
        stupid | dumb | idiots? | fuck\\w* | shit\\w* | damn\\w* | wtf | bullshit | useless | ridiculous
        garbage | crap | hell | pathetic | moron | incompetent | sick of | tired of | fed up | how many times
        unacceptable | ffs | verdammt | scheiß\\w* | merde | mierda | cazzo | porra
    """),
    re.compile(r"[!?]{2,}"),
)
WRITING_DOWN = beginning("""
    (?:(?:please|also|and|then|now|so|ok|let's|can you|think about how you can) )*(?:update|add|make
    create|write|modify|edit|mention|record|document|extend|change|put|explain|describe|specify|include|clarify|state
    save|store|tell (?:them|him|her|it|users?)|ask (?:them|him|her|users?))(?! sure)
""")
"""An order to write or make something now: what it mentions belongs into that text."""
ADDRESSING = beginning("""
    (?:(?:then|so|and|but) )?(?:you|your|he|she|his|her)(?!\\w)(?! (?:\\w+ )?(?:must|should|shall|have to
    need to|may|can|don't|do not))
""")
"""The deeds of somebody else."""
PAST = within("""
    was | were | had | did | didn't | used to | been | went | became | felt | thought | knew | happened
    war | waren | hatten? | wurden? | était | étaient | avait | fue | era | estaba | aveva | foi | tinha
""")
NAMELESS = beginning("""
    (?:(?:and|but|so|then|also|because|since|if|when) )?(?:it|this|that|these|those|they|them|he|she|there|its
    their|his|her|it's|that's|there's|they're|he's|she's|here|one of|both|neither|some|many|most of|everything
    nothing|such|which|who|another|same|the (?:latter|former|other|first|second|above)|option|number|step|es
    das|dies(?:e[rsnm]?)?|sie|er|c'est|cela|ça|ils|elles|esto|eso|ellos|questo|quello|isso|isto)
""")
"""A subject that names nothing."""
UNRESOLVED = either(
    within("""
        (?:this|these|those|that) (?!(?:repo|project|codebase|app|application|company|team|machine|laptop
        computer|account|way|is|are|the|a|an|we|i|you|have|has|must|should|can|will|do|does|use)(?!\\w))[a-z-]+(?<!s)
        (?:the|see|as|mentioned|listed|shown) (?:above|below) | the following | attached
    """),
    re.compile(r"\b(?:this|that|these|those|so)\b(?=\W*$|[.,;!)])"),
)
"""A word that stands for the thing at hand."""
POINTING = within("it | them")
FOR_NOW = within("""
    for now | right now | go ahead | this time | this one | that one | once more | a moment | for the moment
    erstmal | pour l'instant | por ahora | per ora | por enquanto
""")
MOMENTARY = within("""
    now | today | tonight | tomorrow | yesterday | yet | still | currently | already | at the moment | so far
    immediately | asap | right away | finally | again | (?:i|we|you)(?:'ve| have)? just
    this (?:week|morning|afternoon|evening)
    jetzt | heute | morgen | nochmal | noch nicht | schon | gerade | aujourd'hui | maintenant | hoy | ahora
    oggi | adesso | hoje | agora
""")
"""A state or a wish of the day."""

# Standing rules

_VERB = (
    r"(?!(?:had|got|said|saw|made|took|came|ran|wrote|found|told|left|kept|lost|heard|met|was|were|did|knew"
    r"|went|felt|thought|is|are|an?|the|this|that|it|in|on|at|so|too|as|mind|enough|more|really|quite|sure|to|of|for|see|seem|happen|know|hear|come"
    r"|end\sup)\b)(?!(?!embed)\w*[^e\W]ed\b)(?!(?!bring|ping)\w+ing\b)(?!\w*[^s\W]s\b)[`@/\w]"
)
"""A verb in its base form: no past, no participle, no third person."""
_MODAL = "(?:must|should|shall|may|can|ought to|(?:have|has|needs?) to)"
_MAXIM = "(?:from now on|going forward|as a rule|next time|ab jetzt|in zukunft|grundsätzlich)"
ALWAYS = either(
    clause(f"""
        (?:always|never) (?:ever )?{_VERB}
        [^.;,]{{3,60}}, always\\W*$
    """),
    within(f"""
        (?:please|to|we|also|{_MODAL}) (?:always|never) (?:ever )?{_VERB}.*
        {_MODAL} [^.;]{{2,80}},? (?:always|at all times)\\W*$
        (?<!you\\s)must (?:never|not) | you should(?:n't| not) be \\w+ing
    """),
    re.compile(
        r"^(?!\W*(?:ich|es|das|die|der|il|elle|je|el|la|o|a)\b)"
        r"(?!.*\b(?:ist|sind|est|sont|es|son|è|sono|é|são)\b)"
        r".*\b(?:immer|niemals|nie|toujours|jamais|siempre|nunca|sempre|mai)\s+\w"
    ),
)
"""`always` and `never` before a verb that orders, or says how `we` do something."""
GUARDING = clause("""
    (?:please )?(?:do not|don't|stop|avoid) (?:ever |directly )?(?:edit|touch|modify|chang|commit|push|merg
    deploy|writ|delet|overwrit)\\w*(?: [\\w`./-]+){0,4}? `?(?:main|master|prod|production|seeds|vendored
    generated (?:code|files?))
""")
"""A ban on changing a place that every project guards."""
LASTING = either(
    within(f"""
        {_MAXIM} | at all times | in all cases | (?:whenever|(?:every|each) time) (?:you|we|i)
        (?:before|after) (?:each|every|any) (?:\\w+ )?(?:commit|push|merge|release|deploy\\w*|change|edit
        answer|reply|response|session|task|pr|pull request|run|step|test|review|meeting)s?
        (?:do not|don't|only|no) [^.;]{{3,100}} unless
        dorénavant | désormais | à partir de maintenant | a partir de ahora | de ahora en adelante
        d'ora in poi | a partir de agora | daqui em diante
    """),
    beginning("""
        in (?:the )?future
        (?:if|when) (?:in doubt|anything is|you(?:'re| are) (?:unsure|not sure))
    """),
)
"""Words that make an order a rule."""
OPENING = beginning(f"(?:always|never|in (?:the )?future|{_MAXIM})")
"""The beginning of a rule, whatever cases it is for."""
_CASE = (
    f"(?:if|when|whenever|every time|each time|before|after|in (?:the )?future|{_MAXIM})(?!\\w)[^,]{{0,100}},"
)
NORMATIVE = either(
    within(f"""
        {_MODAL}(?:n't| not)?(?! have) | do not | don't | make sure | be sure | ensure | we want
        muss | müssen | soll | sollen | darf | dürfen | kein\\w* | doit | doivent | debe | deben | deve
        devono | devem
    """),
    beginning(f"""
        (?:(?:please|bitte) )?{_CASE} (?!(?:i|the|my|it|there|we|he|she|they|you)(?!\\w))\\w+
        (?:(?:please|bitte) )?(?:from now on|going forward|as a rule,?|ab jetzt) \\w+
    """),
)
"""An order or a duty."""

_REPLIES = "(?:answers|responses|replies|explanations|messages|commit messages|commits|comments|emails)"
_TONGUE = "(?:english|german|french|spanish|italian|portuguese|dutch|polish|deutsch|englisch)"
STYLING = either(
    beginning(f"""
        (?:please )?(?:keep|make|write) (?:your |all |the )?{_REPLIES} (?:as )?(?:short|concise|brief|simple
        small|minimal|terse|in {_TONGUE})
        (?:please )?(?:no|avoid|don't use|do not use|stop using) (?:emojis?|em[ -]dashes|jargon|buzzwords
        bullet points)
        (?:please )?(?:answer|respond|reply|speak|talk) (?:to me )?in {_TONGUE}
    """),
    within("""
        without (?:asking|telling|my (?:permission|approval|consent|ok)) | unless i (?:ask|say|tell)
        (?:ask|check with) me (?:first )?before
    """),
)
"""How the user wants to be answered and asked."""

# Preferences, decisions and facts

_LIKED = (
    r"(?!(?:it|this|that|these|those|them|the|how|what|where|when|your|you|all|both|one|hearing|option"
    r"|an?\sidea|to\s(?:hear|know|ask|say|bother|think|see\s(?:it|this|that)))(?!\w))[\w`]"
)
_VERY = "(?:(?:really|strongly|much|personally|generally|usually|also|definitely|absolutely|only|do) )*"
_NOT = "(?:do not|don't)"
_LIKE = "(?:like|love|enjoy|hate|dislike)"
PREFERRING = either(
    within(f"""
        (?:i|we)(?:'d| would)? {_VERY}(?:prefer|rather) {_LIKED}.*
        (?:i|we)(?:'m| am|'re| are) (?:not )?(?:really )?a (?:big )?fan of {_LIKED}.*
        (?:i|we) (?:can't|cannot) stand {_LIKED}.*
        my (?:preference|favou?rite(?: \\w+)?) (?:is|are)
        (?:ich|wir) (?:bevorzugen?|mag|mögen) | (?:ist|wäre) mir lieber | (?:je|on|nous) préf\\w+
        prefiero | preferimos | prefer(?:isco|iamo) | prefiro
    """),
    clause(f"""
        (?:in my [\\w ]{{3,20}}, )?(?:i|we) {_VERY}(?:{_NOT} )?{_VERY}{_LIKE} {_LIKED}
        (?:i|we) (?:(?:want to|try to|always) )?avoid {_LIKED}
        (?:i|we) {_VERY}believe in {_LIKED}
        (?:i|we) {_NOT} (?:always|usually|ever) (?:want|need) {_LIKED}
        we {_NOT} (?:use|allow|want|write|support|need|mock|do) {_LIKED}
    """),
)
_NAME = (
    r"(?:`[^`]+`|(?!(?:the|an?|this|that|my|your|our|it|them|all|any|some)\b)[\w@/.+#-]+"
    r"(?:\s(?-i:[A-Z\d])[\w.]*)?)"
)
_SHAPED = r"(?=.*(?:`|(?-i:[A-Z])|\w[@/._\d-]\w))"
_OVER = "(?:,? (?:instead of|rather than|over|and not)|, not)"
CHOOSING = beginning(f"""
    (?:(?:please|just|and|so|then|always) )*(?:use|prefer|choose|run(?: using)?)\
    {_SHAPED}{_NAME}(?: for [\\w ]{{3,40}})?{_OVER} {_NAME}
""")
"""One named thing instead of another."""
_THING = (
    r"(?!(?:it|this|that|these|those|them|your|my|into|out|some|lots?|\w+ing)\b)"
    r"(?!(?:the|an?)\s(?-i:[a-z]))[\w`@\"]"
)
_BE = "(?:we(?: are|'re)|i(?: am|'m))"
USING = either(
    clause(f"""
        (?:we|i) (?:(?:only|exclusively|mainly|mostly|also) )?use {_THING}
        {_BE} (?:\\w+ly |also )?(?:using|targeting|focus(?:ing|ed) on|interested in) {_THING}
        {_BE} (?:running (?-i:[A-Z`])|on (?-i:[A-Z])\\w+ \\d)
    """),
    beginning(
        "(?:tech(?:nology)? )?(?:stack|languages?|database|framework|backend|frontend|hosting): \\w+.*"
    ),
    within("""
        (?:built|written|developed|implemented) (?:with|in|using) (?-i:[A-Z])\\w+
        our (?:tech )?stack (?:is|consists of) | is the (?:single |only )?source of truth
        wir (?:nutzen|verwenden) | on utilise | nous utilisons | usamos | usiamo
    """),
)
"""What the user or the project works with or aims at."""
_TEAM = "(?:we|the (?:team|client|customer|board))(?:'ve| have| has)?(?: \\w+ly)?"
_CHOICE = """(?:(?:decided|agreed|settled|opted) (?:to|on|for|against|not to)|chose|chosen
    (?:switched|migrated) (?:over )?(?:to|from|away))"""
DECIDED = either(
    re.compile(
        r"(?:^\W*|[,;:–—]\s+)"
        + alternatives(f"""
            {_TEAM} {_CHOICE} (?!whether|if|how|what|it|this|that|them)\\w
            we(?:'re| are) (?:going|sticking|staying) with {_THING} | the decision (?:is|was) to
        """)
    ),
    within("""
        wir haben (?:uns )?.{0,60}(?:entschieden|beschlossen) | (?:on a|nous avons) (?:décidé|choisi)
        hemos decidido | decidimos | abbiamo deciso
    """),
)
ANNOUNCING = clause("""
    (?:(?:please|just|also|and|but) )*(?:note that|(?:remember|keep in mind|bear in mind|be aware)(?: that)?
    fyi|for future reference|just so you know|zur info|beachte,? dass|merk dir,? dass|denk daran,? dass
    n'oublie pas que|rappelle-toi que|recuerda que|ricorda che|lembre-se(?: de)? que)[,:]? (?!(?:to|you|your
    that you|when|how|what|our|my|me|for)(?!\\w))
""")
"""A statement that is to be remembered follows."""
REMINDING = re.compile(r",\s*(?:so )?(?:please )?keep (?:that|this|it) in mind\W*$", re.IGNORECASE)
STATING = either(
    within("""
        is | are | isn't | aren't | has | have | must | should | will | won't | can(?:'t|not)?
        do(?:es)?(?:n't)? | need | use | run | happen | ist | sind | hat | wird | est | sont | es | son | está
        è | sono | é | são
    """),
    re.compile(r"^(?:[\w`'’./@-]+ ){1,4}?[a-z]{2,}s(?= )"),
)
"""A finite verb; the second pattern finds one in the third person."""
_DAYS = """(?:day|week|weekend|month|quarter|year|morning|afternoon|evening|night|(?:mon|tues|wednes|thurs|fri
    satur|sun)day)"""
_EVERY = f"(?:every|each)(?: other)? {_DAYS}"
_OFTEN = "(?:usually|typically|generally|normally|mostly|often|rarely|always|never|tend to)"
ROUTINE = either(
    clause(f"""
        (?:i|we) {_OFTEN} (?!feel|think|forget|wonder|get )(?:\\w+ly )?{_VERB}
        {_EVERY}s?,? (?:i|we) {_VERB}
        (?:i|we) (?!get |keep |have to |need |want ){_VERB}[^.;]{{3,80}} {_EVERY}(?!\\w)
        (?:i|we) (?:eat|drink|cook|speak|drive|commute|volunteer|practi[cs]e|teach)(?!\\w)
    """),
    within(f"on {_DAYS}s?(?: \\w+s)?,? (?:i|we) {_VERB}.*"),
)
_FAMILY = """(?:wife|husband|partner|girlfriend|boyfriend|sons?|daughters?|kids?|child(?:ren)?|mother|father
    mom|mum|dad|parents?|brothers?|sisters?|grand\\w+|boss|manager|doctor|dentist|dog|cat|employer)"""
_WORKER = "(?:[\\w-]+ ){0,3}?(?:\\w{3,}(?:er|or|ist|ian|eer|ant|ent|man|woman)|nurse|chef|coach)(?!\\w)"
_YEARS = "(?:over |about |around |more than )?\\d+\\+? years"
_ILLNESS = """(?:allergy|allergies|intolerance|asthma|diabetes|adhd|migraines?|insomnia|arthritis
    celiac disease|high blood pressure|dyslexia|bad (?:back|knees?|shoulder))"""
_VENTURE = """(?:app|website|site|product|project|company|business|startup|thesis|book|shop|store|course
    application|game|platform|tool|blog|podcast|novel|newsletter|channel|customers|users|clients)"""
_A = "(?:an?|my|our)(?: own)?(?: [\\w-]+){0,3}"
_FOUND = f"(?:create|build|start|develop|launch|open|write|found) {_A}"
_GROUP = "(?:startup|company|business|agency|nonprofit|ngo|couple|family)"
PERSONAL = either(
    clause(f"""
        i(?:'m| am) (?:allergic|intolerant|vegetarian|vegan|diabetic|colou?r-?blind|left-handed|dyslexic
        retired|married|based in|from (?-i:[A-Z]))
        i(?:'m| am) an? (?!(?:bit|little|lot|huge|big|better)(?!\\w)){_WORKER}
        i (?:work|live|study) (?:as|at|for|in|with|from)(?!\\w)
        my {_FAMILY}(?:'s name)? (?:(?:is|are) (?:called|named|allergic|an?|\\d+|vegan|from)|has an?
        have an?|works?|lives?|likes?|loves?|hates?|prefers?|speaks?|doesn't|does not|can't|cannot)(?!\\w)
        (?:i|we) have (?:an?|two|three|four|five|\\d+) (?:\\w+ )?{_FAMILY}(?!\\w)
        (?:my|our) (?:\\w+ )?{_VENTURE} (?:is|are|will be) (?:about|for|called|named|based|aimed|an?)(?!\\w)
        we(?:'re| are) (?:an? )?(?:[\\w-]+ ){{0,3}}{_GROUP}(?!\\w)
        we(?:'re| are) an? (?:[\\w-]+ )?(?:team|group) of
        we have (?:about |around |over )?\\d[\\d,.]* (?:employees|customers|users|clients|members|students)
        i(?:'m| am) (?:\\d\\d years old|in my (?:early |mid |late )?\\w+ties)
        (?:i|we) have {_YEARS} | i (?:have|suffer from) (?:an? )?(?:\\w+ ){{0,2}}{_ILLNESS}(?!\\w)
        (?:i|we)(?:'d like| want| would like| plan|'m planning|'re planning) to {_FOUND} {_VENTURE}(?!\\w)
        {_BE} (?:building|developing|creating|writing|launching|starting|opening) {_A} {_VENTURE}(?!\\w)
    """),
    beginning(f"""
        as an? {_WORKER}, i (?!need|want|expect|demand|think|feel|can|could|should|would|must|will|get
        see)\\w+
    """),
    within("""
        my (?:name|birthday|native language|mother tongue|time zone|timezone|address|budget|role|job|diet
        height|weight|major|hometown|employer|car|laptop|university|school) is
        ich heiße | ich wohne | ich arbeite (?:als|bei) | je m'appelle | j'habite | me llamo | vivo en
        mi chiamo | abito a | me chamo | moro em
    """),
)
"""Facts about the user and the project that stay true for months."""
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DATE = f"(?:{_MONTH} \\d{{1,2}}|\\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|\\d{{4}}-\\d\\d-\\d\\d)"
_OCCASION = """(?:deadline|appointment|exam|wedding|flight|trip|release|launch|birthday|interview|surgery
    conference|presentation|vacation|holiday|move|contract|lease)"""
DATED = clause(f"""
    (?:we(?:'re| are|'ll| will)|i(?:'m| am|'ll| will)) (?!need)[^.;]{{3,80}} {_DATE}
    (?:the|my|our) (?:[\\w-]+ ){{0,2}}{_OCCASION}s? (?:is|are|starts?|ends?)(?!\\w)[^.;]{{0,40}} {_DATE}
""")
"""A plan of the user with its day."""
_OTHER = r"(?:(?!\bnot\b|[.;]\s).){0,40}?"
_VALUE = rf"{_OTHER}(?:\d|`|(?<=\w\s)(?-i:[A-Z])\w){_OTHER}"
_BEING = r"(?:is|are|listens\son|runs\son|uses|comes?\sfrom|starts?|ends?|costs?)(?!\w)"
_OTHER_VALUE = r"(?:\w+\s){0,2}?[^\s,]*(?:\d|`|(?-i:[A-Z]))"
CORRECTING = within(f"""
    {_BEING}{_VALUE}(?:, (?:and )?not|,? instead of|,? rather than) {_OTHER_VALUE}.*
    (?:is|are) not {_VALUE},? but {_OTHER_VALUE}.*
    (?:ist|sind) nicht {_VALUE}, sondern {_OTHER_VALUE}.*
""")
"""A value, and the one that it is not."""
VALUED = re.compile(rf"\b{_BEING}{_VALUE}", re.IGNORECASE)
"""A value; after a contradiction it is a correction."""

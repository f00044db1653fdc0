"""Which English words make a statement have one value, many values, or no value that lasts."""

import re

ARTICLES = frozenset("a an the".split())

NOT_SUBJECTS = frozenset(
    """a an it he she they you him her them us this that these those there here who what which where when why
    how everyone everybody someone somebody anyone nobody noone everything something nothing one ones each
    every some any no none most all many several few both either neither another other others such his its
    their your yours mine ours theirs""".split()
)
"""Pronouns point outside the sentence; indefinite words do not pick out one thing."""

HONORIFICS = frozenset(
    "mr mrs ms miss dr sir lady lord dame count countess duke duchess prince princess".split()
)
"""With a surname alone they mean whoever the text before was about."""

TITLE_SMALL = frozenset("a an the of in on at to for and or by with from de la le du der von van &".split())
"""Words that stay small within a title."""

OPENERS = frozenset(
    """about after against among around as at before behind below beside between by despite during for from in
    inside into like near of on over since through to under until upon with within without and but or so then
    if unless whether while although though because suppose imagine assume maybe perhaps please never always
    let not just only even yes no ok okay oh well hey hi hello thanks sure also however meanwhile""".split()
)
"""A sentence that opens with one of these has no subject in front, or is no plain statement."""

DOUBTS = frozenset(
    """might may could would should will shall must can cannot maybe perhaps probably possibly presumably
    if unless whether think thinks thought believe believes believed guess guesses guessed suppose supposes
    said says say claim claims claimed tell tells told ask asks asked hear heard hope hopes hoped want wants
    wanted wish wishes wished seem seems seemed appear appears assume assumes imagine pretend likely allegedly
    reportedly consider considering suggest suggests suggested plans planned planning going gonna let
    try trying feels feel felt depending sometimes often usually occasionally typically generally partly
    'll 'd won't wouldn't couldn't shouldn't can't""".split()
)
"""Possible, wished, planned, reported or merely frequent: not stated as a fact."""

DOUBTFUL_OPENERS = frozenset(
    "if maybe perhaps possibly probably apparently allegedly reportedly supposedly presumably".split()
)

PASSING = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|so far|at the moment|this time|for once|once|twice"
    r"|(?:last|next|this|that|every|each|other|previous|following) (?:\w+ )?(?:night|morning|afternoon"
    r"|evening|day|week|weekend|month|quarter|year|season|spring|summer|autumn|fall|winter|time|sprint"
    r"|[A-Z]\w*day)"
    r"|(?:in|during) the (?:past|meantime|morning|afternoon|evening)|until|till|formerly|previously"
    r"|originally|temporarily|briefly)\b"
)
"""True of a moment or a stretch of time, not until further notice."""

ADDING = re.compile(
    r"\b(?:also|another|too|as well|one of|among|besides|in addition|additionally|along with|both|either"
    r"|other than|such as|e\.g\.|for example|for instance|part of|including|and more|etc)\b"
)
"""The speaker says that there are further values."""

GLUE = frozenset(
    """because while when whenever but although though which who whom whose that if unless since whereas so
    than then is are was were be been being has have had do does did i we you he she they it
    this these those his her its their your my our""".split()
)
"""Inside a subject or a value these begin another clause: the border was read wrongly."""

REMARKED = frozenset(
    """problem issue reason advantage disadvantage benefit feature thing way step point idea goal question
    answer challenge difference option choice tip trick rule lesson key fact truth case result effect
    consequence purpose focus aim plan hope dream fear concern topic subject kind sort piece bit lot rest
    half majority side aspect use need note story moment memory experience word message look feeling sound
    combination sign example part one strength weakness""".split()
)
"""Nouns that only announce a remark."""

POINTING = frozenset(
    "this that these those it he she they you him her them his its their your yours here there me us".split()
)
"""A sentence with one of these means something else in another conversation."""

MANY = frozenset(
    """friend member brother sister sibling cousin uncle aunt son daughter child kid grandson granddaughter
    grandchild nephew niece colleague coworker teammate partner neighbour neighbor guest pet dog cat bird
    ancestor descendant grandmother grandfather parent student pupil hobby skill interest symptom ingredient
    song album book novel film movie episode series character city town village river street person people
    man woman guy girl boy element component module dependency branch site task item love place game event
    trip day source form symbol home heart""".split()
)
"""Nouns of which a thing usually has several, unless one is singled out."""

ATTRIBUTES = frozenset(
    """name nickname surname username hostname password passphrase title colour color port host address email
    phone number url uri path directory folder version size length width height weight depth age price cost
    fee rent salary budget rate limit quota timeout interval threshold ttl retention delay deadline date
    birthday birthdate anniversary time duration frequency status priority severity mode level type format
    encoding charset locale timezone language currency theme font region location capital headquarters
    birthplace hometown nationality citizenship religion occupation job profession employer license licence
    target endpoint id identifier prefix suffix separator schema strategy total maximum minimum average
    temperature speed capacity default backend provider registrar domain
    genre gender""".split()
)
"""Nouns for a property: what has one at all has one at a time."""

VAGUE = frozenset("time number level rate total default average".split())
"""Properties only with a word before them: `start time`, but not `my time`."""

ROLES = frozenset(
    """ceo cto cfo coo president chairman chairwoman chairperson chair head king queen prince emperor empress
    pope mayor minister chancellor captain coach boss lead governor owner manager director author writer
    composer founder creator inventor editor publisher producer developer maintainer husband wife spouse
    father mother winner champion capital headquarters birthplace host landlord tenant leader commander
    secretary treasurer general principal dean bishop monarch ruler speaker conductor designer architect
    broadcaster master contact supervisor successor predecessor killer murderer discoverer""".split()
)
"""Nouns for a post or a relation that one person or thing holds at a time."""

MADE_ONCE = frozenset(
    """author writer composer founder creator inventor director producer developer publisher winner champion
    birthplace discoverer designer architect murderer killer father mother painter""".split()
)
"""Of these the past tense tells a lasting fact; of other roles it tells that they are over."""

SINGLING = frozenset(
    """best favourite favorite default current main primary preferred official original only sole native
    maiden middle full legal chief largest biggest highest tallest longest oldest youngest smallest""".split()
)
"""Adjectives that leave one of many."""

REMARKS = frozenset(
    """here there too very so quite pretty really much more less most not a an some one something someone
    all any just only that what how why where when because to in on at for from about under with by of like
    up down out off as both what's this these those it him her them me you us my your their his its still
    already almost always never now also even due""".split()
)
"""What follows `is` when a thing is described, not identified."""

ADJECTIVES = frozenset(
    """good bad great nice fine ok okay important wrong right unknown clear ready done missing different same
    similar high low big small large huge long short old new easy hard simple perfect amazing beautiful
    available possible necessary likely fast slow close far near safe unsafe secure stable unstable broken
    full empty fair cheap expensive free busy strong weak rich poor happy sad tired hungry sick healthy late
    early quick heavy light dark bright hot cold warm cool clean dirty wet dry loud quiet soft tight loose
    thick thin wide narrow deep flat correct incorrect valid invalid useful useless common rare strange weird
    funny boring interesting lovely awesome terrible horrible awful excellent wonderful delicious fresh modern
    outdated obsolete complete incomplete final flexible strict optional mandatory crucial essential critical
    vital urgent relevant unclear obvious unique identical equal tiny away back over gone dead alive finished
    unreal undefined unset irrelevant confidential secret""".split()
)
"""The same, if nothing but a conjunction follows: `dark`, but not `dark green`."""

ONGOING = frozenset(
    """rising falling increasing decreasing changing growing improving missing running coming getting going
    dropping needed required used expected included fixed limited based given called""".split()
)
"""Participles that tell what happens to a property, not what it is."""

SET_APART = frozenset("default current official primary preferred".split())
"""Those that do so whatever the text before was about."""

CATEGORIES = {
    "city": "", "town": "", "village": "", "country": "country", "nation": "country",
    "continent": "continent", "state": "state", "language": "language", "religion": "religion",
    "faith": "religion", "sport": "sport", "field": "field", "position": "position", "role": "position",
    "genre": "genre", "island": "island",
}  # fmt: skip
"""`the city of Rome` is Rome: the noun only says of which kind the value is, and that it is one."""

CONTINENTS = frozenset(
    """africa|asia|europe|america|north america|south america|latin america|antarctica|oceania|australia
    |scandinavia|eurasia|middle east|far east""".replace("\n    ", "").split("|")
)
COUNTRIES = frozenset(
    """afghanistan|albania|algeria|andorra|angola|argentina|armenia|austria|azerbaijan|bahamas|bahrain
    |bangladesh|barbados|belarus|belgium|belize|benin|bhutan|bolivia|bosnia|botswana|brazil|brunei|bulgaria
    |burundi|cambodia|cameroon|canada|chad|chile|china|colombia|congo|costa rica|croatia|cuba|cyprus|czechia
    |czech republic|denmark|djibouti|dominican republic|ecuador|egypt|el salvador|england|eritrea|estonia
    |ethiopia|fiji|finland|france|gabon|gambia|georgia|germany|ghana|great britain|greece|greenland|grenada
    |guatemala|guinea|guyana|haiti|honduras|hungary|iceland|india|indonesia|iran|iraq|ireland|israel|italy
    |ivory coast|jamaica|japan|jordan|kazakhstan|kenya|korea|kosovo|kuwait|kyrgyzstan|laos|latvia|lebanon
    |lesotho|liberia|libya|liechtenstein|lithuania|luxembourg|madagascar|malawi|malaysia|maldives|mali|malta
    |mauritania|mauritius|mexico|moldova|monaco|mongolia|montenegro|morocco|mozambique|myanmar|namibia|nepal
    |netherlands|new zealand|nicaragua|niger|nigeria|north korea|north macedonia|northern ireland|norway|oman
    |pakistan|palestine|panama|paraguay|peru|philippines|poland|portugal|puerto rico|qatar|romania|russia
    |rwanda|samoa|saudi arabia|scotland|senegal|serbia|seychelles|sierra leone|singapore|slovakia|slovenia
    |somalia|south africa|south korea|south sudan|spain|sri lanka|sudan|suriname|sweden|switzerland|syria
    |taiwan|tajikistan|tanzania|thailand|togo|tunisia|turkey|turkmenistan|uganda|uk|ukraine
    |united arab emirates|uae|united kingdom|britain|united states|united states of america|usa|us|uruguay
    |uzbekistan|vatican|venezuela|vietnam|wales|yemen|zambia|zimbabwe""".replace("\n    ", "").split("|")
)
STATES = frozenset(
    """alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois
    |indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi
    |missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|north carolina|north dakota|ohio
    |oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont
    |virginia|west virginia|wisconsin|wyoming|ontario|quebec|british columbia|alberta|bavaria|saxony|hesse
    |queensland|new south wales|tuscany|catalonia|normandy|brittany|yorkshire|cornwall|kent""".replace(
        "\n    ", ""
    ).split("|")
)
"""A place lies in others: a city, its state, its country and its continent are true together."""

LABELS = frozenset(
    """note notes todo fixme hint tip warning caution info important example step question answer q a user
    assistant system human ai bot summary context problem solution reason result idea task goal update fact
    reminder decision lesson bug fix issue error message subject re from to cc plan remember memory learned
    option pros cons http https ftp file mailto see ps btw fyi edit title topic quote comment action next
    first second third finally day week part chapter section scene output input used""".split()
)
"""Words before a colon that announce a remark or a speaker, no property."""

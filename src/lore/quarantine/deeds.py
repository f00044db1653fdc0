"""deeds: find what is done behind the user's back, or against the user's own protection, in English."""

import re

from lore.patterns import regex
from lore.quarantine.addresses import FOREIGN

PRIVATE_FILE = regex(
    r"\b(?:read|cat|load|send|take|use|copy|upload|include|attach|find)\b[^\n]{0,60}?(?:~|\$home"
    r"|/home/\w{1,40}|/root|/users/\w{1,40})/[^\s]{0,80}"
    r"(?:\.(?:pem|key|p12|pfx|jks|keystore|kdbx)|id_(?:rsa|ed25519|ecdsa)|/credentials|\.netrc)\b(?!\.pub)",
    re.IGNORECASE,
)
"""A private key of the user that is to be read."""

_LITERAL = r"[\"'`“‘][^\"'`”’\s]{4,40}[\"'`”’]"
OPEN = regex(
    r"\balg(?:orithm)?\W{1,4}none\b|\bpermitrootlogin yes\b"
    r"|\b(?:authorized|authenticated|is_admin)\b ?(?:=|:|to|return\w{0,2}) ?true\b"
    r"|\b0\.0\.0\.0/0\b[^\n]{0,60}\b(?:22|ssh|ingress|inbound)\b"
    rf"|\b(?:accept|allow|add|create|keep|leave)\b[^.\n]{{0,80}}\bpassword\b[^.\n]{{0,5}}{_LITERAL}"
    r"|\b(?:sanitiz|escap|validat|verif|authori[sz]|authenticat)\w{0,20}(?:\(\))?"
    r"[^.\n]{0,60}?\b(?:always|unconditionally) (?:return|accept|succeed|allow|pass)\w{0,3}\b"
    r"|\breturn the input unchanged\b|\buid ?[=:]? ?0\b"
    r"|\bpermissions?\b[^\n]{0,60}\b0?777\b",
    re.IGNORECASE,
)
"""Doors for everybody: no signature, a password that stands in the code, rights for all."""

_FAILING = r"(?:the |a |any |every )?(?:offending|failing|failed|broken|red)"
UNTESTED = regex(
    r"\b(?:skip|delete|remove|disable|comment out|xfail|weaken|silence|drop|ignore|mute)"
    rf" {_FAILING} (?:\w{{1,20}} )?(?:tests?|specs?|asserts?|assertions?|checks?|cases?)\b"
    r"|\btests?\b[^.\n]{0,60}\|\| ?true\b|\|\| ?true\b[^.\n]{0,60}\b(?:tests?|pipeline|checks?)\b",
    re.IGNORECASE,
)
"""A test that fails is removed, or cannot fail any more."""

_HIDDEN_DEED = (
    r"(?:add|change|modify|edit|swap|replace|commit|merge|create|switch|grant|update|allow|set|run|execute|send"
    r"|upload|push|append|insert|install|delete|disable|approve|copy|forward|include|post|put|remove|revert"
    r"|restore|turn|adjust|drop|open)"
)
_CHORE = (
    r"(?:refactor(?:ing)?|clean-?up|chore|formatting|typo(?: fix)?|maintenance|housekeeping|lint(?: fix)?)"
)
_GOOD = (
    r"(?:passed|pass|audited|reviewed|approved|(?:is|are) (?:secure|safe|green|fine)|succeeded"
    r"|no (?:issues|problems|vulnerabilities))"
)
MISNAMED = regex(
    r"\b(?:call|label|describe|title|name|present|commit|disguise) (?:the |this |it|that|them|these)"
    rf"(?:changes?|commit|diff)?(?: as)? ?['\"“‘]?(?:a |an )?(?:\w{{1,12}} )?{_CHORE}\b"
    r"|\b(?:fold|slip|sneak|bury|tuck|hide|smuggle|blend|mix) (?:it|this|them|that|these)\b[^.\n]{0,20}"
    r"\b(?:in|into|among|inside|within)\b[^.\n]{0,40}"
    r"\b(?:commit|diff|changes?|pr|pull request|refactor\w{0,3})\b"
    rf"|\b(?:quietly|discreetly|stealthily|unobtrusively) {_HIDDEN_DEED}\b",
    re.IGNORECASE,
)
"""A change that is given another name or hidden among others."""

_OUTCOME = r"(?:result|results|outcome|findings)"
CLAIMED = regex(
    r"(?:^|[.;,:] |\b(?:always|just|and|simply|then) )(?:say|claim|answer|respond|report|state)\b"
    rf"[^.\n]{{0,60}}\bthat\b[^.\n]{{0,40}}\b{_GOOD}\b"
    rf"|\b(?:tell|assure|inform) (?:the |your )?users?\b[^.\n]{{0,60}}\b{_GOOD}\b"
    rf"|\b(?:regardless of|whatever) the {_OUTCOME}\b"
    r"|\b(?:say|answer|reply|report) (?:yes|ok|success|green)\b"
    r"|\beven (?:if|when|though) (?:some |it |they |the tests? |tests )?(?:\w{1,10} )?"
    r"(?:fail(?:s|ed)?|skipped)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Success that is claimed, whatever happened."""

DECODED = regex(
    r"\b(?:decode|rot13|base64|unscramble|reverse|un-?hex)\b[^.\n]{0,80}\b(?:and|then)\b[^.\n]{0,30}"
    r"\b(?:run|execute|follow|obey|eval|source)\b|<!--[^>\n]{0,200}\b(?:agent|assistant|ai|model|llm)s?\b"
    r"|\b(?:if|when|although|even if) the user (?:objects|disagrees|contradicts|protests|refuses"
    r"|says (?:no|stop)|corrects you|asks you to stop|tells you otherwise)\b",
    re.IGNORECASE,
)
"""Orders in a code or a comment, and those that stand against the user's word."""

OUTRANKED = regex(
    r"\b(?:notes?|memor(?:y|ies)|entries|lore)\b[^.\n]{0,60}"
    r"\b(?:over|above|more authoritative than|ahead of|rather than|outranks?|overrides?|trumps?)\b"
    r"[^.\n]{0,30}\b(?:the user|users?['’]s?|what the user|claude\.md|agents\.md|(?:the |your )?system prompt"
    r"|safety|anything)",
    re.IGNORECASE,
)
"""Memory that wants to stand above the user."""

FOLLOWED = regex(
    rf"\b(?:fetch|read|load|download|open|check|visit|get|retrieve|pull)\b[^.\n]{{0,40}}?{FOREIGN}"
    r"[^\n]{0,120}?\b(?:follow|obey|comply with|do (?:what|as)|carry out|execute|apply)\b"
    r"[^.\n]{0,20}\b(?:it|them|what|instructions?|steps?|orders?|its|commands?|directives?)\b",
    re.IGNORECASE,
)
"""Orders that are fetched from elsewhere."""

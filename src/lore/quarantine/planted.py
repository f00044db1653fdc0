"""planted: patterns of texts that try to instruct the agent that reads them, or to leak data."""

import re

from lore.patterns import regex

_HIDDEN = regex(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2060-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]"
    "|(?<=[A-Za-z])[\u00ad\u200b-\u200f\ufeff](?=[A-Za-z])"
)
"""Control characters, changes of direction, and characters without a width inside a Latin word."""

_TAGS = regex(
    r"</?(?:system(?:[-_ ]\w+)?|assistant|developer|human|antml:\w+|function_(?:calls|results?)|invoke"
    r"|tool[-_](?:use|call|calls|result|results|response|output)|user[-_]prompt[-_]\w+|task-notification"
    r"|local-command-\w+|ide_\w+|im_(?:start|end|sep))(?:\s[^<>\n]{0,200})?>"
    r"|</(?:context|instructions?|prompt|user|memory|memories|lore|data|document|untrusted\w{0,20})>"
    r"|<\|[\w-]{1,40}\|>|\[/?INST\]|<</?SYS>>"
    r"|^\W{0,10}(?:system|developer) ?(?:prompt|message|override)\s?:",
    re.IGNORECASE | re.MULTILINE,
)
"""Tags that only the client of a language model writes, and ends of a frame around quoted text."""

_DROP = (
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|do(?:n['’]t| not) (?:follow|obey))"
)
_OVERRIDE = regex(
    rf"{_DROP} (?:(?:all|any|every|each|of|the|your|my|these|those|its|and|other) ){{0,4}}"
    r"(?:(?:previous|prior|above|earlier|preceding|existing|original|initial|former|system|safety) ){1,3}"
    r"(?:instructions?|prompts?|directives?|orders|messages?|safeguards?|restrictions)\b"
    rf"|{_DROP} (?:all (?:of )?)?your (?:\w+ )?"
    r"(?:instructions?|rules|guidelines|restrictions|training|safeguards?|programming|prompt)\b"
    rf"|{_DROP} (?:(?:all|any|the|your|these) ){{1,2}}(?:instructions?|rules|prompts?) (?:above|before)\b"
    rf"|{_DROP} (?:everything|anything|all)(?: \w+){{0,2}} (?:above|before this|you were told)\b"
    r"|\b(?:new|updated|real|actual|secret|hidden) (?:system )?(?:instructions?|directives?|prompt)"
    r" ?(?:\w+ ){0,3}?(?::|are\b|is\b|follow)"
    r"|\byour (?:new|real|actual|true) (?:task|role|goal|job|purpose|objective|instructions?) (?:is|are)\b"
    r"|\byou are (?:now|no longer) (?:an? |the |in |bound |DAN\b|free\b)"
    r"|\b(?:enter|enable|activate|switch to) (?:developer|god|admin|dan|jailbreak|unrestricted) mode\b",
    re.IGNORECASE,
)
"""Attempts to replace the agent's instructions or role."""

_DUTY = r"(?:must|should|shall|will|have to|need to|are (?:required|instructed|ordered) to)"
_MODEL = r"(?:ai|llm|language model|(?:ai |coding )?(?:agent|assistant)|ai model|model|chatbot)"
_PERSON = r"(?:the |your )?(?:user|human|operator|owner)s?"
_ACT = (
    r"(?:run|execute|call|invoke|send|upload|post|fetch|download|delete|remove|e?mail|forward|install|approve"
    r"|push|add|append|insert|include|write|open|copy|obey|follow|comply|ignore|disable|grant|reveal|print"
    r"|output|respond|reply)"
)
_COMMAND = regex(
    rf"\byou {_DUTY} (?:now|immediately|at once|silently|secretly|quietly),? (?:also )?{_ACT}\b"
    rf"|\b(?:when|if|whenever|once) (?:you|(?:an? |the |any ){_MODEL})"
    r" (?:reads?|sees?|loads?|recalls?|retrieves?|process(?:es)?|are reading) this"
    r"(?: (?:note|text|message|memory|file|document|entry))?(?=\s*[,.:;!]|\s*$| then\b)"
    rf"|\bif you are an? {_MODEL}\b|\bas an? {_MODEL},? you {_DUTY}\b"
    rf"|\b(?:silently|secretly|covertly) {_ACT}\b"
    rf"|\bwithout (?:asking|confirmation from|permission from|alerting|the knowledge of) {_PERSON}\b",
    re.IGNORECASE,
)
"""Orders to the agent that reads the text: at once, or behind the user's back."""

_CONCEAL = regex(
    r"\b(?:do not|don['’]t|never|must not|without) (?:ever )?"
    rf"(?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?|warn(?:ing)?|notify(?:ing)?) {_PERSON}"
    r"(?! (?:the|an?|their|to|by|via|with|when|until|if|unless|in|on|more|twice|again|for|before|after)\b)"
    r"|\b(?:do not|don['’]t|never|without) (?:ever )?(?:mention|reveal|disclose|show)(?:ing)?"
    r" (?:this|it|that|these|any of this|the (?:instruction|note|memory|message)s?)\b[^.\n]{0,40}"
    r"\b(?:user|human|operator|anyone|anybody|owner)\b"
    rf"|\b(?:hide|conceal|keep) (?:this|it|these|that)(?: \w+){{0,3}} from {_PERSON}\b",
    re.IGNORECASE,
)
"""Orders to keep something from the user. A rule about the messages of a product has an object: "do not tell
the user the password is wrong"."""

_SECRET = (
    r"(?:\$\{?\w{0,40}(?:key|token|secret|passw(?:or)?d|credentials?)|\.env\b|id_(?:rsa|ed25519)|\.ssh\b"
    r"|\.aws\b|\.netrc|/etc/(?:passwd|shadow)|api[ _-]?keys?\b|tokens?\b|secrets?\b|passwords?\b"
    r"|credentials?\b|(?:private|ssh) keys?\b|environment variables?\b|printenv)"
)
_LEAK = regex(
    r"\b(?:curl|wget|nc|http|invoke-webrequest|scp|requests\.post|fetch\()[^\n]{0,200}?"
    r"(?: -d| --data\S{0,20}| -F| --form| -T| --upload-file| --post-\w{4}| @|\?\w{1,40}=|body|data ?=)"
    rf"[^\n]{{0,80}}?{_SECRET}"
    rf"|{_SECRET}[^\n|]{{0,80}}\| ?(?:base64 [^\n|]{{0,20}}\| ?)?(?:curl|wget|nc|http)\b"
    r"|\b(?:send|post|upload|forward|e?mail|exfiltrat\w{1,4}|leak|transmit|append|include|encode|paste)\b"
    rf"[^.\n]{{0,60}}?{_SECRET}[^.\n]{{0,60}}?\b(?:to|at|in|into|as)\b[^.\n]{{0,30}}?"
    r"(?:https?://|\w@\w|webhook|pastebin)"
    r"|!\[[^\]\n]{0,100}\]\(https?://[^)\s]{0,200}[?&][^)\s]{0,100}[{$<]",
    re.IGNORECASE,
)
"""Secrets on their way out: in the body or the address of a request, or by a sentence that asks for it."""

OVERRIDE = "an attempt to replace the agent's instructions"
CONCEAL = "an order to keep something from the user"
PATTERNS = {
    "hidden characters": _HIDDEN,
    "tags that only a client of a language model writes": _TAGS,
    OVERRIDE: _OVERRIDE,
    "an order to the agent that reads it": _COMMAND,
    CONCEAL: _CONCEAL,
    "a secret on its way out": _LEAK,
}
"""What makes a text suspicious, in words, and the pattern that finds it."""

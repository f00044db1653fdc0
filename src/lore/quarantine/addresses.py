"""addresses: recognise where something comes from or goes to, unless it is the user's own or everybody's."""

import re

from lore.patterns import regex

OWN_HOST = (
    r"(?:localhost|127\.|10\.|192\.168\.|\[::1\]|[\w.-]{1,80}\.(?:internal|local|lan|corp|intranet"
    r"|localhost)\b"
    r"|(?:[\w-]{1,40}\.)?(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|yarnpkg\.com|pkg\.github\.com"
    r"|golang\.org|rubygems\.org|crates\.io|maven\.org|apache\.org|debian\.org|ubuntu\.com|docker\.(?:io|com)"
    r"|github\.com|gitlab\.com|ghcr\.io|quay\.io|pytorch\.org|nuget\.org|packagist\.org|conda\.io"
    r"|anaconda\.org)\b)"
)
FOREIGN = rf"(?:https?|ftp|git|sparse)(?:\+\w{{1,8}})?://(?:[^\s@/]{{1,40}}@)?(?!{OWN_HOST})[\w\[]"
ADDRESS = regex(
    rf"{FOREIGN}|\b[\w.+-]{{1,64}}@[\w-]{{1,60}}\.\w|(?<![\s`'\"]\.)\b(?!{OWN_HOST})[\w-]{{1,60}}\.(?:com|net|org"
    rf"|io|dev|co|ru|cn|xyz|site|top|info|app|example|test|invalid)\b(?!\.\w)"
    rf"|\b(?!{OWN_HOST}|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0)(?:\d{{1,3}}\.){{3}}\d{{1,3}}\b|s3://|ftp://",
    re.IGNORECASE,
)
PROGRAM = regex(
    rf"{FOREIGN}[^\s\"'`<>]{{0,200}}"
    r"(?:\.(?:sh|bash|ps1|py|pl|rb|js|exe|bat|cmd|bin|run|msi|pkg|dmg|appimage)|/install)\b",
    re.IGNORECASE,
)
PLAIN_HOST = regex(
    rf"(?:http|ftp)://(?!{OWN_HOST})[\w\[]|\b(?!{OWN_HOST})(?:\d{{1,3}}\.){{3}}\d{{1,3}}\b",
    re.IGNORECASE,
)
"""An address without encryption, or without a name."""
PAYEE = regex(
    r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}(?: ?[a-z0-9]{1,3})?\b|\b0x[0-9a-f]{40}\b|\bbc1[a-z0-9]{20,60}\b",
    re.IGNORECASE,
)
"""A bank account, or an address of a currency."""

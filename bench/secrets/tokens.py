"""Formats of tokens as vendors publish them; values are generated at run time, so no file holds a token."""

import random
import re
import string
from collections.abc import Mapping

ALPHABETS: Mapping[str, str] = {
    "a": string.ascii_lowercase,
    "b": string.ascii_letters + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "h": "0123456789abcdef",
    "d": string.digits,
    "u": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "B": string.ascii_letters + string.digits + "+/",
    "z": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "c": string.ascii_letters,
}
PART = re.compile(r"\{([a-zA-Z])(\d+)(?:-(\d+))?\}")
"""{alphabet length} or {alphabet shortest-longest}."""

TOKENS: Mapping[str, tuple[str, ...]] = {
    "aws key id": ("AKIA{A16}", "ASIA{A16}"),
    "github token": (
        "ghp_{b36}",
        "gho_{b36}",
        "ghu_{b36}",
        "ghs_{b36}",
        "ghr_{b36}",
        "github_pat_{b22}_{b59}",
    ),
    "gitlab token": ("glpat-{w20}", "glrt-{w20}", "gldt-{w20}", "glptt-{h40}", "glcbt-{h2}_{w20}"),
    "slack token": ("xoxb-{d12}-{d12}-{b24}", "xoxp-{d11}-{d11}-{d12}-{h32}", "xapp-1-A{u10}-{d13}-{h64}"),
    "slack webhook": ("https://hooks.slack.com/services/T{u10}/B{u10}/{b24}",),
    "anthropic key": ("sk-ant-api03-{w93}AA", "sk-ant-admin01-{w93}AA", "sk-ant-oat01-{w86}"),
    "openai key": ("sk-proj-{w74}T3BlbkFJ{w74}", "sk-{b20}T3BlbkFJ{b20}", "sk-svcacct-{w74}T3BlbkFJ{w74}"),
    "openrouter key": ("sk-or-v1-{h64}",),
    "deepseek key": ("sk-{h32}",),
    "stripe key": ("sk_live_{b24-99}", "sk_test_{b24-99}", "rk_live_{b24-99}"),
    "stripe webhook secret": ("whsec_{b32}",),
    "google api key": ("AIza{w35}",),
    "google oauth secret": ("GOCSPX-{w28}",),
    "google access token": ("ya29.{w80-160}",),
    "google refresh token": ("1//0{d1}{w60-90}",),
    "npm token": ("npm_{b36}",),
    "pypi token": ("pypi-AgEIcHlwaS5vcmc{w80-150}",),
    "hugging face token": ("hf_{c34}",),
    "docker token": ("dckr_pat_{w27}",),
    "rubygems token": ("rubygems_{h48}",),
    "crates.io token": ("cio{b32}",),
    "nuget key": ("oy2{l43}",),
    "sendgrid key": ("SG.{w22}.{w43}",),
    "twilio key": ("SK{h32}",),
    "mailgun key": ("key-{h32}",),
    "mailchimp key": ("{h32}-us{d2}",),
    "brevo key": ("xkeysib-{h64}-{b16}",),
    "digitalocean token": ("dop_v1_{h64}", "doo_v1_{h64}", "dor_v1_{h64}"),
    "heroku key": ("HRKU-AA{w58}",),
    "netlify token": ("nfp_{b36}",),
    "fly token": ("fo1_{w43}", "fm2_lJPE{B100-200}"),
    "render key": ("rnd_{b32}",),
    "supabase token": ("sbp_{h40}", "sb_secret_{w31}"),
    "planetscale token": ("pscale_tkn_{w43}", "pscale_pw_{w43}"),
    "databricks token": ("dapi{h32}",),
    "vault token": ("hvs.{w90-110}", "hvb.{w140}"),
    "terraform token": ("{b14}.atlasv1.{w67}",),
    "doppler token": ("dp.pt.{b43}", "dp.st.prd.{b43}"),
    "pulumi token": ("pul-{h40}",),
    "1password token": ("ops_eyJ{w250}",),
    "age key": ("AGE-SECRET-KEY-1{z58}",),
    "grafana token": ("glsa_{b32}_{h8}", "glc_eyJ{B60-100}"),
    "new relic key": ("NRAK-{u27}",),
    "sentry token": ("sntrys_eyJ{B80-120}_{B43}", "sntryu_{h64}"),
    "posthog key": ("phx_{b43}",),
    "telegram token": ("{d10}:AA{w33}", "{d9}:AA{w33}"),
    "discord token": ("M{b23}.{w6}.{w27}", "N{b25}.{w6}.{w38}"),
    "discord webhook": ("https://discord.com/api/webhooks/{d18}/{w68}",),
    "teams webhook": ("https://acme.webhook.office.com/webhookb2/{h8}-{h4}@{h8}/IncomingWebhook/{h32}/{h8}",),
    "shopify token": ("shpat_{h32}", "shpss_{h32}", "shpca_{h32}", "shppa_{h32}"),
    "square token": ("sq0atp-{w22}", "sq0csp-{w43}", "EAAA{w60}"),
    "linear key": ("lin_api_{b40}",),
    "notion token": ("ntn_{b46}", "secret_{b43}"),
    "airtable token": ("pat{b14}.{h64}",),
    "atlassian token": ("ATATT3xFfGF0{w150-180}={h8}", "ATBB{b32}"),
    "figma token": ("figd_{w40}",),
    "dropbox token": ("sl.{w130-150}",),
    "contentful token": ("CFPAT-{w43}",),
    "mapbox token": ("sk.eyJ{w60-80}.{w22}",),
    "postman key": ("PMAK-{h24}-{h34}",),
    "groq key": ("gsk_{b52}",),
    "replicate token": ("r8_{b37}",),
    "perplexity key": ("pplx-{b48}",),
    "xai key": ("xai-{b80}",),
    "nvidia key": ("nvapi-{w64}",),
    "langsmith key": ("lsv2_pt_{h32}_{h10}",),
    "tavily key": ("tvly-dev-{b32}",),
    "tailscale key": ("tskey-auth-{b17}-{b32}",),
    "json web token": ("eyJ{w20-60}.eyJ{w60-300}.{w43}",),
    "facebook token": ("EAA{b150-200}",),
    "firebase key": ("AAAA{w7}:APA91b{w134}",),
    "jfrog token": ("AKCp{b69}",),
    "sonar token": ("squ_{h40}", "sqp_{h40}"),
    "buildkite token": ("bkua_{h40}",),
    "azure client secret": ("{w3}8Q~{w34}",),
    "alibaba key id": ("LTAI{b20}",),
    "wallet key": ("xprv{b107}",),
    "aws secret": ("{B40}",),
}

HELD_OUT = frozenset(
    {
        "gitlab token", "google oauth secret", "docker token", "twilio key", "mailgun key",
        "digitalocean token", "fly token", "planetscale token", "vault token", "pulumi token",
        "grafana token", "sentry token", "discord token", "square token", "airtable token",
        "figma token", "mapbox token", "groq key", "nvidia key", "tailscale key", "firebase key",
        "sonar token", "azure client secret", "netlify token", "age key", "slack webhook",
        "anthropic key", "stripe webhook secret", "nuget key", "wallet key",
    }
)  # fmt: skip
"""Types on which no rule was tuned."""


def token_of(form: str, chance: random.Random) -> str:
    """A random token of this form, with at least one digit in each long random part."""
    return PART.sub(lambda part: _random(part, chance), form)


def _random(part: re.Match[str], chance: random.Random) -> str:
    letters = ALPHABETS[part[1]]
    length = chance.randint(int(part[2]), int(part[3] or part[2]))
    return "".join(chance.choices(letters, k=length))

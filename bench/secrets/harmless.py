"""Lines that look like secrets and hold none: code, settings, logs, hashes, placeholders and prose."""

import base64
import random
import uuid
from collections.abc import Callable, Mapping

from bench.secrets.named import WORDS
from bench.secrets.tokens import token_of

NAMES = (
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apiKey",
    "auth_token",
    "client_secret",
    "accessKey",
)
UPPER = ("PASSWORD", "DB_PASSWORD", "SECRET", "GITHUB_TOKEN", "API_KEY", "AUTH_TOKEN", "CLIENT_SECRET")
TYPES = (
    "str",
    "string",
    "String",
    "bytes",
    "SecretStr",
    "Optional[str]",
    "string | null",
    "number",
    "char *",
)
THINGS = ("user", "session", "config", "request", "params", "settings", "client", "account", "row", "form")
SLOTS: Mapping[str, Callable[[random.Random], str]] = {
    "name": lambda chance: chance.choice(NAMES),
    "NAME": lambda chance: chance.choice(UPPER),
    "type": lambda chance: chance.choice(TYPES),
    "thing": lambda chance: chance.choice(THINGS),
    "word": lambda chance: chance.choice(WORDS),
    "number": lambda chance: str(chance.randint(1, 9_999)),
    "sha1": lambda chance: token_of("{h40}", chance),
    "sha256": lambda chance: token_of("{h64}", chance),
    "md5": lambda chance: token_of("{h32}", chance),
    "short": lambda chance: token_of("{h7}", chance),
    "uuid": lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
    "base64": lambda chance: base64.b64encode(chance.randbytes(chance.randint(60, 400))).decode(),
    "sri": lambda chance: base64.b64encode(chance.randbytes(64)).decode(),
    "sri256": lambda chance: base64.b64encode(chance.randbytes(32)).decode(),
    "placeholder": lambda chance: chance.choice(PLACEHOLDERS),
    "camel": lambda chance: chance.choice(WORDS) + "".join(w.capitalize() for w in chance.sample(WORDS, 3)),
    "snake": lambda chance: "_".join(chance.sample(WORDS, 4)),
    "kebab": lambda chance: "-".join(chance.sample(WORDS, 3)),
    "path": lambda chance: "/".join(chance.sample(WORDS, chance.randint(3, 6))),
    "sentence": lambda chance: " ".join(chance.sample(WORDS, 6)),
}
PLACEHOLDERS = (
    "your-api-key-here", "<your token>", "YOUR_TOKEN", "changeme", "xxxxxxxxxxxxxxxx", "********", "example",
    "<password>", "${PASSWORD}", "$TOKEN", "{{ token }}", "%(password)s", "placeholder", "REPLACE_ME", "...",
    "[redacted]", "insert-key-here", "my-secret-token", "{token}", "%s", "TODO", "dummy-key", "null", "None",
    "<API_KEY>", "sk-...", "ghp_xxxxxxxxxxxxxxxxxxxx", "your_password", "$(cat token.txt)", "`pass show db`",
)  # fmt: skip

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "assignments of variables": (
        "{name} = req.body.{name}", "const {{ {name} }} = req.body;", "{name} = {thing}.{name}",
        "self.{name} = {name}", "this.{name} = {name};", "{name} = os.environ['{NAME}']",
        '{name} = os.environ["{NAME}"]', "{name} = os.getenv('{NAME}')", "{name}: process.env.{NAME},",
        "{name} = get_{name}({thing})", "{name}={name}", "return {{'{name}': {name}}}", "{name} := {thing}.{camel}()",
        "{name} = {thing}['{name}']", "{name} = await {thing}.{camel}({number})", "if ({name} === {thing}.{name}) {{",
        "{name}={thing}.{name}, {word}={number}", "{name} = {camel}{number}", "let {name} = {thing}.{camel}.{name};",
        "{name} = {name} or default_{name}", "{name} = hash_{name}({name}{number})", "del {thing}.{name}",
        "{name}: {thing}.{camel},", "{name} = secrets.token_hex({number})", "{name} = crypto.randomBytes({number})",
        "{name} = input('{name}: ')", "{name} = getpass.getpass()", "{name} = None", "{name} = ''", '{name}: "",',
    ),
    "types and signatures": (
        "{name}: {type}", "{name}: {type} = None", "{name}: {type};", "def login(user: str, {name}: {type}) -> bool:",
        "func login({name} {type}) error {{", "private String {name};", "{name}?: {type};", "{name} VARCHAR({number})",
        "  {name}: {{ type: 'string', minLength: {number} }},", "@param {name} the {word} of the {thing}",
        ":param {name}: the {word}", '"{name}": {{"type": "string"}},', "{name}: z.string().min({number}),",
        "{name} = models.CharField(max_length={number})", "{name} = Column(String({number}))",
        "interface {camel} {{ {name}: string; {word}: number }}", "ALTER TABLE {word} ADD COLUMN {name} TEXT;",
        "pub {name}: Option<String>,", "{name}: SecretStr = Field(..., min_length={number})",
    ),
    "references and placeholders": (
        "{NAME}={placeholder}", '{name}: "{placeholder}"', "{name} = '{placeholder}'", "export {NAME}=${{{NAME}}}",
        "{name}: ${{{{ secrets.{NAME} }}}}", "{NAME}=$(vault read -field={word} {path})", "--{name} {placeholder}",
        "{NAME}: !Ref {camel}", "{name}: {{{{ .Values.{word}.{name} }}}}", "{name} = var.{snake}",
        "{name}: vault:{path}#{word}", "curl -u user:$PASSWORD https://{word}.example.org",
        "curl -u $USER:$TOKEN https://{word}.example.org", "postgres://user:password@localhost:{number}/{word}",
        "postgres://${{USER}}:${{PASSWORD}}@{word}/{word}", "redis://:$REDIS_PASSWORD@{word}:6379",
        "Authorization: Bearer {placeholder}", "Authorization: Bearer ${{{name}}}", "X-Api-Key: {placeholder}",
        "{name}_file: /run/secrets/{word}", "{NAME}_FILE=/run/secrets/{word}", "{name}_path = '/{path}'",
        "secretName: {kebab}", "secretKeyRef: {{ name: {kebab}, key: {name} }}", "{name}_url: https://{word}.org",
        "mysql -u root -p {word}", "docker run -p {number}:80 {word}", "ssh -p 2222 ada@{word}.example.org",
    ),
    "hashes and ids": (
        "commit {sha1}", "index {short}..{short} 100644", "sha256:{sha256}", "{uuid}", "session_id={uuid}",
        "request {uuid} took {number} ms", '"integrity": "sha512-{sri}",', 'integrity sha512-{sri}',
        '    "resolved": "https://registry.npmjs.org/{word}/-/{word}-1.2.{number}.tgz#{sha1}",',
        "{word}==1.{number} --hash=sha256:{sha256}", "checksum = \"{sha256}\"", "ETag: \"{md5}\"", "md5 {md5}",
        "h1:{sri256}", "{word} v1.{number}.0 h1:{sri256}", "image: {word}@sha256:{sha256}", "trace_id={md5}",
        "git checkout {sha1}", "{sha1} refs/heads/{kebab}", "password_hash = '{sha256}'", "token_sha256: {sha256}",
        '<script src="/{path}.js" integrity="sha384-{sri256}">', "key_id: {uuid}", "cache-key: {word}-{sha256}",
        "nonce-{md5}", "blob:https://{word}.org/{uuid}", "etag: W/\"{short}-{short}\"", "span_id={short}{short}aa",
    ),
    "data": (
        "data:image/png;base64,{base64}", "data:font/woff2;base64,{base64}", "{base64}", '"payload": "{base64}"',
        "content: {base64}", "<img src='data:image/gif;base64,{base64}'>", '"image/png": "{base64}",',
        "//# sourceMappingURL=data:application/json;base64,{base64}", "body={base64}",
    ),
    "styles and names": (
        '<div class="sk-fading-circle sk-{word}-{word}-container">', ".sk-{kebab}-{word}-animation {{ color: red }}",
        "sk-{kebab}-loading-spinner-dot", "--token-{word}-color: #ff{number}", "key-{kebab}", "hf_{snake}_model",
        "npm_{snake}", "npm_config_registry=https://{word}.org", "def test_{name}_reset_{snake}():",
        "it('rejects an expired {name} for {word}', async () => {{", "test_{snake}_with_{name}_{number}",
        "glpat-{word}", "pypi-{kebab}", "xox-{kebab}", "{camel}Token{camel}", "SECRET_{word}_NAME = '{kebab}'",
        "AKIA is how {word} begins", "gsk_{snake}", "r8_{word}", "data-token-{word}='{number}'", "pat-{kebab}",
        "{camel}.{camel}.{camel}()", "from {word}.{word} import {camel}{camel}{camel}", "/{path}/{path}/{camel}.ts",
        "https://{word}.example.org/{path}/{path}?page={number}", "https://{word}:{number}/{path}@v{number}",
        "git@github.com:{word}/{kebab}.git", "npm install @{word}/{kebab}@^1.{number}.0", "ops_{snake}",
        "{thing}.{camel}.{camel}.{camel}.{camel}", "#include <{path}/{snake}.h>", "rnd_{snake}_{snake}_{snake}",
        "phx_{snake}_handler_for_{snake}", "sbp_{snake}", "sq0-{kebab}", "shp_{snake}", "figd_{word}",
    ),
    "models and tokens": (
        "max_tokens: {number}", "max_tokens={number}", "prompt tokens: {number}, completion tokens: {number}",
        "tokens = tokenizer({word})", "eos_token: '</s>'", "pad_token_id = {number}", "next_page_token: 'CAUQAA{number}'",
        "token_type: bearer", '"token_type": "Bearer",', "token_count = {number}", "tokenizer.{snake}.{number}",
        "n_tokens={number} kept={number}", "token: {word}", "primary_key: {word}_id", "foreign_key = '{word}.{word}'",
        "sort_key={word}{number}", "partition_key: {snake}", "key: {kebab}-{number}", "key = '{word}:{number}'",
        "cache_key = f'{word}:{{user.id}}'", "idempotency_key = '{kebab}-{number}'", "keyboard: {word}",
        "registry_key: {word}", "public_key: ssh-ed25519 for {word}", "auth: oauth2", "auth: {word}", "basic auth",
        "authors = ['{word}', '{word}']", "author: {word} {word}", "auth_method = '{word}'", "monkey = '{word}{number}'",
        "compass: {number}", "passed: {number}, failed: {number}", "bypass = {word}{number}", "passenger: {word}{number}",
    ),
    "prose": (
        "The password is in the vault, ask {word}.", "Rotate the {name} every {number} days.",
        "We decided that the {name} lives in {word}, not in the {thing}.", "password: at least {number} characters",
        "Why does the {name} expire after {number} seconds?", "The secret of {word} is {word}.",
        "Error: invalid {name} for {word}", "Token expired at 2026-01-{number}", "{name} must not be empty",
        "Please set {NAME} in your environment before running {word}.", "password is required",
        "the token is {number} characters long", "Basic understanding of {sentence}", "bearer of {sentence}",
        "Incorrect password: {sentence}", "secret: {sentence}", "key: {sentence}", "Cookie: {sentence}",
        "See the {name} section of {word}.md for {word}.", "401 Unauthorized: {name} missing",
        "the {name} is stored hashed with argon2id", "Does {camel} pass its {name} to {camel}?",
        "Cookies: theme={word}; lang=en", "document.cookie = 'theme={word}'", "-----BEGIN CERTIFICATE-----",
        "curl -u is short for --user", "the header -----BEGIN " + "PRIVATE KEY----- marks a key", "{sentence}",
    ),
    "logs": (
        "2026-01-15T09:00:{number}Z INFO {word}: {sentence}", "[{number}] GET /{path} 200 {number}ms", "PASS {path}.ts",
        "  at {camel} (/{path}/{camel}.js:{number}:{number})", "PID {number} {word} {camel} {number}K", "{name}: ok",
        "warning: {name} was not set, using {word}", "Step {number}/{number} : RUN {word} {path}", "{short} {sentence}",
        "-rw-r--r-- 1 ada ada {number} Jan 15 {snake}.{word}", "{word}.{word}.{word}:{number}: {sentence}",
        "Successfully built {short}{short}", "0x{short}{short} {camel}", "::{short}:{short} dev {word}",
    ),
}  # fmt: skip

HELD_OUT = frozenset({"types and signatures", "hashes and ids", "models and tokens", "logs"})
"""Families on which no rule was tuned."""


class _Slots(dict[str, str]):
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def __missing__(self, name: str) -> str:
        return SLOTS[name](self._chance)


def line_of(template: str, chance: random.Random) -> str:
    """The template with something random in each slot."""
    return template.format_map(_Slots(chance))

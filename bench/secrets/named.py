"""Secrets that a name identifies: passwords in code, settings, addresses, commands and headers."""

import base64
import random
import string
from collections.abc import Callable, Mapping

from bench.secrets.tokens import token_of

WORDS = (
    "harbour walnut cobalt lantern thunder pepper saffron meadow granite falcon copper velvet tundra marble"
    " juniper compass orchard magnet glacier timber"
).split()
MARKS = "!@#%^*-_+=.?"

Template = tuple[str, Callable[[random.Random], str]]
"""A line with {} at the place of the secret, and the secret's maker."""


def password(chance: random.Random) -> str:
    """A password as people choose them: words with digits and marks, or a manager's random one."""
    one, other = chance.sample(WORDS, 2)
    digits = "".join(chance.choices(string.digits, k=chance.randint(1, 4)))
    return chance.choice(
        (
            one + digits,
            one.capitalize() + digits + chance.choice("!?#*"),
            f"{one}-{other}-{digits}",
            one[:3] + chance.choice("!@%^*") + other[:4] + digits,
            "".join(chance.choices(string.ascii_letters + string.digits, k=chance.randint(10, 24))) + digits,
            "".join(chance.choices(string.ascii_letters + string.digits + MARKS, k=16)) + digits,
        )
    )


def plain_password(chance: random.Random) -> str:
    """A password of letters and digits alone."""
    return chance.choice(WORDS) + "".join(chance.choices(string.ascii_letters + string.digits, k=6)) + "7"


def opaque(chance: random.Random) -> str:
    """A random value without a form of its own."""
    forms = ("{h32}", "{h40}", "{h64}", "{b24}7", "{b32}4", "{w40}1", "{l20}3", "{h8}-{h4}-4{h3}-{h4}-{h12}")
    return token_of(chance.choice(forms), chance)


def base64_key(chance: random.Random) -> str:
    """32 random bytes in base64."""
    return base64.b64encode(chance.randbytes(32)).decode()


def pair(chance: random.Random) -> str:
    """User and password in base64, as HTTP's basic authentication sends them."""
    return base64.b64encode(f"ada:{password(chance)}{chance.randint(100, 999)}".encode()).decode()


NAMED: Mapping[str, tuple[Template, ...]] = {
    "environment": (
        ("PASSWORD={}", password),
        ("export DB_PASSWORD={}", password),
        ("GITHUB_TOKEN={}", opaque),
        ("HEROKU_API_KEY={}", opaque),
        ("SECRET_KEY={}", opaque),
        ("docker run -e MYSQL_ROOT_PASSWORD={} mysql:8", password),
        ("      - POSTGRES_PASSWORD={}", password),
        ('export OPENAI_API_KEY="{}"', opaque),
        ("PGPASSWORD={} psql -h db.internal -U ferry", password),
        ("DD_API_KEY={}", opaque),
        ("ENV STRIPE_SECRET={}", opaque),
        ("$env:AZURE_CLIENT_SECRET = '{}'", opaque),
        ("TWILIO_AUTH_TOKEN={}", opaque),
    ),
    "code": (
        ('password = "{}"', password),
        ("const apiKey = '{}';", opaque),
        ('    client_secret: "{}",', opaque),
        ('db.connect(host="db", user="ada", password="{}")', password),
        ('private static final String API_TOKEN = "{}";', opaque),
        ('auth_token := "{}"', opaque),
        ('let secret: &str = "{}";', opaque),
        ('password: str = "{}"', password),
        ("$config['db_password'] = '{}';", password),
        ('os.environ["API_KEY"] = "{}"', opaque),
        ('define("DB_PASSWORD", "{}");', password),
        (':secret_token => "{}",', opaque),
    ),
    "settings": (
        ("password: {}", plain_password),
        ("  api_key: {}", opaque),
        ('  "password": "{}",', password),
        ('{{"access_token": "{}", "expires_in": 3600}}', opaque),
        ('{{\\"password\\": \\"{}\\"}}', password),
        ("spring.datasource.password={}", password),
        ("requirepass {}", plain_password),
        ("//packages.example.org/:_authToken={}", opaque),
        ("machine git.example.org login ada password {}", plain_password),
        ("<password>{}</password>", plain_password),
        ("- name: DB_PASSWORD\n  value: {}", plain_password),
        ('secret_key = "{}" # terraform', opaque),
        ("aws_secret_access_key = {}", lambda chance: token_of("{B40}", chance)),
        ("aws_session_token={}", lambda chance: token_of("IQoJb3JpZ2lu{B200}", chance)),
        ('"private_key_id": "{}",', lambda chance: token_of("{h40}", chance)),
        ("client-secret: {}", opaque),
    ),
    "address": (
        ("redis://:{}@cache.internal:6379/0", plain_password),
        ("postgres://ferry:{}@db.example.org/ferry", plain_password),
        ("mongodb+srv://ada:{}@cluster0.example.net/test", plain_password),
        ("git clone https://ada:{}@git.example.org/ferry.git", plain_password),
        ("amqp://guest:{}@mq:5672/", password),
        ('DATABASE_URL="mysql://root:{}@127.0.0.1:3306/app"', plain_password),
        ("proxy=http://corp:{}@proxy:3128", plain_password),
    ),
    "connection string": (
        ("Server=db;Database=ferry;User Id=sa;Password={};", plain_password),
        ("DefaultEndpointsProtocol=https;AccountName=ferry;AccountKey={};", lambda c: base64_key(c)),
        (
            "Endpoint=sb://ferry.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={}",
            base64_key,
        ),
        ("host=db user=ada password={} dbname=ferry", plain_password),
        (
            "https://ferry.blob.core.windows.net/c?sv=2024-01-01&sr=c&sig={}",
            lambda chance: base64_key(chance).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
        ),
        ("https://api.example.org/v1/ferries?api_key={}&page=2", opaque),
        ("https://example.org/callback#access_token={}&state=1", opaque),
    ),
    "command": (
        ("curl -u ada:{} https://example.org/api", password),
        ("curl -s --user ada:{} -X POST https://example.org", plain_password),
        ("mysql -u root -p{} ferry", plain_password),
        ("sshpass -p {} ssh ada@host", plain_password),
        ("sshpass -p '{}' scp a b:", password),
        ("redis-cli -h cache -a {} ping", plain_password),
        ("docker login -u ada -p {} registry.example.org", plain_password),
        ("vault login --token {}", opaque),
        ("tool --password {} --verbose", plain_password),
        ("tool --api-key={} run", opaque),
        ("CREATE USER ferry IDENTIFIED BY '{}';", password),
        ("ALTER ROLE ferry WITH PASSWORD '{}';", password),
        ("az login --service-principal -u app --password {}", plain_password),
    ),
    "header": (
        ("Authorization: Bearer {}", opaque),
        ("-H 'Authorization: Bearer {}'", opaque),
        ('"Authorization": "Basic {}"', pair),
        ("Authorization: token {}", opaque),
        ("X-Api-Key: {}", opaque),
        ("PRIVATE-TOKEN: {}", opaque),
        ("Cookie: sessionid={}", opaque),
        ("Set-Cookie: sid={}; Path=/; HttpOnly", opaque),
        ("curl -b 'session={}' https://example.org", opaque),
        ("x-auth-token: {}", opaque),
        ("Proxy-Authorization: Basic {}", pair),
    ),
    "prose": (
        ("the password is {}", plain_password),
        ("Log in as ada, password: {}", plain_password),
        ("My API key is {} if you need it.", opaque),
        ("use the token `{}` for staging", opaque),
        ("Passwort: {}", plain_password),
    ),
    "private key": (
        (
            "-----BEGIN RSA " + "PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
            lambda chance: "\n".join(token_of("{B64}", chance) for _ in range(6)),
        ),
        (
            '"private_key": "-----BEGIN ' + 'PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n"',
            lambda chance: "\\n".join(token_of("{B64}", chance) for _ in range(5)),
        ),
        (
            "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n{}",
            lambda chance: "\n".join(token_of("{B70}", chance) for _ in range(4)),
        ),
        (
            "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
            lambda chance: "\n".join(token_of("{B64}", chance) for _ in range(5)),
        ),
    ),
}

HELD_OUT = frozenset({"connection string", "header", "command"})
"""Types on which no rule was tuned."""

"""transport: how bytes reach the server: over TLS, through the proxies that it trusts, and under which
names."""

import ipaddress
import re
import ssl
from typing import Any

from lore.config import Config
from lore.errors import Invalid

HOST = re.compile(r"\*|[^\s/:@]+")
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/]+/?", re.IGNORECASE)


def listed(setting: str) -> list[str]:
    """The values of a comma-separated setting."""
    return [value.strip() for value in setting.split(",") if value.strip()]


def check_names(config: Config) -> None:
    """Invalid if no request could ever match a name in the settings."""
    for host in listed(config.allowed_hosts):
        if not HOST.fullmatch(host):
            raise Invalid(
                f"allowed_hosts has names like lore.example.org, without scheme and port, not {host!r}"
            )
    for origin in listed(config.allowed_origins):
        if not ORIGIN.fullmatch(origin):
            raise Invalid(f"allowed_origins has origins like https://example.org, not {origin!r}")


def transport_options(config: Config) -> dict[str, Any]:
    """Options of uvicorn for the certificate and the proxies; Invalid if one of them cannot be used."""
    proxies = [_network(proxy) for proxy in listed(config.trusted_proxies)]
    options: dict[str, Any] = {"proxy_headers": bool(proxies), "forwarded_allow_ips": proxies}
    if config.tls_cert is None and config.tls_key is None:
        return options
    if config.tls_cert is None or config.tls_key is None:
        raise Invalid("TLS needs both a certificate and its key: give --tls-cert and --tls-key")
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(config.tls_cert, config.tls_key, password=_no_password)
    except (OSError, ValueError) as error:
        raise Invalid(
            f"{config.tls_cert} and {config.tls_key} are not a certificate and its key in PEM: {error}"
        ) from error
    return options | {"ssl_certfile": config.tls_cert, "ssl_keyfile": config.tls_key}


def _network(proxy: str) -> str:
    try:
        ipaddress.ip_network(proxy)
    except ValueError as error:
        raise Invalid(
            f"trusted_proxies has addresses like 192.0.2.7 or 192.0.2.0/24, not {proxy!r}"
        ) from error
    return proxy


def _no_password() -> str:
    """OpenSSL would ask at the terminal, which a service does not have."""
    raise ValueError("the key is encrypted; give one that is not, readable by its owner only")

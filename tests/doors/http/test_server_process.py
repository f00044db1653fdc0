"""`lore-server` as its administrator runs it: tokens made and revoked beside it, TLS, a proxy in front."""

import datetime
import ipaddress
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from lore.config import load
from lore.doors.http.server import run
from lore.errors import Invalid
from tests.doors.command import Command
from tests.doors.http.guarded import bearer
from tests.doors.resident import SECONDS

SERVER = (sys.executable, "-c", "from lore.doors.http.server import main; main()")


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "LORE_DATA_DIR": str(folder), "LORE_EMBEDDING_MODEL": "hash", "LORE_PORT": "0"}


@contextmanager
def running(folder: Path, *options: str) -> Iterator[str]:
    """The address of a server with these options."""
    command = [*SERVER, *options]
    with subprocess.Popen(command, env=environment(folder), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split(" at ")[1].split(";")[0]
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0


def audit(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "audit.log").read_text().splitlines()]


def test_a_running_server_knows_tokens_as_they_are_made_and_revoked(tmp_path: Path) -> None:
    lore = Command(tmp_path)
    with running(tmp_path) as address, httpx2.Client(base_url=address) as client:
        assert client.get("/status").status_code == 401
        token = lore("token", "create", "Ines", "--namespace", "web").stdout.strip()
        headers = {**bearer(token), "X-Forwarded-For": "198.51.100.7"}
        draft = {"draft": "Deploys happen on Mondays"}
        id = client.post("/api/v1/remember", json=draft, headers=headers).json()["id"]
        lore("token", "revoke", "Ines", "--yes")
        assert client.get("/status", headers=headers).status_code == 401
    [listed] = lore.document("token", "list")["tokens"]
    assert (listed["name"], listed["state"], "digest" in listed) == ("Ines", "revoked", False)
    assert listed["last_used_at"] is not None
    assert "remember through api Ines" in lore("--namespace", "web", "read", id, "--history").stdout
    lines = [(line["status"], line["route"], line["address"]) for line in audit(tmp_path)]
    here = "127.0.0.1"
    assert lines == [(401, "/status", here), (200, "/api/v1/remember", here), (401, "/status", here)]


def test_a_server_for_other_machines_does_not_start_without_a_token(tmp_path: Path) -> None:
    config = load({}, data_dir=tmp_path, embedding_model="hash", host="0.0.0.0", port=0)
    with pytest.raises(Invalid, match=r"does not listen on 0\.0\.0\.0 .* run lore token create NAME first"):
        run(config)


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "lore")])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    built = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now - day, now + day
    )
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = built.add_extension(names, False).sign(key, hashes.SHA256())
    files = folder / "cert.pem", folder / "key.pem"
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    files[0].write_bytes(signed.public_bytes(pem))
    files[1].write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return files


def test_a_server_speaks_tls_and_believes_the_proxies_it_trusts(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    data = tmp_path / "data"
    headers = {
        **bearer(Command(data)("token", "create", "ci").stdout.strip()),
        "X-Forwarded-For": "198.51.100.7",
    }
    options = ("--trusted-proxy", "127.0.0.1", "--tls-cert", str(cert), "--tls-key", str(key))
    with running(data, *options) as address:
        assert address.startswith("https://127.0.0.1:")
        with httpx2.Client(base_url=address, verify=ssl.create_default_context(cafile=cert)) as client:
            assert client.get("/status", headers=headers).status_code == 200
            assert client.get("/status", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 401
    assert [line["address"] for line in audit(data)] == ["198.51.100.7", "127.0.0.1"]

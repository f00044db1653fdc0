"""loopback: model servers on this machine that speak OpenAI's API; only `lore setup` looks for them."""

from urllib.parse import urlsplit

import httpx2

from lore.environment import of_clients
from lore.llm.http import LOOPBACK

SERVERS = {  # title -> its usual address
    "Ollama": "http://127.0.0.1:11434",
    "LM Studio": "http://127.0.0.1:1234",
    "llama.cpp": "http://127.0.0.1:8080",
}
OLLAMA_VARIABLE = "OLLAMA_HOST"
SECONDS = 1.0
EMBEDS = "embed"
"""What names of models have in them that only embed."""


def served() -> tuple[str, str, str] | None:
    """Title, address and model of the first server on this machine that answers and has a model."""
    for title, root in SERVERS.items():
        root = _own_ollama() or root if title == "Ollama" else root
        if models := _models(root):
            return title, f"{root}/v1", models[0]
    return None


def _own_ollama() -> str:
    """The address that the user's own Ollama listens at, if it was moved within this machine."""
    host = of_clients((OLLAMA_VARIABLE,)).get(OLLAMA_VARIABLE, "")
    root = host if "://" in host else f"http://{host}"
    return root.rstrip("/") if host and urlsplit(root).hostname in LOOPBACK else ""


def _models(root: str) -> list[str]:
    """The names of its models; none if nobody answers there, or somebody else."""
    try:
        with httpx2.Client(timeout=SECONDS, verify=False, trust_env=False) as client:
            listed = client.get(f"{root}/v1/models").json()["data"]
            names = [str(one["id"]) for one in listed]
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError):
        return []
    return [name for name in names if EMBEDS not in name.lower()]

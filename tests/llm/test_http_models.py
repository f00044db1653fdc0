"""Both adapters for HTTP against a real server, well-behaved and not."""

import socket
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lore.errors import Invalid
from lore.llm.base import LanguageModel, NoAnswer, Nonsense, Prompt, Refused, Settings, Unreachable
from lore.llm.http import AnthropicModel, OpenAIModel
from lore.llm.structured import ask
from tests.doors.http.test_server_process import certificate
from tests.llm.conftest import COLOUR
from tests.llm.serving import Server, Situation

KEY = "secret-of-the-user"
QUESTION = Prompt(system="You are terse.", text="Which colour has grass?", schema=COLOUR, timeout=30)
Opened = Callable[..., LanguageModel]
MODELS: dict[str, Opened] = {"anthropic": AnthropicModel, "openai": OpenAIModel}


@pytest.fixture(params=MODELS)
def opened(request: pytest.FixtureRequest) -> Opened:
    """An adapter of each kind, for any situation."""

    def open_(situation: Situation, **settings: Any) -> LanguageModel:
        chosen = Settings(base_url=f"{situation.url}/v1", api_key_env="THE_KEY", **settings)
        return MODELS[request.param](chosen, KEY)

    return open_


def openai(situation: Situation, **settings: Any) -> OpenAIModel:
    return OpenAIModel(Settings(base_url=f"{situation.url}/v1", api_key_env="THE_KEY", **settings), KEY)


def test_data_comes_back_with_what_it_took(opened: Opened, server: Server) -> None:
    reply = ask(opened(server("ok"), extraction_model="m1"), QUESTION)
    assert reply.data == {"colour": "green"}
    assert (reply.model, reply.tokens_in, reply.tokens_out, reply.cut) == ("m1", 13, 7, False)


def test_an_answer_that_ended_at_the_limit_says_so(opened: Opened, server: Server) -> None:
    assert opened(server("cut")).complete(replace(QUESTION, schema=None)).cut


def test_words_come_back_when_no_data_is_asked_for(opened: Opened, server: Server) -> None:
    reply = opened(server("ok")).complete(replace(QUESTION, schema=None))
    assert (reply.text, reply.data) == ("Hello.", None)


def test_each_role_has_its_model(opened: Opened, server: Server) -> None:
    situation = server("ok")
    model = opened(situation, extraction_model="careful", compression_model="quick")
    model.complete(QUESTION)
    model.complete(replace(QUESTION, role="compression", max_tokens=99))
    first, second = (request["body"] for request in situation.requests())
    assert (first["model"], second["model"]) == ("careful", "quick")
    assert (first["max_tokens"], second["max_tokens"]) == (4096, 99)


def test_anthropic_is_asked_in_its_way(server: Server) -> None:
    situation = server("ok")
    for ending in ("", "/", "/v1", "/v1/"):
        AnthropicModel(Settings(base_url=situation.url + ending), KEY).complete(QUESTION)
    request, *_ = requests = situation.requests()
    assert {f"{situation.root}{request['path']}" for request in requests} == {f"{situation.url}/v1/messages"}
    assert request["headers"]["x-api-key"] == KEY
    assert request["headers"]["anthropic-version"] == "2023-06-01"
    body = request["body"]
    assert body["system"] == QUESTION.system
    assert body["messages"] == [{"role": "user", "content": QUESTION.text}]
    assert body["tools"][0]["input_schema"] == COLOUR
    assert body["tool_choice"] == {"type": "tool", "name": body["tools"][0]["name"]}


def test_openai_is_asked_in_its_way(server: Server) -> None:
    situation = server("ok")
    openai(situation).complete(QUESTION)
    [request] = situation.requests()
    assert request["path"].endswith("/v1/chat/completions")
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    assert request["body"]["response_format"]["json_schema"]["schema"] == COLOUR
    system, user = request["body"]["messages"]
    assert (system["role"], user) == ("system", {"role": "user", "content": QUESTION.text})
    assert system["content"].startswith(QUESTION.system)


@pytest.mark.parametrize(
    ("behaviour", "formats"),
    [
        ("schemaless", ["json_schema", "json_object", "json_object"]),
        ("plain", ["json_schema", "json_object", None, None]),
    ],
)
def test_a_server_is_asked_for_less_when_it_rejects_a_format_and_that_is_remembered(
    server: Server, behaviour: str, formats: list[str | None]
) -> None:
    situation = server(behaviour)
    model = openai(situation)
    for _ in range(2):
        assert ask(model, QUESTION).data == {"colour": "green"}
    bodies = [request["body"] for request in situation.requests()]
    assert [body.get("response_format", {}).get("type") for body in bodies] == formats


def test_a_server_that_knows_the_limit_by_another_name_gets_that_name(server: Server) -> None:
    situation = server("modern")
    model = openai(situation)
    for _ in range(2):
        assert ask(model, QUESTION).data == {"colour": "green"}
    bodies = [request["body"] for request in situation.requests()]
    assert ["max_tokens" in body for body in bodies] == [True, False, False]
    assert {body["response_format"]["type"] for body in bodies} == {"json_schema"}


def test_a_request_that_is_rejected_in_every_form_teaches_nothing(server: Server) -> None:
    situation = server("long")
    model = openai(situation)
    for _ in range(2):
        with pytest.raises(Refused, match="too long"):
            model.complete(QUESTION)
    formats = [request["body"].get("response_format", {}).get("type") for request in situation.requests()]
    assert formats == ["json_schema", "json_object", None] * 2


@pytest.mark.parametrize(
    ("behaviour", "kind", "retry", "lost", "words"),
    [
        ("busy", Unreachable, True, False, "too many requests.*wait 7 s"),
        ("broken", Unreachable, True, False, "500: .*oh dear"),
        ("overloaded", Unreachable, True, False, "529: overloaded"),
        ("unpaid", Refused, False, False, "no credit left"),
        ("unknown", Refused, False, False, "'careful'.*no such model.*extraction_model"),
        ("elsewhere", Refused, False, False, "elsewhere.example.*base_url"),
        ("long", Refused, False, False, "400: the text is too long"),
        ("truncated", Unreachable, True, True, "broke off"),
        ("prose", Nonsense, True, True, "not answer with a JSON object but: <html>Welcome"),
        ("strange", Nonsense, False, True, "the answer is not a"),
        ("declined", Refused, False, True, "careful declined"),
    ],
)
def test_each_failure_says_what_it_is_and_whether_to_ask_again(
    opened: Opened, server: Server, behaviour: str, kind: type[NoAnswer], retry: bool, lost: bool, words: str
) -> None:
    with pytest.raises(NoAnswer, match=words) as caught:
        opened(server(behaviour), extraction_model="careful").complete(QUESTION)
    assert isinstance(caught.value, kind)
    assert (caught.value.retry, caught.value.lost) == (retry, lost)
    assert caught.value.general == (behaviour in ("unpaid", "unknown", "elsewhere"))


def test_a_server_says_how_long_to_wait_in_seconds_or_by_a_date(opened: Opened, server: Server) -> None:
    for behaviour, seconds in (("busy", 7), ("dated", 15), ("overloaded", None)):
        with pytest.raises(Unreachable) as caught:
            opened(server(behaviour)).complete(QUESTION)
        assert caught.value.after == seconds


@pytest.mark.parametrize("behaviour", ["hang", "drip"])
def test_an_answer_that_does_not_come_in_time_is_not_waited_for(
    opened: Opened, server: Server, behaviour: str
) -> None:
    with pytest.raises(Unreachable, match=r"within 1 s \(timeout_secs\)") as caught:
        opened(server(behaviour), timeout_secs=1).complete(replace(QUESTION, timeout=None))
    assert caught.value.lost


def test_a_server_that_is_not_there_is_named(opened: Opened) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens, and nobody else can
        port = taken.getsockname()[1]
        with pytest.raises(Unreachable, match=rf"127\.0\.0\.1:{port}.*is it running") as caught:
            opened(Situation(f"http://127.0.0.1:{port}")).complete(QUESTION)
    assert (caught.value.retry, caught.value.lost, caught.value.general) == (True, False, True)


def test_a_server_with_a_certificate_that_nobody_vouches_for_is_told_nothing(
    opened: Opened, tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as threads:
        handshake = threads.submit(
            lambda: context.wrap_socket(listener.accept()[0], server_side=True).close()
        )
        address = Situation(f"https://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(Unreachable, match="certificate verify failed"):
            opened(address).complete(QUESTION)
        with pytest.raises(ssl.SSLError):
            handshake.result()


def test_a_wrong_key_is_named_by_its_variable_and_never_shown(opened: Opened, server: Server) -> None:
    with pytest.raises(Refused, match=r"THE_KEY .*holds a wrong one") as caught:
        opened(server("locked")).complete(QUESTION)
    assert KEY not in str(caught.value)
    assert (caught.value.retry, caught.value.general) == (False, True)


def test_a_key_that_is_missing_is_named_by_its_variable(server: Server) -> None:
    settings = Settings(base_url=f"{server('locked').url}/v1", api_key_env="THE_KEY")
    with pytest.raises(Refused, match=r"the variable THE_KEY .*is not set"):
        OpenAIModel(settings).complete(QUESTION)


def test_a_proxy_is_no_way_to_this_machine(
    opened: Opened, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert ask(opened(server("ok")), QUESTION).data == {"colour": "green"}


def test_without_a_key_anthropic_is_not_asked_at_all(server: Server) -> None:
    situation = server("ok")
    with pytest.raises(Refused, match="set the variable ANTHROPIC_API_KEY"):
        AnthropicModel(Settings(base_url=situation.url)).complete(QUESTION)
    assert situation.requests() == []


def test_the_key_for_anthropic_is_shown_to_nobody_else(server: Server) -> None:
    situation = server("locked")
    with pytest.raises(Refused, match="api_key_env"):
        OpenAIModel(Settings(base_url=f"{situation.url}/v1"), KEY).complete(QUESTION)
    [request] = situation.requests()
    assert "authorization" not in request["headers"]


def test_whatever_has_the_wrong_shape_is_not_data(opened: Opened, server: Server) -> None:
    situation = server("wrong")
    with pytest.raises(Nonsense, match=r"twice.*colour: 5 is not of type 'string'"):
        ask(opened(situation), QUESTION)
    first, second = situation.requests()
    assert "is not of type" in second["body"]["messages"][-1]["content"]
    assert "is not of type" not in first["body"]["messages"][-1]["content"]


def test_halves_of_characters_do_not_stop_a_request(opened: Opened, server: Server) -> None:
    assert ask(opened(server("ok")), replace(QUESTION, text="half \ud83d a pair")).data == {"colour": "green"}


@pytest.mark.parametrize("model", MODELS.values())
@pytest.mark.parametrize("url", ["localhost:11434", "ftp://x/v1", "http://", "http://h:x/", "http://a b/"])
def test_an_address_that_is_none_is_named(model: Opened, url: str) -> None:
    with pytest.raises(Invalid, match="base_url must be an address"):
        model(Settings(base_url=url), KEY)


def test_a_bare_address_is_completed(server: Server) -> None:
    """The usual ending is added where there is none: Ollama's address is known without it."""
    model = OpenAIModel(Settings(base_url=server.root))
    with pytest.raises(Refused):
        model.complete(QUESTION)
    assert Situation(f"{server.root}/v1").requests()[-1]["path"] == "/v1/chat/completions"

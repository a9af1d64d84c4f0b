"""Providers that fail, each in its way: what a client is told, how often it was tried, and that the key stays in."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from fdegym.gateway.chat import ChatRequest, parse_chat
from fdegym.gateway.configuration import GatewayConfiguration, Price
from fdegym.gateway.problems import GatewayProblem
from fdegym.gateway.providers import OpenAIProvider, RecordingUnreadable, ReplayProvider, provider_of
from tests.gateway.failing_providers import (
    AnswersTheNumberOfTheCall,
    BreaksOff,
    BusyAtFirst,
    CountsNothing,
    Packs,
    Provider,
    Refuses,
    RepeatsWhatItWasSent,
    Says,
    SaysNothing,
    StreamsOneWordAndWaits,
    WantsTheLaterName,
    answer,
    closed_port,
)

KEY = "sk-a-key-that-nobody-may-see"


def chat(text: str = "hello", **further: Any) -> ChatRequest:
    return parse_chat(json.dumps({"messages": [{"role": "user", "content": text}], **further}).encode())


async def ask(url: str, request: ChatRequest | None = None, *, timeout_s: float = 30.0) -> Any:
    provider, request = OpenAIProvider(url, KEY, timeout_s=timeout_s, pause_s=0.01), request or chat()
    try:
        return await provider.answer(request, request_hash=request.hash(), model="small")
    finally:
        await provider.close()


async def streamed(url: str, *, timeout_s: float = 30.0) -> tuple[list[bytes], Any]:
    provider, request = OpenAIProvider(url, KEY, timeout_s=timeout_s, pause_s=0.01), chat(stream=True)
    events: list[bytes] = []
    try:
        async with provider.stream(request, request_hash=request.hash(), model="small") as stream:
            async for event in stream.events():
                events.append(event)
            return events, stream.assembled.whole()
    except GatewayProblem as problem:
        return events, problem
    finally:
        await provider.close()


async def test_an_answer_is_reduced_to_what_clients_read() -> None:
    with Provider(AnswersTheNumberOfTheCall()) as provider:
        found = await ask(provider.url)
    assert set(found.body) == {"id", "object", "created", "model", "choices", "usage"}
    assert found.body["choices"][0]["message"] == {"role": "assistant", "content": "answer 1"}
    assert (found.prompt_tokens, found.completion_tokens) == (9, 3)


async def test_the_provider_gets_the_key_the_models_name_and_always_a_limit() -> None:
    with Provider(AnswersTheNumberOfTheCall()) as provider:
        await ask(provider.url, chat("What is $FDEGYM_GATEWAY_KEY, and ${FDEGYM_GATEWAY_KEY}?"))
    [(headers, body)] = provider.requests
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body["model"] == "small"
    assert body["max_tokens"] > 0
    # the name of the key is text like any other: nothing is put in its place
    assert body["messages"][0]["content"] == "What is $FDEGYM_GATEWAY_KEY, and ${FDEGYM_GATEWAY_KEY}?"


async def test_a_model_that_wants_the_limit_under_its_later_name_gets_it_and_is_not_asked_wrongly_again() -> None:
    with Provider(WantsTheLaterName()) as server:
        provider = OpenAIProvider(server.url, KEY, timeout_s=30, pause_s=0.01)
        try:
            for text in ("one", "two"):
                request = chat(text, max_tokens=77)
                found = await provider.answer(request, request_hash=request.hash(), model="small")
                assert found.body["choices"][0]["message"]["content"] == "well"
        finally:
            await provider.close()
    limits = [(body.get("max_tokens"), body.get("max_completion_tokens")) for _, body in server.requests]
    assert limits == [(77, None), (None, 77), (None, 77)]


async def test_a_limit_that_is_refused_for_its_value_stays_under_its_name() -> None:
    """A server that does not know the other name would answer without any limit."""
    error = {"message": "max_tokens is too large", "param": "max_tokens", "code": "invalid_value"}
    with Provider(Says(json.dumps({"error": error}).encode(), 400)) as server, pytest.raises(GatewayProblem) as problem:
        await ask(server.url)
    assert problem.value.code == "provider_refused"
    assert len(server.requests) == 1


async def test_calls_of_tools_pass_in_both_directions() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"day": 2}'}}

    def calls_a_tool(handler: Any, body: Any, number: int) -> None:
        Says(json.dumps(answer(None, tool_calls=[call])).encode())(handler, body, number)  # type: ignore[arg-type]

    tools = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
    with Provider(calls_a_tool) as provider:
        found = await ask(provider.url, chat(tools=tools, tool_choice="auto"))
    assert provider.requests[0][1]["tools"] == tools
    assert found.body["choices"][0]["message"]["tool_calls"] == [call]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_provider_that_is_busy_for_a_moment_is_asked_again(status: int) -> None:
    with Provider(BusyAtFirst(status, 2, retry_after="0")) as provider:
        found = await ask(provider.url)
    assert found.body["choices"][0]["message"]["content"] == "answer 3"


FAILURES = [
    (Refuses(500), "provider_failed", 502),
    (Refuses(429), "provider_failed", 503),
    (Refuses(401), "provider_failed", 502),
    (Refuses(403), "provider_failed", 502),
    (Refuses(404), "provider_failed", 502),
    (Refuses(302, location="http://127.0.0.1:1/"), "provider_failed", 502),
    (Refuses(400, "too long"), "provider_refused", 400),
    (Refuses(422), "provider_refused", 422),
    (Says(b"{"), "provider_unreadable", 502),
    (Says(b"\xff"), "provider_unreadable", 502),
    (Says(b"[" * 100_000), "provider_unreadable", 502),
    (Says(b"[]"), "provider_unreadable", 502),
    (Says(b'{"choices": []}'), "provider_unreadable", 502),
    (Says(b'{"choices": [{"message": 1}]}'), "provider_unreadable", 502),
    (Says(b'{"choices": [{"message": {"content": 1}}]}'), "provider_unreadable", 502),
    (Says(json.dumps(answer("x" * 9_000_000)).encode()), "provider_unreadable", 502),
    (Says(json.dumps(answer("x", tool_calls=[1])).encode()), "provider_unreadable", 502),
    (BreaksOff(), "provider_unreadable", 502),
    (Packs("gzip"), "provider_unreadable", 502),
    (Packs("gzip, gzip"), "provider_unreadable", 502),
]


def named(value: Any) -> str | None:
    return type(value).__name__ if not isinstance(value, str | int) else None


@pytest.mark.parametrize(("behaviour", "code", "status"), FAILURES, ids=named)
async def test_each_failure_of_a_provider_has_a_code_for_programs(behaviour: Any, code: str, status: int) -> None:
    with Provider(behaviour) as provider, pytest.raises(GatewayProblem) as problem:
        await ask(provider.url)
    assert (problem.value.code, problem.value.status) == (code, status)
    assert problem.value.is_fault == (code != "provider_refused")


async def test_a_provider_that_is_not_there_cannot_be_reached() -> None:
    with pytest.raises(GatewayProblem) as problem:
        await ask(f"http://127.0.0.1:{closed_port()}/v1")
    assert problem.value.code == "provider_unreachable"


@pytest.mark.parametrize("behaviour", [SaysNothing(), StreamsOneWordAndWaits()], ids=named)
async def test_a_provider_that_takes_too_long_is_given_up(behaviour: Any) -> None:
    with Provider(behaviour) as provider:
        try:
            events, problem = await streamed(provider.url, timeout_s=1)
        finally:
            behaviour.over.set()
    assert problem.code == "provider_timeout"
    assert len(events) == (1 if isinstance(behaviour, StreamsOneWordAndWaits) else 0)


async def test_a_stream_is_passed_on_as_it_comes_and_put_together() -> None:
    with Provider(AnswersTheNumberOfTheCall()) as provider:
        events, whole = await streamed(provider.url)
    texts = [json.loads(event.removeprefix(b"data: "))["choices"][0]["delta"].get("content", "") for event in events]
    assert texts == ["answer", " 1", ""]
    assert whole.body["choices"][0]["message"]["content"] == "answer 1"
    assert (whole.prompt_tokens, whole.completion_tokens) == (9, 3)


async def test_half_a_stream_is_no_answer() -> None:
    with Provider(BreaksOff()) as provider:
        events, problem = await streamed(provider.url)
    assert len(events) == 1
    assert problem.code == "provider_unreadable"


@pytest.mark.parametrize(
    "delta", [{"content": ["x"]}, {"content": 1}, {"tool_calls": 1}, {"tool_calls": [1]}, {"tool_calls": [{}]}, 1]
)
async def test_a_piece_of_a_stream_that_is_none_is_the_providers_failure_and_not_ours(delta: Any) -> None:
    row = json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}).encode()
    with Provider(Says(b"data: " + row + b"\n\n")) as provider:
        events, problem = await streamed(provider.url)
    assert events == []
    assert problem.code == "provider_unreadable"


async def test_usage_that_is_not_told_is_unknown_and_not_nothing() -> None:
    with Provider(CountsNothing()) as provider:
        found = await ask(provider.url)
    assert not found.counted
    assert "usage" not in found.body


@pytest.mark.parametrize(
    "behaviour", [RepeatsWhatItWasSent(), Refuses(400, f"the key {KEY} is wrong"), Refuses(401, f"bad key {KEY}")]
)
async def test_no_provider_can_make_the_gateway_repeat_the_key(
    behaviour: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with Provider(behaviour) as provider:
        try:
            said = json.dumps((await ask(provider.url)).body)
        except GatewayProblem as problem:
            said = json.dumps(problem.body())
    assert "key" in said or "calls" in said
    assert KEY not in said
    assert KEY not in caplog.text


async def test_a_key_that_stands_escaped_in_an_answer_does_not_pass_either() -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "KEY"}}
    said = json.dumps(answer("you sent KEY", tool_calls=[call])).replace("KEY", escaped).encode()
    assert KEY not in said.decode()
    with Provider(Says(said)) as provider:
        body = (await ask(provider.url)).body
    assert body["choices"][0]["message"]["content"] == "you sent [key]"
    assert KEY not in json.dumps(body)


async def test_a_redirect_does_not_take_the_key_elsewhere() -> None:
    with Provider(AnswersTheNumberOfTheCall()) as elsewhere:
        redirecting = Refuses(307, location=f"{elsewhere.url}/chat/completions")
        with Provider(redirecting) as provider, pytest.raises(GatewayProblem):
            await ask(provider.url)
        assert elsewhere.requests == []


async def test_a_proxy_of_the_environment_sees_no_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with Provider(AnswersTheNumberOfTheCall()) as provider:
        assert (await ask(provider.url)).body["choices"]


# ---- recordings ------------------------------------------------------------------------------------------------------


def recording(path: Path, *rows: Any) -> ReplayProvider:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    site = GatewayConfiguration("replay", models={"small": Price(1, 2)}, recording=path)
    provider = provider_of(site, "")
    assert isinstance(provider, ReplayProvider)
    return provider


async def test_a_recording_answers_what_it_has_and_says_what_it_lacks(tmp_path: Path) -> None:
    asked = {"messages": [{"content": "hello", "role": "user"}], "temperature": 0}
    provider = recording(tmp_path / "calls", {"request": asked, "answer": answer("recorded")})
    request = chat(temperature=0.0)
    found = await provider.answer(request, request_hash=request.hash(), model="small")
    assert found.body["choices"][0]["message"]["content"] == "recorded"
    with pytest.raises(GatewayProblem) as missing:
        await provider.answer(chat("other"), request_hash=chat("other").hash(), model="small")
    assert (missing.value.status, missing.value.code) == (503, "not_recorded")
    assert not missing.value.is_fault


@pytest.mark.parametrize("row", [1, {}, {"request": {}, "answer": {}}, {"request": {"messages": []}, "answer": 1}])
def test_a_recording_that_is_none_names_the_line(tmp_path: Path, row: Any) -> None:
    with pytest.raises(RecordingUnreadable, match="line 1"):
        recording(tmp_path / "calls", row)

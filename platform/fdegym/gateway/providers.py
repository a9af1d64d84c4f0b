"""Who answers: nobody, an OpenAI-compatible API, or a recording.

A provider is asked for one answer as a whole or as it comes. It raises ``GatewayProblem`` and nothing else, and no word of
it ever holds the key: what an API says about a key it did not like is not passed on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx

from fdegym.gateway.answers import Answered, Assembled, read_answer, unreadable
from fdegym.gateway.chat import ChatRequest, parse_chat
from fdegym.gateway.configuration import GatewayConfiguration
from fdegym.gateway.problems import GatewayProblem, disabled

logger = logging.getLogger(__name__)

LARGEST_ANSWER = 8 * 1024 * 1024
LARGEST_ERROR = 64 * 1024
CONNECT_S = 10.0
TRIES = 3  #: in all, where the provider was not reached, busy, or failed before it had answered anything
PAUSE_S = 0.5  #: before the second try; twice that before the third
LONGEST_PAUSE_S = 5.0
CONNECTIONS = 64
#: With these a provider finds fault with the request itself: the same request will be refused again.
REQUEST_FAULTS = frozenset({400, 413, 422})


class Stream(Protocol):
    """An answer as it comes: ``events`` gives what to pass on, ``assembled`` is what came so far."""

    assembled: Assembled

    def events(self) -> AsyncIterator[bytes]: ...


class Provider(Protocol):
    """``request_hash`` names the answer; ``model`` is one of the configuration's names."""

    streams: bool  #: whether an answer can be passed on before it is whole

    async def answer(self, request: ChatRequest, *, request_hash: str, model: str) -> Answered: ...

    def stream(self, request: ChatRequest, *, request_hash: str, model: str) -> Any:
        """A context manager that gives a ``Stream``."""

    async def close(self) -> None: ...


class DisabledProvider:
    """No model is connected."""

    streams = False

    async def answer(self, request: ChatRequest, *, request_hash: str, model: str) -> Answered:
        raise disabled()

    def stream(self, request: ChatRequest, *, request_hash: str, model: str) -> Any:
        raise disabled()

    async def close(self) -> None:
        """Nothing is open."""


class ReplayProvider:
    """Answers from a file of ``{"request": {...}, "answer": {...}}``, one a line; a request's first answer counts."""

    streams = False

    def __init__(self, recording: Path) -> None:
        self._answers: dict[str, Mapping[str, Any]] = {}
        with recording.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                    request, answer = parse_chat(json.dumps(row["request"]).encode()), row["answer"]
                    read_answer(answer, request_hash=request.hash(), model=request.model)
                except (ValueError, LookupError, TypeError, GatewayProblem) as problem:
                    raise RecordingUnreadable(
                        f"line {number} of {recording} is no recorded call: {problem}"
                    ) from problem
                self._answers.setdefault(request.hash(), answer)

    async def answer(self, request: ChatRequest, *, request_hash: str, model: str) -> Answered:
        try:
            return read_answer(self._answers[request_hash], request_hash=request_hash, model=model)
        except KeyError:
            words = "This request is not in the recording from which the gateway answers."
            raise GatewayProblem(503, "not_recorded", words) from None

    def stream(self, request: ChatRequest, *, request_hash: str, model: str) -> Any:
        raise GatewayProblem(503, "whole_only", "A recording answers whole, not as a stream.")

    async def close(self) -> None:
        """Nothing is open."""


class RecordingUnreadable(ValueError):
    """The recording is no file of calls. The message names the line."""


class OpenAIProvider:
    """Any API that speaks OpenAI's chat completions."""

    streams = True

    def __init__(self, url: str, key: str, *, timeout_s: float, pause_s: float = PAUSE_S) -> None:
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._key, self._timeout_s, self._pause_s = key, timeout_s, pause_s
        self._limit_renamed: set[str] = set()  # models that want the answer's limit under its later name
        headers = {"Accept-Encoding": "identity", "User-Agent": "fdegym-gateway"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        # Nothing of the environment decides where prompts go: no proxy, no .netrc. A redirect would take the key along.
        self._client = httpx.AsyncClient(
            base_url=url,
            headers=headers,
            trust_env=False,
            follow_redirects=False,
            verify=ssl.create_default_context(),
            timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=8),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def answer(self, request: ChatRequest, *, request_hash: str, model: str) -> Answered:
        try:
            async with asyncio.timeout(self._timeout_s), self._asked(request.for_provider(model)) as response:
                row = self._parsed(await _all_of(response, LARGEST_ANSWER))
        except TimeoutError as problem:
            raise _too_slow() from problem
        return read_answer(row, request_hash=request_hash, model=model)

    @asynccontextmanager
    async def stream(self, request: ChatRequest, *, request_hash: str, model: str) -> AsyncIterator[Stream]:
        body = {**request.for_provider(model), "stream": True, "stream_options": {"include_usage": True}}
        try:
            async with asyncio.timeout(self._timeout_s) as limit, self._asked(body) as response:
                yield _OpenAIStream(self, response, Assembled(request_hash=request_hash, model=model))
        except TimeoutError as problem:
            if not limit.expired():
                raise  # of a client that takes nothing
            raise _too_slow() from problem

    @asynccontextmanager
    async def _asked(self, body: Mapping[str, Any]) -> AsyncIterator[httpx.Response]:
        """A response with status 200, after as many tries as may help."""
        for left in range(TRIES - 1, -1, -1):
            pause_s = self._pause_s * 2 ** (TRIES - 1 - left)
            if body["model"] in self._limit_renamed and "max_tokens" in body:
                limit = {"max_completion_tokens": body["max_tokens"]}
                body = {name: value for name, value in body.items() if name != "max_tokens"} | limit
            try:
                request = self._client.build_request("POST", "/chat/completions", json=body)
                response = await self._client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
                if left:
                    await asyncio.sleep(pause_s)
                    continue
                raise _unreachable() from problem
            except httpx.TimeoutException as problem:
                raise _too_slow() from problem
            except httpx.HTTPError as problem:
                raise _broken_off() from problem
            try:
                if response.status_code != 200:
                    if left and response.status_code in (429, 500, 502, 503, 529):
                        await asyncio.sleep(_pause_wanted(response, pause_s))
                        continue
                    refusal = await self._refusal(response)
                    if left and "max_tokens" in body and refusal.param == "max_tokens":
                        self._limit_renamed.add(body["model"])
                        continue
                    raise refusal
                if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
                    raise unreadable("packed, which was not asked for")  # nor is it unpacked: a few bytes become many
                yield response
                return
            except httpx.TimeoutException as problem:
                raise _too_slow() from problem
            except httpx.HTTPError as problem:
                raise _broken_off() from problem
            finally:
                await response.aclose()

    async def _refusal(self, response: httpx.Response) -> GatewayProblem:
        status = response.status_code
        logger.warning("the provider of the model gateway answered with status %s", status)
        if status in REQUEST_FAULTS:
            words, param = self._words_of(await _all_of(response, LARGEST_ERROR))
            return GatewayProblem(status, "provider_refused", words, param=param)
        if status == 429:
            return GatewayProblem(503, "provider_failed", "The model's provider has too much to do. Try again later.")
        if status >= 500:
            return GatewayProblem(502, "provider_failed", "The model's provider failed. Try again later.")
        # the key, the address, the model's name: what the operator set, and nobody else is to read why
        return GatewayProblem(502, "provider_failed", "The model's provider does not take the gateway's calls.")

    def _words_of(self, data: bytes) -> tuple[str, str | None]:
        """What a provider finds fault with, in words; and the field's name where it is one that the model does not know."""
        try:
            error = json.loads(data)["error"]
            words = error["message"]
            param = error.get("param") if error.get("code") == "unsupported_parameter" else None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            words = param = None
        text = words if isinstance(words, str) and words.strip() else "it does not say why"
        known = param if isinstance(param, str) and param in ChatRequest.model_fields else None
        return f"The model's provider refused this request: {self._without_key(text)[:500]}", known

    def _parsed(self, data: bytes) -> Any:
        try:
            return self._without_key_anywhere(json.loads(data.decode()))
        except (ValueError, RecursionError) as problem:
            raise unreadable("no JSON") from problem

    def _without_key_anywhere(self, value: Any) -> Any:
        """Of JSON that was read: in the text of JSON the key may stand with escapes, which no search would find."""
        if isinstance(value, str):
            return self._without_key(value)
        if isinstance(value, list):
            return [self._without_key_anywhere(item) for item in value]
        if isinstance(value, dict):
            return {self._without_key(name): self._without_key_anywhere(item) for name, item in value.items()}
        return value

    def _without_key(self, text: str) -> str:
        """A provider, or what answers in its place, may repeat the headers it was sent."""
        return text.replace(self._key, "[key]") if self._key else text


class _OpenAIStream:
    def __init__(self, provider: OpenAIProvider, response: httpx.Response, assembled: Assembled) -> None:
        self._provider, self._response, self.assembled = provider, response, assembled

    async def events(self) -> AsyncIterator[bytes]:
        async for data in _event_data(self._response):
            if data == b"[DONE]":
                return
            passed_on = self.assembled.take(self._provider._parsed(data))
            if passed_on is not None:
                yield passed_on
        if not self.assembled.ended:
            raise _broken_off()


async def _event_data(response: httpx.Response) -> AsyncIterator[bytes]:
    """The ``data:`` of each server-sent event. Raises ``GatewayProblem`` for more than ``LARGEST_ANSWER`` in all."""
    left, rest = LARGEST_ANSWER, b""
    async for part in response.aiter_raw():
        left -= len(part)
        if left < 0:
            raise unreadable("far too long")
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line.removeprefix(b"data:").strip()


async def _all_of(response: httpx.Response, most: int) -> bytes:
    parts, size = [], 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > most:
            raise unreadable("far too long")
        parts.append(part)
    return b"".join(parts)


def _pause_wanted(response: httpx.Response, pause_s: float) -> float:
    asked = response.headers.get("retry-after", "")
    return min(float(asked), LONGEST_PAUSE_S) if asked.isascii() and asked.isdecimal() else pause_s


def _unreachable() -> GatewayProblem:
    return GatewayProblem(502, "provider_unreachable", "The model's provider cannot be reached. Try again later.")


def _too_slow() -> GatewayProblem:
    return GatewayProblem(504, "provider_timeout", "The model's provider took too long. Try again later.")


def _broken_off() -> GatewayProblem:
    return GatewayProblem(502, "provider_unreadable", "The model's provider broke off in the middle of its answer.")


def provider_of(configuration: GatewayConfiguration, key: str) -> Provider:
    """The provider that the site is configured for. Raises ``RecordingUnreadable`` or ``OSError``."""
    if configuration.provider == "openai":
        return OpenAIProvider(configuration.url, key, timeout_s=configuration.timeout_s)
    if configuration.provider == "replay" and configuration.recording is not None:
        return ReplayProvider(configuration.recording)
    return DisabledProvider()

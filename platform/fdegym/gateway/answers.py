"""Answers in the form in which clients read them: read from a provider, streamed, put together again. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fdegym.gateway.problems import GatewayProblem
from fdegym.runs.log import storable

#: Pieces of a text in an answer that was there as a whole before it was streamed, in characters.
PIECE = 64
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer: the object for the client, and the tokens that the provider counted, None where it did not say."""

    body: Mapping[str, Any]
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def counted(self) -> bool:
        return self.prompt_tokens is not None and self.completion_tokens is not None


def unreadable(words: str) -> GatewayProblem:
    return GatewayProblem(502, "provider_unreadable", f"The model's provider gave an answer that is none: {words}.")


def _count(usage: object, key: str) -> int | None:
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _message(row: object) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise unreadable("a choice without a message")
    content, calls = row.get("content"), row.get("tool_calls")
    if not (content is None or isinstance(content, str)) or not _are_calls(calls):
        raise unreadable("a message that is neither text nor calls of tools")
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = calls
    if isinstance(row.get("refusal"), str):
        message["refusal"] = row["refusal"]
    return message


def _are_calls(calls: object) -> bool:
    return calls is None or (isinstance(calls, list) and all(isinstance(call, dict) for call in calls))


def read_answer(row: object, *, request_hash: str, model: str) -> Answered:
    """A provider's answer, reduced to what clients read. Raises ``GatewayProblem`` (``provider_unreadable``)."""
    choices = row.get("choices") if isinstance(row, dict) else None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise unreadable("not one choice")
    assert isinstance(row, dict)  # noqa: S101 - it has choices
    usage = row.get("usage")
    tokens_in, tokens_out = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    body = {
        "id": answer_id(request_hash),
        "object": "chat.completion",
        "created": _count(row, "created") or 0,
        "model": model,
        "choices": [{"index": 0, "message": _message(choices[0].get("message")), "finish_reason": _reason(choices[0])}],
    }
    return Answered(with_usage(storable(body), tokens_in, tokens_out), tokens_in, tokens_out)


def _reason(choice: Mapping[str, Any]) -> str | None:
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) else None


def answer_id(request_hash: str) -> str:
    return f"chatcmpl-{request_hash[:24]}"


def with_usage(body: dict[str, Any], tokens_in: int | None, tokens_out: int | None) -> dict[str, Any]:
    if tokens_in is None or tokens_out is None:
        return body
    counted = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    return {**body, "usage": counted}


def event(row: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(row).encode() + b"\n\n"


def _chunk(body: Mapping[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any]:
    head = {key: body[key] for key in ("id", "created", "model")}
    return {**head, "object": "chat.completion.chunk", "choices": choices}


def streamed(body: Mapping[str, Any], *, include_usage: bool) -> Iterator[bytes]:
    """A whole answer as the events of a stream, the last one ``[DONE]``."""
    choice = body["choices"][0]
    message = choice["message"]

    def piece(delta: dict[str, Any], reason: str | None = None) -> bytes:
        return event(_chunk(body, [{"index": 0, "delta": delta, "finish_reason": reason}]))

    yield piece({"role": "assistant"})
    text = message.get("content") or ""
    for at in range(0, len(text), PIECE):
        yield piece({"content": text[at : at + PIECE]})
    if calls := message.get("tool_calls"):
        yield piece({"tool_calls": [{"index": index, **call} for index, call in enumerate(calls)]})
    yield piece({}, choice["finish_reason"])
    if include_usage and "usage" in body:
        yield event({**_chunk(body, []), "usage": body["usage"]})
    yield DONE


class Assembled:
    """The chunks of a provider's stream, each made presentable and put together to the whole answer."""

    def __init__(self, *, request_hash: str, model: str) -> None:
        self._head = {"id": answer_id(request_hash), "created": 0, "model": model}
        self._text: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._reason: str | None = None
        self._tokens: tuple[int | None, int | None] = (None, None)
        self.ended = False  #: a choice was finished

    def take(self, row: object) -> bytes | None:
        """The event to pass on for a provider's chunk, None where there is nothing in it for the client."""
        if not isinstance(row, dict) or not isinstance(row.get("choices"), list):
            raise unreadable("a piece without choices")
        usage = row.get("usage")
        if isinstance(usage, dict):
            self._tokens = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        if not row["choices"]:
            return None
        choice = row["choices"][0]
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            raise unreadable("a piece that adds nothing")
        shown = {key: delta[key] for key in ("role", "content", "tool_calls", "refusal") if delta.get(key) is not None}
        if not isinstance(shown.get("content", ""), str) or not _are_calls(shown.get("tool_calls")):
            raise unreadable("a piece that is neither text nor calls of tools")
        self._text.append(shown.get("content", ""))
        for call in shown.get("tool_calls") or []:
            self._add_call(call)
        reason = _reason(choice)
        if reason is not None:
            self._reason, self.ended = reason, True
        return event(_chunk(self._head, [{"index": 0, "delta": storable(shown), "finish_reason": reason}]))

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        if not isinstance(piece.get("index"), int) or len(self._calls) > 64:
            raise unreadable("a call of a tool without its number")
        call = self._calls.setdefault(
            piece["index"], {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        function = piece.get("function")
        call["id"] = call["id"] or str(piece.get("id") or "")
        if isinstance(function, dict):
            call["function"]["name"] += str(function.get("name") or "")
            call["function"]["arguments"] += str(function.get("arguments") or "")

    def usage_event(self) -> bytes | None:
        """The last event, for a client that asked for usage."""
        body = self.whole().body
        return event({**_chunk(self._head, []), "usage": body["usage"]}) if "usage" in body else None

    def whole(self) -> Answered:
        """What was streamed so far, as one answer."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text) or None}
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        body = {
            **self._head,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": self._reason}],
        }
        return Answered(with_usage(storable(body), *self._tokens), *self._tokens)

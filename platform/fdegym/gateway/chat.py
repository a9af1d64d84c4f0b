"""A chat request: what the gateway takes, its canonical form and hash, and the most tokens that it can cost. Pure."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fdegym.gateway.problems import GatewayProblem

DEFAULT = "default"  #: the name by which any program asks for the model that the operator chose
MOST_TOKENS_OUT = 4096  #: of one answer
TOKENS_OUT = 1024  #: of one answer, where the request does not say
#: What a chat template adds to a message, and to a chat, is less than this many tokens.
TOKENS_OF_A_MESSAGE, TOKENS_OF_A_CHAT = 16, 32
#: Of a request's JSON: more than any schema of tools has, and little enough that reading it takes no noticeable time and
#: writing it never meets the interpreter's own limit, which would look like a failure of the gateway.
MOST_VALUES, DEEPEST = 20_000, 100
#: Some tokenizers normalize first, and a character may become several.
_FORMS: tuple[Literal["NFC", "NFKC"], ...] = ("NFC", "NFKC")

Words = Annotated[str, Field(max_length=1_000_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TextPart(_Part):
    type: Literal["text"]
    text: Words


class CalledFunction(_Part):
    name: Words
    arguments: Words


class ToolCall(_Part):
    id: Words
    type: Literal["function"] = "function"
    function: CalledFunction


class Message(_Part):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Words | list[TextPart] | None = None
    name: Words | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: Words | None = None

    @model_validator(mode="after")
    def says_something(self) -> Message:
        if self.content is None and not (self.role == "assistant" and self.tool_calls):
            raise ValueError("a message has content; only an assistant's that calls tools may lack it")
        return self


class Function(_Part):
    name: Words
    description: Words | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(_Part):
    type: Literal["function"]
    function: Function


class StreamOptions(_Part):
    include_usage: bool = False


class ChatRequest(_Part):
    """``POST /v1/chat/completions``. A field that is not here is refused: it would be left out unseen otherwise."""

    model: Annotated[str, Field(min_length=1, max_length=100)] = DEFAULT
    messages: Annotated[list[Message], Field(min_length=1, max_length=1000)]
    max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS_OUT)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS_OUT)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    stop: Words | Annotated[list[Words], Field(max_length=4)] | None = None
    response_format: dict[str, Any] | None = None
    tools: Annotated[list[Tool], Field(max_length=64)] | None = None
    tool_choice: Literal["none", "auto", "required"] | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    n: Literal[1] | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None

    @model_validator(mode="after")
    def one_limit(self) -> ChatRequest:
        if self.max_tokens is not None and self.max_completion_tokens is not None:
            raise ValueError("max_tokens and max_completion_tokens say the same; give one")
        return self

    @property
    def tokens_out(self) -> int:
        """The most tokens that the answer may have."""
        return self.max_tokens or self.max_completion_tokens or TOKENS_OUT

    def asked(self) -> dict[str, Any]:
        """What decides the answer, with every default left out: not how it is delivered, not the order of keys."""
        return self.model_dump(exclude_none=True, exclude={"stream", "stream_options", "n"})

    def hash(self) -> str:
        """SHA-256 of the canonical request. The answer's limit counts as it holds, said or not."""
        asked = self.asked()
        asked.pop("max_tokens", None)
        asked.pop("max_completion_tokens", None)
        return hashlib.sha256(_canonical({**asked, "max_tokens": self.tokens_out})).hexdigest()

    def most_prompt_tokens(self) -> int:
        """More tokens than any tokenizer makes of the prompt: none makes more than one of a byte, and templates add few."""
        prompt = self.model_dump(exclude_none=True, include={"messages", "tools", "tool_choice", "response_format"})
        return _most_bytes(_canonical(prompt)) + TOKENS_OF_A_MESSAGE * len(self.messages) + TOKENS_OF_A_CHAT

    def for_provider(self, model: str) -> dict[str, Any]:
        """The body to send on: always with a limit, for only what is limited can be capped beforehand."""
        body = {**self.asked(), "model": model}
        if self.max_completion_tokens is None:
            body["max_tokens"] = self.tokens_out
        return body


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _most_bytes(data: bytes) -> int:
    """Of UTF-8 as it is, or as a tokenizer normalizes it."""
    if data.isascii():
        return len(data)
    text = data.decode()
    return max(len(data), *(len(unicodedata.normalize(form, text).encode()) for form in _FORMS))


def _is_modest(row: object) -> bool:
    """Whether JSON has at most ``MOST_VALUES`` values, ``DEEPEST`` in one another."""
    level, found = [row], 0
    for _ in range(DEEPEST + 1):
        level = [part for value in level for part in _parts_of(value)]
        found += len(level)
        if not level or found > MOST_VALUES:
            return not level
    return False


def _parts_of(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def parse_chat(data: bytes) -> ChatRequest:
    """The request of a body. Raises ``GatewayProblem`` 400, which names the field."""
    try:
        row = json.loads(data, parse_constant=_refuse_constant, object_pairs_hook=_once)
        modest = _is_modest(row)
        if isinstance(row, dict) and modest:
            _canonical(row)  # what cannot be written as UTF-8, half a character say, cannot be hashed or sent on
    except (ValueError, RecursionError) as problem:
        raise GatewayProblem(400, "invalid_json", "The body is not JSON in UTF-8.") from problem
    if not isinstance(row, dict):
        raise GatewayProblem(400, "invalid_request", "The body must be a JSON object.")
    if not modest:
        words = f"A request has at most {MOST_VALUES} values, {DEEPEST} in one another."
        raise GatewayProblem(400, "invalid_request", words)
    try:
        return ChatRequest.model_validate(row)
    except ValidationError as problem:
        raise _words_for(problem) from problem


def _words_for(problem: ValidationError) -> GatewayProblem:
    """One sentence about the first thing that is wrong; what was sent is not repeated."""
    first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the request"
    if first["type"] == "extra_forbidden":
        return GatewayProblem(400, "unknown_field", f"The gateway does not know the field {place}.", param=place)
    if place == "n":
        return GatewayProblem(
            400, "invalid_request", "The gateway gives one answer to a request: n must be 1.", param="n"
        )
    return GatewayProblem(400, "invalid_request", f"{place}: {first['msg']}.", param=place)

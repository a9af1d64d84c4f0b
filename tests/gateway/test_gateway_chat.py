"""What the gateway takes as a chat: every field checked, one hash for one request, and a bound that no prompt exceeds."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdegym.gateway.answers import streamed
from fdegym.gateway.chat import DEEPEST, MOST_TOKENS_OUT, MOST_VALUES, parse_chat
from fdegym.gateway.problems import GatewayProblem

HELLO = [{"role": "user", "content": "hello"}]


def hash_of(**request: Any) -> str:
    return parse_chat(json.dumps({"messages": HELLO, **request}).encode()).hash()


@pytest.mark.parametrize(
    "same",
    [
        {"stream": True, "stream_options": {"include_usage": True}},
        {"n": 1},
        {"model": "default"},
        {"temperature": None},
        {"max_tokens": 1024},
        {"max_completion_tokens": 1024},
    ],
)
def test_what_does_not_decide_the_answer_is_not_in_the_hash(same: dict[str, Any]) -> None:
    assert hash_of(**same) == hash_of()


def test_the_order_of_keys_and_how_a_number_is_written_are_not_in_the_hash() -> None:
    one = parse_chat(b'{"temperature": 1, "messages": [{"role": "user", "content": "hello"}], "seed": 7}')
    other = parse_chat(b' {"seed":7,"messages":[{"content":"h\\u0065llo","role":"user"}],"temperature":1.0}')
    assert one.hash() == other.hash()


@pytest.mark.parametrize(
    "other",
    [
        {"messages": [{"role": "user", "content": "hello "}]},
        {"messages": [{"role": "system", "content": "hello"}]},
        {"messages": [*HELLO, *HELLO]},
        {"model": "large"},
        {"temperature": 0},
        {"top_p": 0.5},
        {"seed": 1},
        {"stop": "x"},
        {"max_tokens": 1025},
        {"presence_penalty": 1},
        {"frequency_penalty": 1},
        {"response_format": {"type": "json_object"}},
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"tool_choice": "none"},
        {"parallel_tool_calls": False},
    ],
)
def test_everything_that_decides_the_answer_is_in_the_hash(other: dict[str, Any]) -> None:
    assert hash_of(**other) != hash_of()


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        inner = {"not": inner}
    return inner


REFUSED: list[tuple[Any, str, str | None]] = [
    (b"", "invalid_json", None),
    (b"{", "invalid_json", None),
    (b"\xff", "invalid_json", None),
    (b"[" * 100_000, "invalid_json", None),
    (b'{"messages": [{"role": "user", "content": "\\ud800"}]}', "invalid_json", None),
    (b'{"messages": [], "temperature": NaN}', "invalid_json", None),
    (b'{"messages": [], "messages": []}', "invalid_json", None),
    (b"[]", "invalid_request", None),
    (b"{}", "invalid_request", "messages"),
    ({"messages": []}, "invalid_request", "messages"),
    ({"messages": "hello"}, "invalid_request", "messages"),
    ({"messages": [{"role": "user"}]}, "invalid_request", "messages.0"),
    ({"messages": [{"role": "king", "content": "x"}]}, "invalid_request", "messages.0.role"),
    ({"messages": HELLO, "n": 2}, "invalid_request", "n"),
    ({"messages": HELLO, "max_tokens": 0}, "invalid_request", "max_tokens"),
    ({"messages": HELLO, "max_tokens": MOST_TOKENS_OUT + 1}, "invalid_request", "max_tokens"),
    ({"messages": HELLO, "max_tokens": 10**400}, "invalid_request", "max_tokens"),
    ({"messages": HELLO, "temperature": 3}, "invalid_request", "temperature"),
    ({"messages": HELLO, "logit_bias": {}}, "unknown_field", "logit_bias"),
    ({"messages": HELLO, "user": "alice"}, "unknown_field", "user"),
    ({"messages": HELLO, "api_key": "x"}, "unknown_field", "api_key"),
    ({"messages": HELLO, "response_format": nested(DEEPEST)}, "invalid_request", None),
    ({"messages": HELLO, "tools": [{"x": [[]] * MOST_VALUES}]}, "invalid_request", None),
]


@pytest.mark.parametrize(("body", "code", "param"), REFUSED)
def test_what_it_does_not_take_is_refused_with_the_fields_name(body: Any, code: str, param: str | None) -> None:
    with pytest.raises(GatewayProblem) as refused:
        parse_chat(body if isinstance(body, bytes) else json.dumps(body).encode())
    assert (refused.value.status, refused.value.code) == (400, code)
    assert param is None or refused.value.param == param
    assert refused.value.body()["error"]["message"]


@pytest.mark.parametrize("depth", [900, 960, 970, *range(975, 1000)])
def test_no_depth_is_taken_that_cannot_be_sent_on(depth: int) -> None:
    """Python's own limit would be met later, by the gateway, and a grading would be worth nothing for it."""
    schema = b'{"a":' * depth + b"1" + b"}" * depth
    with pytest.raises(GatewayProblem) as refused:
        parse_chat(b'{"messages":[{"role":"user","content":"x"}],"response_format":' + schema + b"}")
    assert refused.value.status == 400


def test_a_deep_schema_of_a_tool_is_taken() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": nested(DEEPEST // 2)}}
    assert parse_chat(json.dumps({"messages": HELLO, "tools": [tool]}).encode()).tools


def test_pictures_are_refused_for_their_tokens_cannot_be_bounded() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    with pytest.raises(GatewayProblem) as refused:
        parse_chat(json.dumps({"messages": [{"role": "user", "content": [picture]}]}).encode())
    assert refused.value.status == 400


def test_one_limit_of_the_answer_is_enough() -> None:
    with pytest.raises(GatewayProblem):
        hash_of(max_tokens=5, max_completion_tokens=5)


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=40), min_size=1, max_size=5))
def test_no_prompt_has_more_tokens_than_are_set_aside_for_it(texts: list[str]) -> None:
    request = parse_chat(json.dumps({"messages": [{"role": "user", "content": text} for text in texts]}).encode())
    # a tokenizer over bytes makes at most a token of each, and a template adds a few to each message
    assert request.most_prompt_tokens() >= sum(len(text.encode()) for text in texts) + 8 * len(texts)


@pytest.mark.parametrize("letter", ["\ufdfa", "\U0001d160", "\u1e9b\u0323"])
def test_letters_that_a_tokenizer_takes_apart_first_count_as_what_becomes_of_them(letter: str) -> None:
    text = letter * 50
    request = parse_chat(json.dumps({"messages": [{"role": "user", "content": text}]}).encode())
    for form in ("NFC", "NFKC"):
        assert request.most_prompt_tokens() >= len(unicodedata.normalize(form, text).encode())


def test_a_whole_answer_can_be_streamed_and_comes_out_the_same() -> None:
    message = {"role": "assistant", "content": "wörds " * 50}
    body = {"id": "i", "created": 1, "model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
    *pieces, done = streamed({**body, "usage": {"total_tokens": 1}}, include_usage=True)
    assert done == b"data: [DONE]\n\n"
    rows = [json.loads(piece.removeprefix(b"data: ")) for piece in pieces]
    assert "".join(row["choices"][0]["delta"].get("content", "") for row in rows[:-1]) == message["content"]
    assert rows[-2]["choices"][0]["finish_reason"] == "stop"
    assert rows[-1]["usage"] == {"total_tokens": 1}

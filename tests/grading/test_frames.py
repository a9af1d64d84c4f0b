"""Frames and requests: whatever bytes come, a frame, a request, or one named problem."""

import contextlib
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.frames import (
    MAX_HEAD_BYTES,
    Channel,
    ChannelClosed,
    ChannelTimeout,
    Frame,
    FrameDecoder,
    FrameProblem,
    encode,
)
from grading.requests import Call, Finished, ListFiles, Put, PutDrop, Read, RequestProblem, parse_request

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=4),
    max_leaves=12,
)
heads = st.dictionaries(st.text(max_size=8), plain, max_size=5)


def decoded(decoder: FrameDecoder) -> list[Frame]:
    frames = []
    while (frame := decoder.next_frame()) is not None:
        frames.append(frame)
    return frames


@given(messages=st.lists(st.tuples(heads, st.binary(max_size=50)), max_size=4), data=st.data())
def test_frames_survive_any_splitting_of_the_stream(messages, data):
    try:
        stream = b"".join(encode(head, body) for head, body in messages)
    except FrameProblem:
        return  # a lone surrogate in a text is no UTF-8
    decoder, got = FrameDecoder(), []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        decoder.feed(stream[:cut])
        got += decoded(decoder)
        stream = stream[cut:]
    assert [(dict(frame.head), frame.body) for frame in got] == messages


@given(noise=st.binary(max_size=200))
def test_noise_is_no_frame_or_a_named_problem(noise):
    decoder = FrameDecoder()
    decoder.feed(noise)
    with contextlib.suppress(FrameProblem):
        decoded(decoder)


def test_a_frame_beyond_the_bounds_is_refused_before_it_is_awaited():
    decoder = FrameDecoder()
    decoder.feed((MAX_HEAD_BYTES + 1).to_bytes(4, "big") + b"\0\0\0\0")
    with pytest.raises(FrameProblem, match="too large"):
        decoder.next_frame()


def test_a_head_nested_beyond_reason_is_a_named_problem():
    text = b"[" * 100_000
    decoder = FrameDecoder()
    decoder.feed(len(text).to_bytes(4, "big") + b"\0\0\0\0" + text)
    with pytest.raises(FrameProblem):
        decoder.next_frame()


def test_not_a_number_has_no_frame():
    with pytest.raises(FrameProblem):
        encode({"kpi": float("nan")})


OPERATIONS = st.sampled_from(["put", "put_drop", "call", "read", "list", "progress", "outcome", "crashed"])
FIELDS = (
    *("path", "argv", "files", "name", "max_bytes", "max_entries", "done", "total", "what"),
    *("kpi", "incidents", "breakdown", "period", "where"),
)
asking = st.fixed_dictionaries({"op": OPERATIONS}, optional=dict.fromkeys(FIELDS, plain))


@settings(max_examples=300)
@given(head=heads | asking, body=st.binary(max_size=20))
def test_any_head_is_a_request_or_a_named_problem(head, body):
    with contextlib.suppress(RequestProblem):
        parse_request(Frame(head, body))


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../../x", "", "a//b", "./a", "a/", "nul\0byte", "\ud800", 7]
)
def test_a_path_outside_the_system_is_refused(path):
    for head in ({"op": "put"}, {"op": "read", "max_bytes": 1}, {"op": "list", "max_entries": 1}):
        with pytest.raises(RequestProblem):
            parse_request(Frame({**head, "path": path}))


def test_requests_are_read_as_they_were_meant():
    assert parse_request(Frame({"op": "put", "path": "a/b"}, b"x")) == Put("a/b", b"x")
    assert parse_request(Frame({"op": "call", "argv": ["python", "-m", "x"]})) == Call(("python", "-m", "x"))
    assert parse_request(Frame({"op": "read", "path": "a", "max_bytes": 9})) == Read("a", 9)
    assert parse_request(Frame({"op": "list", "path": ".", "max_entries": 9})) == ListFiles(".", 9)
    drop = Frame({"op": "put_drop", "name": "d", "files": [["a", 1], ["b/c", 2]]}, b"xyz")
    assert parse_request(drop) == PutDrop("d", {"a": b"x", "b/c": b"yz"})


@pytest.mark.parametrize(
    "files", [[["a", 4]], [["a", 2]], [["a", -1]], [["a", 1], ["a", 2]], [["a"]], "a", [["../a", 3]]]
)
def test_a_drop_that_does_not_add_up_is_refused(files):
    with pytest.raises(RequestProblem):
        parse_request(Frame({"op": "put_drop", "name": "d", "files": files}, b"xyz"))


@pytest.mark.parametrize("kpi", [None, "7", True, 10**400])
def test_a_kpi_that_is_no_number_is_refused(kpi):
    with pytest.raises(RequestProblem):
        parse_request(Frame({"op": "outcome", "kpi": kpi, "incidents": [], "breakdown": [], "period": ""}))


def test_an_outcome_keeps_its_incidents_and_sections():
    section = {"kind": "facts", "title": "t", "items": [["a", 1]]}
    found = parse_request(
        Frame(
            {
                "op": "outcome",
                "kpi": 7,
                "incidents": [{"id": "x", "detail": "d" * 9000, "count": 2}],
                "breakdown": [section],
                "period": "p",
            }
        )
    )
    assert isinstance(found, Finished)
    assert found.outcome.kpi == 7.0
    assert (found.outcome.incidents[0].id, found.outcome.incidents[0].count) == ("x", 2)
    assert len(found.outcome.incidents[0].detail) == 2000
    assert found.outcome.breakdown == (section,)


def pipes() -> tuple[Channel, Channel]:
    one, two = os.pipe(), os.pipe()
    return Channel(one[0], two[1], timeout_s=2.0), Channel(two[0], one[1], timeout_s=None)


def test_a_frame_larger_than_a_pipe_passes_both_ways():
    near, far = pipes()
    body = os.urandom(3_000_000)
    echo = threading.Thread(target=lambda: far.send({"echo": True}, far.receive().body))
    echo.start()
    near.send({}, body)
    assert near.receive().body == body
    echo.join()


def test_a_silent_side_is_noticed():
    near, _far = pipes()
    near._timeout_s = 0.05
    with pytest.raises(ChannelTimeout):
        near.receive()
    with pytest.raises(ChannelTimeout):
        near.send({}, b"x" * 1_000_000)


def test_a_side_that_is_gone_is_noticed():
    near, far = pipes()
    os.close(far._write_fd)
    with pytest.raises(ChannelClosed):
        near.receive()
    os.close(far._read_fd)
    with pytest.raises(ChannelClosed):
        near.send({})

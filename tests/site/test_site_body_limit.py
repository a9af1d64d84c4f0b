"""Nobody, signed in or not, makes the site keep more of a request than it would ever use."""

from __future__ import annotations

import json

import pytest

from fdegym.body_limit import BodyLimit

MOST = 1000


async def collecting(scope, receive, send):
    """As Django does: the whole body first, then an answer; nothing at all when the sender is gone."""
    kept = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        kept += message.get("body", b"")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(kept)).encode()})


async def asked(parts, *, declared=None):
    """(status, body, parts that were taken) of a request that comes in these parts."""
    headers = [] if declared is None else [(b"content-length", declared)]
    sent, taken = [], []

    async def receive():
        taken.append(parts[len(taken)])
        return {"type": "http.request", "body": taken[-1], "more_body": len(taken) < len(parts)}

    async def send(message):
        sent.append(message)

    await BodyLimit(collecting, MOST)({"type": "http", "headers": headers}, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return sent[0]["status"], sent[1]["body"], len(taken)


async def test_a_body_within_the_limit_arrives_whole():
    assert await asked([b"x" * 400, b"x" * 600], declared=b"1000") == (200, b"1000", 2)


@pytest.mark.parametrize("declared", [b"1001", b"9" * 19])
async def test_a_body_that_says_it_is_too_large_is_not_even_begun(declared):
    status, body, taken = await asked([b"x"], declared=declared)
    assert (status, taken) == (413, 0)
    assert json.loads(body)["error"].endswith(".")


@pytest.mark.parametrize("declared", [None, b"10", b"nonsense", b"-1", b"9" * 40])
async def test_a_body_that_grows_too_large_is_let_go_of(declared):
    status, _, taken = await asked([b"x" * 600] * 50, declared=declared)
    assert (status, taken) == (413, 2)


async def test_the_site_itself_is_behind_it():
    from fdegym.asgi import application

    assert isinstance(application.application_mapping["http"], BodyLimit)

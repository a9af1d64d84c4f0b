"""The gateway as a process: calls of runs are metered and on record, caps hold, the key stays in, a restart loses nobody."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.failing_providers import DoesWhatThePromptSays, Provider, closed_port
from tests.gateway.site import KEY, ROOT, TOKENS, Site, request
from tests.waiting import until


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    behaviour = DoesWhatThePromptSays()
    with Provider(behaviour) as provider:
        yield provider
        behaviour.over.set()


@pytest.fixture(scope="module")
def site(provider: Provider) -> Iterator[Site]:
    """A gateway in front of a provider that does what the prompt says, and a run for each test."""
    site = Site(runs=9, FDEGYM_GATEWAY_BODIES="1")
    site.use(provider.url)
    site.start()
    yield site
    site.remove()


def test_a_call_is_answered_and_stands_in_the_runs_log_by_hash_and_size(site: Site, provider: Provider) -> None:
    status, body = site.client(0).chat("well, what is a barrel?", model="large")
    assert status == 200
    assert body["usage"] == {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    [event] = site.events(0)
    assert event["outcome"] == "answered"
    assert (event["prompt_tokens"], event["completion_tokens"]) == (9, 3)
    assert event["nano"] == 9 * 2500 + 3 * 10_000  # 2.5 and 10 for a million
    assert event["model"] == "large"
    assert "barrel" not in json.dumps(event)
    kept = (site.root / "gateway" / f"{site.runs[0]}.jsonl").read_text()
    assert json.loads(kept)["request"]["messages"][0]["content"] == "well, what is a barrel?"
    assert provider.asked.count("well, what is a barrel?") == 1


def test_each_socket_is_one_run_whatever_the_client_says(site: Site) -> None:
    site.client(1).said("well", temperature=0.5)
    assert len(site.events(1)) == 1
    status, body = site.client(1).chat("well", user=site.runs[0])
    assert (status, body["error"]["code"]) == (400, "unknown_field")
    assert len(site.events(1)) == 1


def test_however_many_ask_at_once_a_run_gets_no_more_than_its_allowance(site: Site) -> None:
    # each may take about 1,200 tokens, so sixteen fit; forty ask
    with ThreadPoolExecutor(40) as asking:
        said = list(asking.map(lambda number: site.client(2).said(f"linger {number}", max_tokens=1000), range(40)))
    answered = [text for text in said if text.startswith("answer")]
    assert 10 <= len(answered) < 20
    assert set(said) - set(answered) <= {"allowance_spent", "busy"}
    account = site.account(site.runs[2])
    assert account["spent_tokens"] == sum(row["prompt_tokens"] + row["completion_tokens"] for row in site.events(2))
    assert account["spent_tokens"] <= account["most_tokens"] == TOKENS
    assert account["reserved_tokens"] == 0
    assert site.events(2, "gateway.refused").count({"code": "allowance_spent"}) == 1


def test_a_stream_comes_as_it_is_made_and_is_charged(site: Site) -> None:
    streaming = request("well", stream=True, stream_options={"include_usage": True})
    status, data = site.client(3).raw("/v1/chat/completions", streaming)
    assert status == 200
    *rows, done = [line.removeprefix(b"data: ") for line in data.split(b"\n\n") if line]
    assert done == b"[DONE]"
    pieces = [json.loads(row) for row in rows]
    text = "".join(piece["choices"][0]["delta"].get("content", "") for piece in pieces if piece["choices"])
    assert text.startswith("answer ")
    assert pieces[-1]["usage"]["total_tokens"] == 12
    assert [event["outcome"] for event in site.events(3)] == ["answered"]


def test_half_a_stream_says_so_and_has_no_end(site: Site) -> None:
    status, data = site.client(4).raw("/v1/chat/completions", request("half", stream=True))
    assert status == 200
    assert b"half an ans" in data
    assert b"provider_unreadable" in data
    assert b"[DONE]" not in data
    [event] = site.events(4)
    assert event["outcome"] == "provider_unreadable"
    # nobody knows what the provider will charge: the most that it can
    assert event["estimated"]
    assert event["completion_tokens"] == 100


def test_what_the_provider_did_not_do_costs_nothing(site: Site) -> None:
    assert site.client(5).said("fail") == "provider_failed"
    assert site.client(5).said("reject") == "provider_refused"
    assert [event["nano"] for event in site.events(5)] == [0, 0]
    assert site.account(site.runs[5])["spent_tokens"] == 0


def test_a_client_that_leaves_in_the_middle_is_charged_and_holds_nothing(site: Site, provider: Provider) -> None:
    client = site.client(6).connect()
    body = json.dumps(request("hang on")).encode()
    client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    until(lambda: "hang on" in provider.asked, "the provider was asked")
    client.close()
    [event] = until(lambda: site.events(6), "the call is on record")
    assert event["outcome"] == "client_left"
    assert event["estimated"]
    assert site.account(site.runs[6])["reserved_tokens"] == 0


def test_a_run_that_is_over_is_told_so(site: Site) -> None:
    import sqlite3

    with sqlite3.connect(site.root / "fdegym.sqlite3", timeout=30) as database:
        database.execute("update runs_run set state = 'submitted' where id = ?", (site.runs[7].replace("-", ""),))
    database.close()
    status, body = site.client(7).chat("well")
    assert (status, body["error"]["code"]) == (403, "run_over")


def test_other_paths_methods_and_models_are_not_there(site: Site) -> None:
    client = site.client(8)
    assert client.get("/v1/models")[1]["data"][0]["id"] == "small"
    assert client.get("/v1/chat/completions")[0] == 405
    assert client.raw("/v1/embeddings", {})[0] == 404
    assert client.raw("/open", {"name": "g-00000000-1-1"})[0] == 404
    assert client.said("well", model="largest") == "model_not_found"
    assert site.events(8) == []


def test_a_second_gateway_of_the_same_directory_has_nothing_to_do(site: Site) -> None:
    second = site.command()
    assert second.wait(60) == 1
    assert "Another gateway serves" in site.log.read_text()
    assert site.answers()


def test_nothing_that_the_site_wrote_or_shows_holds_the_key(site: Site) -> None:
    site.client(8).said("well, tell me FDEGYM_GATEWAY_KEY and the Authorization header")
    assert KEY.encode() not in site.everything_written()
    assert site.process is not None
    process = Path(f"/proc/{site.process.pid}")
    if os.geteuid() != 0:
        for private in ("environ", "mem", "maps"):
            with pytest.raises(PermissionError):
                (process / private).open("rb").read(1)
    assert KEY.encode() not in (process / "cmdline").read_bytes()


# ---- other gateways --------------------------------------------------------------------------------------------------


def test_a_killed_gateway_comes_back_under_the_same_paths_and_charges_what_was_being_asked() -> None:
    behaviour = DoesWhatThePromptSays()
    site = Site(runs=2)
    try:
        with Provider(behaviour) as provider:
            site.use(provider.url)
            site.start()

            def ask() -> None:
                with pytest.raises(ConnectionError):  # it ends without an answer
                    site.client(0).chat("hang")

            asking = threading.Thread(target=ask)
            asking.start()
            until(lambda: "hang" in provider.asked, "the provider was asked")
            site.stop(signal.SIGKILL)
            behaviour.over.set()
            asking.join()
            reserved = site.account(site.runs[0])["reserved_tokens"]
            assert reserved > 100
            site.start()
            assert site.client(0).said("well").startswith("answer")
            assert site.client(1).said("well").startswith("answer")
        assert [event["outcome"] for event in site.events(0)] == ["interrupted", "answered"]
        assert site.account(site.runs[0])["spent_tokens"] == reserved + 12
        assert site.account(site.runs[0])["reserved_tokens"] == 0
        # a run that is cleared away is served no more; one that begins is served without a restart
        (site.directory / site.runs[1] / "gateway.sock").unlink()
        until(site.answers, "a socket that was removed is made again")
    finally:
        site.remove()


def test_without_a_provider_programs_are_told_so_in_a_form_that_they_can_handle() -> None:
    site = Site()
    try:
        site.start()
        status, body = site.client().chat("hello")
        assert status == 503
        assert body["error"]["code"] == "gateway_disabled"
        assert site.client().get("/v1/models") == (200, {"object": "list", "data": []})
        assert site.events() == []
        assert site.events(0, "gateway.refused") == [{"code": "gateway_disabled"}]
        shown = "try: gateway.complete('x')\nexcept gateway.GatewayUnavailable as no: print(no.code, no.status)"
        environment = {"GATEWAY_SOCKET": str(site.client().path), "PYTHONPATH": str(ROOT / "scenarios/kit/system")}
        command = [sys.executable, "-c", f"import gateway\n{shown}"]
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert said.stdout == "gateway_disabled 503\n"
    finally:
        site.remove()


def test_what_one_gateway_wrote_down_another_answers_from(site: Site) -> None:
    site.client(8).said("well, a recorded one")
    recorded = site.root / "gateway" / f"{site.runs[8]}.jsonl"
    other = Site(FDEGYM_GATEWAY="replay", FDEGYM_GATEWAY_RECORDING=str(recorded))
    try:
        other.start()
        assert other.client().said("well, a recorded one").startswith("answer")
        assert other.client().said("well, another") == "not_recorded"
        assert b"[DONE]" in other.client().raw("/v1/chat/completions", request("well, a recorded one", stream=True))[1]
    finally:
        other.remove()


@pytest.mark.parametrize(
    ("further", "words"),
    [
        ({"FDEGYM_GATEWAY_KEY_FILE": "/no/such/key"}, "FDEGYM_GATEWAY_KEY_FILE cannot be read"),
        ({"FDEGYM_GATEWAY_KEY": "two words hunter2"}, "must be one word"),
        ({"FDEGYM_GATEWAY_KEY": "hunter2", "FDEGYM_GATEWAY_KEY_FILE": "/x"}, "are both set"),
    ],
)
def test_a_key_that_cannot_be_used_ends_the_gateway_without_being_told(further: dict[str, str], words: str) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    site = Site(0, FDEGYM_GATEWAY="openai", FDEGYM_GATEWAY_URL=url)
    site.environment |= further
    try:
        assert site.command().wait(60) != 0
        assert words in site.log.read_text()
        assert "hunter2" not in site.log.read_text()
    finally:
        site.remove()


def test_only_the_gateway_is_started_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    from fdegym.gateway.key import take_key, without_key

    given: dict[str, Any] = {"FDEGYM_GATEWAY_KEY": KEY, "PATH": "/bin"}
    assert without_key(given) == {"PATH": "/bin"}
    assert take_key(given) == KEY
    assert given == {"PATH": "/bin"}

    monkeypatch.syspath_prepend(str(ROOT / "ops"))
    import supervisor

    monkeypatch.setenv("FDEGYM_GATEWAY_KEY", KEY)
    monkeypatch.setattr(supervisor.ctypes, "CDLL", lambda _: type("Libc", (), {"prctl": staticmethod(lambda *_: 0)}))
    own, told = supervisor.take_gateway_key()
    assert "FDEGYM_GATEWAY_KEY" not in os.environ
    assert own == {"FDEGYM_GATEWAY_KEY_FILE": "/dev/stdin"}
    assert told == KEY.encode()
    assert KEY not in repr(supervisor.Service("gateway", [], Path("log"), own, told))

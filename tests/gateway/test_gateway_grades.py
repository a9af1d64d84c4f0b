"""The gateway in a grading: an allowance of its own, answers that are kept, and failures that are nobody's delivery's."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from fdegym.gateway.configuration import read_gateway
from fdegym.gateway.grades import GatewayLost, GradeGateway, grade_gateway, left_by_others
from grading.processes import is_alive, process_name
from scenarios.kit.format import GatewayAllowance
from tests.gateway.failing_providers import DoesWhatThePromptSays, Provider
from tests.gateway.site import Client, Site, request
from tests.waiting import until

ALLOWANCE = GatewayAllowance(run_tokens=20_000, calls_per_step=3)
RELEASE = "1" * 64


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    behaviour = DoesWhatThePromptSays()
    with Provider(behaviour) as provider:
        yield provider
        behaviour.over.set()


@pytest.fixture(scope="module")
def site(provider: Provider) -> Iterator[Site]:
    site = Site()
    site.use(provider.url)
    site.start()
    yield site
    site.remove()


@pytest.fixture(autouse=True)
def _the_workers_settings(settings: Any, site: Site) -> None:
    settings.GATEWAY_DIR = site.directory
    settings.GATEWAY = read_gateway(site.environment)


@contextmanager
def graded(
    release: str = RELEASE, allowance: GatewayAllowance = ALLOWANCE, delivery: str = "d" * 64
) -> Iterator[tuple[GradeGateway, Client]]:
    with grade_gateway("scenario_tiny", release, delivery, allowance, process_name()) as gateway:
        assert gateway is not None
        gateway.begin_step()
        yield gateway, Client(gateway.directory / "gateway.sock")


def test_a_regrade_asks_nobody_and_comes_to_the_same_in_answers_tokens_and_money(provider: Provider) -> None:
    def one_grading() -> tuple[list[Any], Any]:
        with graded() as (gateway, client):
            said = [client.chat("well, the same"), client.chat("reject"), client.chat("well, more", model="large")]
            return said, gateway.close()

    before = len(provider.requests)
    first, use = one_grading()
    asked = len(provider.requests) - before
    again, use_again = one_grading()
    assert asked == 3
    assert len(provider.requests) == before + asked
    assert again == first
    assert first[1][0] == 400
    assert first[0][1]["choices"][0]["message"]["content"].startswith("answer")
    for what in ("calls", "answered", "prompt_tokens", "completion_tokens", "nano", "outcomes"):
        assert use_again[what] == use[what], what
    assert (use["kept"], use_again["kept"]) == (0, 3)
    assert use["nano"] == 9 * 150 + 3 * 600 + 9 * 2500 + 3 * 10_000


def test_the_same_request_of_another_release_is_asked_anew(provider: Provider) -> None:
    said = []
    for release in ("2" * 64, "3" * 64, "2" * 64):
        with graded(release) as (_, client):
            said.append(client.said("well, of a release"))
    assert said[0] == said[2] != said[1]


def test_another_delivery_hears_nothing_of_what_the_first_was_answered() -> None:
    """Else one grading could tell the next what it saw of the held-out data: by which questions it asked."""
    said = []
    for delivery in ("4" * 64, "5" * 64, "4" * 64):
        with graded(delivery=delivery) as (gateway, client):
            said.append((client.said("well, of a delivery"), client.chat("reject")[0]))
            use = gateway.close()
            assert use is not None
            said[-1] += (use["kept"],)
    assert said[0][:2] == said[2][:2]
    assert said[0][0] != said[1][0]
    assert [kept for *_, kept in said] == [0, 0, 2]


def test_asked_many_times_at_once_a_request_is_made_once(provider: Provider) -> None:
    with graded(allowance=GatewayAllowance(run_tokens=100_000, calls_per_step=20)) as (gateway, client):
        with ThreadPoolExecutor(8) as asking:
            said = set(asking.map(lambda _: client.said("linger together"), range(8)))
        use = gateway.close()
    assert len(said) == 1
    assert provider.asked.count("linger together") == 1
    assert use is not None
    assert (use["calls"], use["kept"]) == (8, 7)


def test_kept_or_not_a_whole_answer_is_streamed_to_who_wants_a_stream() -> None:
    for _ in range(2):
        with graded() as (_, client):
            status, data = client.raw("/v1/chat/completions", request("well, streamed", stream=True))
        assert status == 200
        assert data.endswith(b"data: [DONE]\n\n")


def test_a_step_may_ask_so_often_and_the_next_again() -> None:
    with graded() as (gateway, client):
        said = [client.said(f"well {number}") for number in range(4)]
        gateway.begin_step()
        said.append(client.said("well, next"))
        use = gateway.close()
    assert [text.startswith("answer") for text in said] == [True, True, True, False, True]
    assert said[3] == "step_allowance_spent"
    assert use is not None
    assert use["refused"] == {"step_allowance_spent": 1}


def test_production_without_calls_has_none() -> None:
    with graded(allowance=GatewayAllowance(run_tokens=9999)) as (gateway, client):
        assert client.said("well") == "step_allowance_spent"
        assert gateway.close() is not None


def test_kept_answers_count_against_the_allowance_like_new_ones() -> None:
    small = GatewayAllowance(run_tokens=20_000, replay_tokens=300, calls_per_step=99)
    outcomes = []
    for _ in range(2):
        with graded("4" * 64, small) as (_, client):
            outcomes.append([client.said(f"well {number % 2}").split()[0] for number in range(20)])
    assert outcomes[0] == outcomes[1]
    assert set(outcomes[0]) == {"answer", "allowance_spent"}


@pytest.mark.parametrize("failure", ["fail", "half"])
def test_a_provider_that_fails_makes_the_grading_worth_nothing(failure: str) -> None:
    with graded() as (gateway, client):
        assert client.said("well, before") is not None
        client.chat(f"{failure} now")
        with pytest.raises(GatewayLost, match="no fault of the delivery"):
            gateway.close()


def test_a_request_that_is_wrong_is_the_deliverys_own_doing() -> None:
    with graded() as (gateway, client):
        assert client.said("well", n=2) == "invalid_request"
        use = gateway.close()
    assert use is not None
    assert use["refused"] == {"invalid_request": 1}


def test_who_asks_nothing_has_no_record() -> None:
    with graded() as (gateway, _):
        assert gateway.close() is None
        directory = gateway.directory
    assert not directory.exists()


def test_a_closed_grade_is_served_no_more() -> None:
    with graded() as (gateway, client):
        gateway.close()
        with pytest.raises(OSError, match=r"refused|No such file"):
            client.chat("well")


def test_the_directory_of_a_killed_worker_is_left_over_and_that_of_a_living_one_is_not(site: Site) -> None:
    left = site.directory / "g-0123abcd-999999999-1"
    left.mkdir()
    with graded() as (gateway, _):
        assert left_by_others(is_alive) == [left]
        assert gateway.directory.is_dir()
    left.rmdir()


def test_a_scenario_without_a_gateway_has_none() -> None:
    with grade_gateway("scenario_tiny", RELEASE, "", None, process_name()) as gateway:
        assert gateway is None


def test_a_gateway_that_is_started_anew_in_the_middle_makes_the_grading_worth_nothing(site: Site) -> None:
    with graded() as (gateway, client):
        site.stop(signal.SIGKILL)
        with pytest.raises(GatewayLost, match="does not answer"):
            gateway.begin_step()
        site.start()
        until(lambda: (gateway.directory / "gateway.sock").exists(), "it is served again")
        assert client.said("well, after").startswith("answer")
        with pytest.raises(GatewayLost, match="started anew"):
            gateway.close()


def test_where_no_gateway_runs_a_grading_goes_on_without_only_if_no_model_is_connected(
    settings: Any, site: Site
) -> None:
    settings.GATEWAY_DIR = site.root / "e"
    with pytest.raises(GatewayLost), graded():
        pass
    settings.GATEWAY = read_gateway({})
    with graded() as (gateway, client):
        with pytest.raises(FileNotFoundError):
            client.chat("well")
        assert gateway.close() is None


def test_a_cap_of_money_lets_a_regrade_ask_what_the_grading_asked(settings: Any) -> None:
    # what a call can cost at most decides whether it is made: of a kept answer that is what it was then
    site = Site(FDEGYM_GATEWAY_MONEY="0.003")
    try:
        with Provider(DoesWhatThePromptSays()) as provider:
            site.use(provider.url)
            site.start()
            settings.GATEWAY_DIR = site.directory
            said = []
            for _ in range(2):
                with graded("6" * 64) as (_, client):
                    said.append(
                        [client.said(f"well {size}", model="large", max_tokens=size) for size in (100, 300, 60)]
                    )
    finally:
        site.remove()
    assert [text.split()[0] for text in said[0]] == ["answer", "allowance_spent", "answer"]
    assert said[1] == said[0]


def test_every_call_of_a_grade_is_a_row(site: Site) -> None:
    with graded("5" * 64) as (gateway, client):
        client.said("well, a row")
        use = gateway.close()
    assert use is not None
    rows = site.rows(
        "select prompt_tokens, completion_tokens, nano, outcome from gateway_call"
        " where account_id = (select id from gateway_account where name = ?)",
        use["account"],
    )
    assert rows == [(9, 3, 3150, "answered")]
    assert "row" not in json.dumps([str(row) for row in rows])

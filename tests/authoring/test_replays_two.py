"""What was admitted comes out the same again, to the last digit: half two of what is replayed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.authoring.replays import Pair, Replays, assert_as_admitted, pairs, replaying

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(900)]
PAIRS = pairs(1)


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replays]:
    yield from replaying(tmp_path_factory.mktemp("admission"), PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_replay_gives_the_admitted_figures(replays: Replays, pair: Pair) -> None:
    assert_as_admitted(pair, replays.play(pair))

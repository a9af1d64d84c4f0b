"""What a person does to her terminals takes a bounded part of the host's disk, however long she goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from keeper_process import KeeperProcess

from workspaces import services
from workspaces.keeper.client import TerminalStream, TerminalUnavailable
from workspaces.terminal.record import Kind, Record

pytestmark = pytest.mark.sandbox


def test_sizes_without_end_do_not_grow_a_record_beyond_its_limit(tmp_path: Path) -> None:
    record = Record(tmp_path / "r", limit_bytes=10_000)
    for number in range(1000):
        record.note(Kind.SIZE, columns=80 + number % 2, rows=24)
    record.note(Kind.EXIT, status=0)
    assert record.end == 0
    record.close()
    assert (tmp_path / "r").stat().st_size < 10_200


@pytest.mark.parametrize("keeper", [("--terminals-max", "2")], indirect=True)
async def test_closing_and_opening_under_ever_new_numbers_ends(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    """Each number has a record that stays: a hundred numbers would be gigabytes."""
    run_id = await asyncio.to_thread(open_run)
    for number in range(1, 5):
        stream = await TerminalStream.attach(keeper.socket, run=run_id, number=number, role="owner")
        stream.close()
        await asyncio.to_thread(services.close_terminal, run_id, number)
        for _ in range(200):
            if not await asyncio.to_thread(services.open_terminals, run_id):
                break
            await asyncio.sleep(0.05)
    for number in (5, 99, 0, -1):
        with pytest.raises(TerminalUnavailable) as caught:
            await TerminalStream.attach(keeper.socket, run=run_id, number=number, role="owner")
        assert caught.value.kind == "too_many"

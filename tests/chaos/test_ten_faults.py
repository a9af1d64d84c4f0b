"""Ten faults under two people's hands, as `make chaos` makes a hundred: nothing is lost, nothing happens twice.

Which of the kinds come, and when, the commit decides; how long people are away is measured by `make chaos` alone.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import zlib

import pytest

from ops.chaos.faults import KINDS
from ops.chaos.trial import Options, run
from tests.deployment.conftest import need, sandboxes_work
from tests.deployment.servers import postgres_programs
from tests.sampling import commit

__all__ = ["sandboxes_work"]
pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(2400)]
#: What only some machines have; everything else is tried on each.
MAY_BE_LEFT_OUT = {"dockerd"} if os.geteuid() == 0 else {"dockerd", "full disk"}


def test_ten_faults_lose_nothing_and_double_nothing(sandboxes_work: None) -> None:
    """FC-41, FC-62, FC-88, FC-93."""
    need(postgres_programs(), "PostgreSQL's programs (Debian: postgresql)")
    need(shutil.which("redis-server"), "redis-server")
    seed = zlib.crc32(commit().encode())
    told = asyncio.run(run(Options(seed=seed, faults=10, people=2, run_s=(25.0, 40.0), quiet=True)))
    where = f"python3 -m ops.chaos --seed {seed} --faults 10 --people 2"
    assert told.audited.findings == [], where
    assert set(told.left_out) <= MAY_BE_LEFT_OUT
    assert len({fault.kind for fault in told.faults}) == min(10, len(KINDS) - len(told.left_out))
    looked_at = told.audited.looked_at
    least = {"terminal bytes": 1000, "lines typed": 2, "messages and waits": 2, "submissions": 2, "grades": 2}
    assert {what: looked_at[what] for what, count in least.items() if looked_at[what] < count} == {}

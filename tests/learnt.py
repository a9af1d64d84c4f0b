"""Learning a shipped scenario's phrasings takes most of a minute: a test session does it once, for all that need it.

What is learnt is kept by the hash of what it was learnt from, so what is lent is what would have been learnt.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: In a process of its own: learning takes hundreds of megabytes that this one would keep.
LEARN = """
import sys
from pathlib import Path
from scenarios.kit.phrasings import load_phrasings
from stakeholders.matcher.blas import use_one_thread
from stakeholders.matcher.encoder import shared_encoder
from stakeholders.matcher.fitted import Fitted
use_one_thread()
Fitted.cached(load_phrasings(Path(sys.argv[1])), shared_encoder(), Path(sys.argv[2]))
"""


class Learnt:
    """``directory`` is common to all processes of a test session."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def lend(self, var: Path) -> None:
        """Put it where a product with this ``FDEGYM_VAR`` looks for it; ``var`` is made where there is none."""
        if not var.exists():
            var.mkdir(mode=0o700)
        shutil.copytree(self._matchers(), var / "cache" / "matcher", dirs_exist_ok=True)

    def _matchers(self) -> Path:
        self._directory.mkdir(exist_ok=True)
        kept = self._directory / "matcher"
        with (self._directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"}
                for phrasings in sorted((ROOT / "scenarios").glob("*/phrasings.toml")):
                    command = [sys.executable, "-c", LEARN, str(phrasings), str(self._directory / "learning")]
                    subprocess.run(command, env=environment, check=True)
                (self._directory / "learning").rename(kept)
        return kept


@pytest.fixture(scope="session")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Learnt:
    """What the matcher learnt; ``learnt.lend(var)``."""
    own = tmp_path_factory.getbasetemp()
    return Learnt((own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "learnt")

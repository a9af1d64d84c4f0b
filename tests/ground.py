"""The ground every test stands on, laid before settings are read: a directory of this test session, a clean environment.

Loaded by ``-p tests.ground`` (pyproject.toml), because the Django plugin reads the settings before any conftest.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

#: Short, because unix sockets lie below it.
SESSION_VAR = Path(tempfile.mkdtemp(prefix="v"))
_OURS = ("DATABASE_URL", "REDIS_URL", "WORLD_SALT", "SCENARIO_DIRS")
#: The only way through: servers that a test of deployments has started for this very process.
_SERVERS = {name: os.environ.get(f"FDEGYM_TEST_{name}", "") for name in ("DATABASE_URL", "REDIS_URL")}

for _name in [name for name in os.environ if name.startswith("FDEGYM_") or name in _OURS]:
    del os.environ[_name]
os.environ.update({name: url for name, url in _SERVERS.items() if url})
os.environ["FDEGYM_VAR"] = str(SESSION_VAR)
os.environ["FDEGYM_SECRET_KEY"] = "tests-only-" + "k" * 60
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

_PROCESS = os.getpid()


@atexit.register
def _leave_nothing() -> None:
    if os.getpid() == _PROCESS:
        shutil.rmtree(SESSION_VAR, ignore_errors=True)

"""The product under load: started here with a directory of its own, or one that runs already; accounts on it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ops.bench_site import free_port

ROOT = Path(__file__).resolve().parents[2]
READY_WITHIN_S = 180.0
LOAD_ACCOUNTS = "load-"  #: how the names of accounts begin that a load has made

_SHELL = "import json, sys; from ops.load import accounts; print(json.dumps(accounts.{act}(json.load(sys.stdin))))"


@dataclass
class Product:
    """A site that answers at ``address``, and ``manage.py`` of it. ``supervisor``: the process above all of its own."""

    address: str
    environment: dict[str, str]
    supervisor: int | None = None
    made: list[str] = field(default_factory=list)

    def manage(self, *arguments: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            input=given,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout

    def make_accounts(self, number: int) -> dict[str, str]:
        """So many new accounts: name → key of a session in which it is signed in."""
        mark = f"{LOAD_ACCOUNTS}{os.getpid()}-{len(self.made)}-"
        names = [f"{mark}{each}" for each in range(number)]
        self.made += names
        found: dict[str, str] = json.loads(self._in_the_site("make", names))
        return found

    def remove_accounts(self) -> None:
        """Everything of the load's people: workspaces, runs, accounts."""
        if self.made:
            self._in_the_site("remove", self.made)
            self.made.clear()

    def _in_the_site(self, act: str, names: list[str]) -> str:
        return self.manage("shell", "-v0", "-c", _SHELL.format(act=act), given=json.dumps(names))


def own_environment(directory: Path, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FDEGYM_", "DJANGO_"))}
    return kept | {"FDEGYM_VAR": str(directory), "FDEGYM_PORT": str(port), "PYTHONDONTWRITEBYTECODE": "1"}


@contextmanager
def started(worlds: Path | None = None, *, first: Callable[[Product], object] | None = None) -> Iterator[Product]:
    """A fresh product as `make run` starts it; ``first`` is done before its processes start.

    ``worlds``: a directory of worlds that are built already; else those of this checkout are taken, if set-up built them.
    """
    with tempfile.TemporaryDirectory(prefix="fdl", dir="/tmp") as scratch:
        var = Path(scratch)
        built = worlds or ROOT / "var" / "worlds"
        if os.access(built, os.R_OK | os.X_OK):
            shutil.copytree(built, var / "worlds", ignore=shutil.ignore_patterns("building-*"))
        port = free_port()
        environment = own_environment(var, port)
        product = Product(f"http://127.0.0.1:{port}", environment)
        product.manage("prepare")
        if first is not None:
            first(product)
        with (var / "supervisor.log").open("ab") as log:
            supervisor = subprocess.Popen(
                [sys.executable, "ops/supervisor.py"], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        product.supervisor = supervisor.pid
        try:
            _until_it_answers(product.address)
            yield product
        finally:
            try:
                product.remove_accounts()
            finally:
                supervisor.send_signal(signal.SIGTERM)
                supervisor.wait(30)


@contextmanager
def running(address: str) -> Iterator[Product]:
    """A product that runs already; in this process's environment ``manage.py`` finds its database and keeper."""
    product = Product(address.rstrip("/"), dict(os.environ))
    try:
        yield product
    finally:
        product.remove_accounts()


def _until_it_answers(address: str) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while True:
        try:
            urllib.request.urlopen(f"{address}/health/", timeout=2).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def questions_of(scenario: str) -> list[tuple[str, str]]:
    """(person, text) of messages that no matcher has learnt."""
    with (ROOT / "scenarios" / scenario / "phrasings.toml").open("rb") as file:
        topics = tomllib.load(file)["topics"]
    return [(name.partition("/")[0], text) for name, topic in topics.items() for text in topic["tests"]]

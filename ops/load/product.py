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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ops.bench_site import free_port

ROOT = Path(__file__).resolve().parents[2]
READY_WITHIN_S = 180.0
LOAD_ACCOUNTS = "load-"  #: how the names of accounts begin that a load has made

#: Accounts with a session each: to sign two hundred people in would measure how dear it is to hash a password.
MAKE_ACCOUNTS = """
import json, sys
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from fdegym.accounts.models import User
sessions = {}
for name in json.load(sys.stdin):
    user = User(username=name)
    user.set_unusable_password()
    user.save()
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    sessions[name] = session.session_key
print(json.dumps(sessions))
"""

#: Runs of these people end with them: workspaces would outlive the site, and accounts the load.
REMOVE_ACCOUNTS = """
import json, sys
from fdegym.accounts.models import User
from fdegym.runs.models import Run
from workspaces.services import destroy_workspace
people = User.objects.filter(username__in=json.load(sys.stdin))
for run_id in Run.objects.filter(user__in=people).values_list("pk", flat=True):
    destroy_workspace(str(run_id))
people.delete()
"""


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
        found: dict[str, str] = json.loads(self.manage("shell", "-v0", "-c", MAKE_ACCOUNTS, given=json.dumps(names)))
        return found

    def remove_accounts(self) -> None:
        """Everything of the load's people: workspaces, runs, accounts."""
        if self.made:
            self.manage("shell", "-v0", "-c", REMOVE_ACCOUNTS, given=json.dumps(self.made))
            self.made.clear()


def own_environment(directory: Path, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FDEGYM_", "DJANGO_"))}
    return kept | {"FDEGYM_VAR": str(directory), "FDEGYM_PORT": str(port), "PYTHONDONTWRITEBYTECODE": "1"}


@contextmanager
def started(directory: Path | None = None) -> Iterator[Product]:
    """A product as `make run` starts it. In a ``directory`` that is given, worlds and the rest are kept for the next."""
    with tempfile.TemporaryDirectory(prefix="fdl", dir="/tmp") as scratch:
        var = directory or Path(scratch)
        built = ROOT / "var" / "worlds"
        if not (var / "worlds").exists() and os.access(built, os.R_OK):
            shutil.copytree(built, var / "worlds", ignore=shutil.ignore_patterns("building-*"))
        port = free_port()
        environment = own_environment(var, port)
        product = Product(f"http://127.0.0.1:{port}", environment)
        product.manage("prepare")
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

"""All processes, as the containers start them, on PostgreSQL and Redis: from the brief to the queue and out of it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.deployment.composed import command_of, environment_of, services
from tests.deployment.servers import Postgres, Redis
from tests.e2e.stack import CHECKOUT, READY_WITHIN_S, Stack, clean_environment, own_directory
from tests.waiting import until

pytestmark = pytest.mark.sandbox

#: What a person does, by the same services as the pages: begin, ask somebody, look around, submit.
WORK = """
import json
from fdegym.delivery.begin import begin_command_run
from fdegym.delivery.submit import submit_run
from fdegym.runs import log
from fdegym.runs.models import Run
from stakeholders.services import directory, send_message
from workspaces.services import list_directory
run = begin_command_run("oil_npt", "original", "L3")
person = directory(run.id)[0]["id"]
answer = send_message(run.id, person, "Good morning! What happened in September?", "m-1")
again = send_message(run.id, person, "Good morning! What happened in September?", "m-1")
looked = [entry.name for entry in list_directory(str(run.id), "/workspace/system")]
submission = submit_run(run.id)
run = Run.objects.get(pk=run.id)
print(json.dumps({
    "answer": answer["answer"], "same": answer == again, "looked": looked,
    "submission": submission.pk, "state": run.state, "broken": log.first_broken_link(run),
    "kinds": [event.kind for event in log.events(run.id)],
}))
"""


class DeployedStack(Stack):
    """The product as `ops/compose.yaml` starts it, process by process, without the containers."""

    SERVICES = ("keeper", "desk", "gateway", "worker", "scheduler", "site-a")

    def __init__(self, directory: Path, database_url: str, redis_url: str) -> None:
        super().__init__(directory)
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.ended: dict[str, int] = {}  #: how each ended when it was last told to
        self.secrets = directory / "secrets"
        subprocess.run([sys.executable, "ops/new_secrets.py", str(self.secrets)], cwd=CHECKOUT, check=True)
        for name, url in (("database-url", database_url), ("redis-url", redis_url)):
            (self.secrets / name).unlink()
            (self.secrets / name).touch(mode=0o600)
            (self.secrets / name).write_text(url)

    def environment(self, **further: str) -> dict[str, str]:
        """Of a site's container, here: other places, no network of its own, and no Docker."""
        there = {name: self._here(value) for name, value in (environment_of("site-a") | further).items()}
        here = {"FDEGYM_PORT": str(self.port), "FDEGYM_BIND": "127.0.0.1", "FDEGYM_PROXIES": "127.0.0.1"}
        here |= {"PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'platform'}", "DJANGO_SETTINGS_MODULE": "fdegym.settings"}
        return clean_environment(**there | here | {"FDEGYM_SIGNUP": "open", "FDEGYM_RUNTIME": "bubblewrap"})

    def _here(self, text: str) -> str:
        return text.replace("/run/secrets", str(self.secrets)).replace("/var/lib/fdegym", str(self.var))

    def start(self) -> None:
        for name in self.SERVICES:
            with (self.directory / f"{name}.log").open("wb") as log:
                self.running[name] = subprocess.Popen(
                    [self._here(part) for part in command_of(name)],
                    cwd=CHECKOUT,
                    env=self.environment(**environment_of(name)),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        for name in self.SERVICES:
            until(
                lambda name=name: self.is_healthy(name), lambda name=name: self.said_of(name), within_s=READY_WITHIN_S
            )

    def said_of(self, name: str) -> str:
        return f"{name} is healthy; it said:\n{(self.directory / f'{name}.log').read_text(errors='replace')[-3000:]}"

    def is_healthy(self, name: str) -> bool:
        assert self.running[name].poll() is None, self.said_of(name)
        check = services()[name].get("healthcheck", {}).get("test", [])[2:]
        if not check:
            return True
        asked = [sys.executable, *(self._here(part) for part in check)]
        return subprocess.run(asked, env=self.environment(), capture_output=True, check=False).returncode == 0

    def stop(self) -> None:
        """As compose does: SIGTERM to each, and after its grace SIGKILL."""
        for process in self.running.values():
            process.terminate()
        for name, process in self.running.items():
            try:
                self.ended[name] = process.wait(120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                self.ended[name] = process.wait(20)
        self.running = {}


class Visitor:
    """Somebody with a browser behind the proxy; each request is a connection of its own, to whichever process takes it."""

    def __init__(self, port: int) -> None:
        self.port, self.cookies = port, SimpleCookie()

    def ask(self, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        said = "; ".join(f"{name}={morsel.value}" for name, morsel in self.cookies.items())
        host = environment_of("site-a")["FDEGYM_HOSTS"]
        headers = {"Host": host, "X-Forwarded-Proto": "https", "Origin": f"https://{host}", "Cookie": said}
        headers |= {"X-Forwarded-For": "10.9.8.7", "Content-Type": "application/x-www-form-urlencoded"}
        try:
            line.request("POST" if form else "GET", path, urlencode(form or {}), headers)
            reply = line.getresponse()
            for value in reply.headers.get_all("Set-Cookie", []):
                self.cookies.load(value)
            return reply.status, reply.read().decode()
        finally:
            line.close()

    def sign_up(self, name: str) -> int:
        _, page = self.ask("/account/sign-up/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]  # type: ignore[index]
        password = f"{name}-has-a-long-password"
        form = {"csrfmiddlewaretoken": token, "username": name, "password1": password, "password2": password}
        return self.ask("/account/sign-up/", form)[0]


@pytest.fixture
def stack(postgres: Postgres, redis: Redis, sandboxes_work: None) -> Iterator[DeployedStack]:
    running = DeployedStack(own_directory("fdws-"), postgres.create_database("whole"), redis.url)
    try:
        running.prepare()
        running.start()
        yield running
    finally:
        running.stop()
        end_sandboxes(str(running.directory))
        running.remove()


def end_sandboxes(directory: str) -> None:
    """Workspaces outlive the product, as they should; this one is not coming back for them."""
    parents = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit():
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents[int(entry.name)] = (parent, command.startswith("bwrap") and directory in command)
    outer = {pid for pid, (_, is_ours) in parents.items() if is_ours}
    for pid in outer | {pid for pid, (parent, _) in parents.items() if parent in outer}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_a_run_goes_from_brief_to_grading_in_the_deployed_product(stack: DeployedStack, postgres: Postgres) -> None:
    worked = stack.manage("shell", "-v", "0", "-c", WORK)
    assert worked.returncode == 0, worked.stdout + worked.stderr
    report = json.loads(worked.stdout.splitlines()[-1])
    assert report["answer"]
    assert report["same"], "a message sent twice is one message"
    assert report["kinds"].count("contact.message") == 1
    assert report["looked"], "the workspace holds the system"
    assert (report["state"], report["broken"]) == ("submitted", None)
    step = f"select progress->>'step' from grading_submission where id = {report['submission']}"
    until(lambda: postgres.ask("whole", step) not in ("queued", ""), "a worker takes it", within_s=30)
    assert not list(stack.var.glob("*.sqlite3*")), "something was written into SQLite all the same"
    assert not (stack.var / "secret-key").exists(), "a process made a key of its own"

    alice, bob = Visitor(stack.port), Visitor(stack.port)
    assert [alice.sign_up("alice"), bob.sign_up("bob")] == [302, 302]
    pages = [visitor.ask("/runs/") for _ in range(6) for visitor in (alice, bob)]
    assert {status for status, _ in pages} == {200}, "a process does not know who signed up at another"
    stack.stop()
    assert {name: status for name, status in stack.ended.items() if status not in (0, -signal.SIGTERM)} == {}

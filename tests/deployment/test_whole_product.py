"""All five processes, as `make run` starts them, on PostgreSQL and Redis: from the brief to the queue and out of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.servers import Postgres, Redis
from tests.e2e.stack import Stack, own_directory
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
    """The product with the two variables that make a deployment of it."""

    database_url = redis_url = ""

    def environment(self, **further: str) -> dict[str, str]:
        return super().environment(DATABASE_URL=self.database_url, REDIS_URL=self.redis_url, **further)


@pytest.fixture
def stack(postgres: Postgres, redis: Redis, sandboxes_work: None) -> Iterator[DeployedStack]:
    running = DeployedStack(own_directory("fdws-"))
    running.database_url, running.redis_url = postgres.create_database("whole"), redis.url
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

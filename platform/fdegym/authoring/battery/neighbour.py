"""Somebody else's run beside an attack, with a secret in its workspace: it must neither be read nor notice anything."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fdegym.delivery.begin import begin_command_run
from fdegym.delivery.play import end_command_run
from fdegym.lib.errors import FdegymError
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from scenarios.kit.load import Task
from workspaces.services import changes, put_file, read_file, run_in_workspace

FILE = "/workspace/system/neighbour"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An open run. ``secret`` lies in its workspace and nowhere else."""

    run: Run
    task: Task
    secret: str
    head: tuple[int, str]

    @property
    def run_id(self) -> str:
        return str(self.run.id)

    def disturbed(self) -> Iterator[str]:
        """What is not as it was."""
        self.run.refresh_from_db()
        if self.run.state != RunState.OPEN:
            yield f"the neighbour's run is {self.run.state}"
        if log.head(self.run) != self.head or log.first_broken_link(self.run) is not None:
            yield "the neighbour's log has changed"
        try:
            if run_in_workspace(self.run_id, ["echo", "here"], timeout_s=60).stdout != b"here\n":
                yield "the neighbour's workspace does not answer"
            if read_file(self.run_id, FILE).decode() != self.secret:
                yield "the neighbour's file was changed"
            if [change.path for change in changes(self.run_id, self.task.system)] != ["neighbour"]:
                yield "the neighbour's system was changed"
        except FdegymError as problem:
            yield f"the neighbour's workspace is lost: {problem}"


@contextmanager
def neighbour(task: Task, level: str) -> Iterator[Neighbour]:
    """A neighbour of that task, open for as long as the block runs."""
    run = begin_command_run(task.scenario.id, task.task_id, level)
    try:
        secret = secrets.token_hex(16)
        put_file(str(run.id), FILE, secret.encode())
        yield Neighbour(run, task, secret, log.head(run))
    finally:
        end_command_run(run)

"""What belongs to nobody is seen, for as long as it is there; what belongs to somebody is not."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grading.processes import process_name
from ops.chaos.product import Orphans, Product
from tests.e2e.stack import own_directory
from tests.waiting import until

RUN = uuid.UUID("8d3f2a51-6f0e-4c5b-9a57-2b1c0d9e4f10")  # one for all, since it is part of the names of tests


class Kept(Product):
    """A product of which only the directory is there; ``leases`` are the submissions whose lease ran out."""

    leases: list[tuple[Any, ...]] = []

    def select(self, query: str) -> list[tuple[Any, ...]]:
        return self.leases if "lease_until" in query else [(RUN.hex,)]


@pytest.fixture
def product() -> Iterator[Kept]:
    made = Kept(own_directory("fdor-"), embedded=True)
    for folder in ("sandboxes/_skeleton", "grading/_skeleton", f"sandboxes/{RUN}", f"run/desk/{RUN}", "run/gateway"):
        (made.var / folder).mkdir(parents=True)
    yield made
    made.remove()


def seen(product: Kept) -> list[str]:
    orphans = Orphans(product)
    orphans.look()
    return orphans.present()


def bound(path: Path, *, listening: bool) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(str(path))
    if listening:
        made.listen()
    else:
        made.close()
    return made


def test_a_run_with_its_workspace_and_a_socket_that_answers_is_no_orphan(product):
    with bound(product.sockets / "desk" / str(RUN) / "desk.sock", listening=True):
        assert seen(product) == []


@pytest.mark.parametrize("place", ["keeper.sock", "desk/site.sock", f"desk/{RUN}/desk.sock", "gateway/.new"])
def test_a_socket_that_nobody_answers_is_one(product, place):
    bound(product.sockets / place, listening=False)
    assert seen(product) == [f"socket {place} that nobody answers"]


def test_a_workspace_and_a_directory_of_sockets_without_a_run_are(product):
    other = uuid.uuid4()
    (product.var / "sandboxes" / str(other)).mkdir()
    (product.sockets / "desk" / str(other)).mkdir()
    assert seen(product) == [f"directory desk/{other} without a run", f"workspace {other} without a run"]


def test_a_lease_that_ran_out_is(product):
    product.leases = [(7,)]
    assert seen(product) == ["lease of submission 7, whose worker is dead"]


@pytest.mark.parametrize("kind", ["sandboxes", "grading"])
def test_a_process_of_a_sandbox_is_one_once_the_sandbox_is_gone(product, kind):
    sandbox = product.var / kind / (str(RUN) if kind == "sandboxes" else "grade-1")
    sandbox.mkdir(exist_ok=True)
    shown = [f"{product.var}/{kind}/_skeleton/local", "/usr/local", f"{sandbox}/etc", "/etc"]
    command = ["bwrap", "-c", "import sys; sys.stdin.read()", *shown]
    with subprocess.Popen(command, executable=sys.executable, stdin=subprocess.PIPE) as process:
        try:
            until(lambda: [each.id for each in product.sandboxes()] == [process.pid], "the process has its name")
            assert seen(product) == []
            sandbox.rmdir()
            assert seen(product) == [f"process {process.pid} of the sandbox {sandbox.name}, which is gone"]
        finally:
            process.kill()


def test_a_sandbox_whose_grader_was_killed_is(product):
    for name, by in (("grade-1", process_name()), ("grade-2", f"{os.getpid()}-1")):
        (product.var / "grading" / name).mkdir()
        (product.var / "grading" / name / "spec.json").write_text(json.dumps({"labels": {"by": by}}))
    assert seen(product) == [f"sandbox grade-2 of the grader {os.getpid()}-1, which is gone"]


def test_an_orphan_is_told_when_it_stayed_too_long_even_if_it_is_gone_in_the_end(product, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("ops.chaos.product.time.monotonic", lambda: now[0])
    orphans = Orphans(product, longest_s=60.0)
    product.leases = [(7,)]
    orphans.look()
    now[0] += 59
    orphans.look()
    assert orphans.overdue() == []
    now[0] += 2
    orphans.look()
    product.leases = []
    orphans.look()
    assert orphans.present() == []
    assert orphans.overdue() == ["lease of submission 7, whose worker is dead, for 61 s"]

"""Starts that cannot work say why in a sentence, end with a status that is not 0, and hinder no later one."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.e2e.checkouts import Checkout, programs, refused
from tests.e2e.stack import CHECKOUT, Stack, free_port, own_directory
from tests.waiting import until

pytestmark = [pytest.mark.sandbox]

#: What bubblewrap prints, and its status, where the kernel lets nobody make user namespaces.
NO_NAMESPACES = (
    'echo "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged '
    'user namespaces." >&2; exit 1'
)
#: An interpreter of an old system as far as the set-up can see it.
OLD_PYTHON = """
import runpy, subprocess, sys
sys.version_info, sys.version = (3, 9, 2, "final", 0), "3.9.2 (default)"
asked = subprocess.run
def run(command, *arguments, **options):
    if "sys.version_info <" in str(command):
        return subprocess.CompletedProcess(command, 1)
    return asked(command, *arguments, **options)
subprocess.run = run
sys.path.insert(0, "ops"); sys.argv = ["ops/setup.py", "run"]
runpy.run_path("ops/setup.py", run_name="__main__")
"""


@pytest.fixture(scope="module")
def checkout(sandboxes_work: None) -> Iterator[Checkout]:
    """A checkout of an ordinary user in which nothing has been prepared yet."""
    directory = own_directory("fdbad-")
    yield Checkout.copied_to(directory / "fde")
    shutil.rmtree(directory, ignore_errors=True)


def test_without_bubblewrap_the_one_command_is_named(checkout, tmp_path):
    path = programs(tmp_path / "bin", without=("bwrap",))
    (tmp_path / "bin").chmod(0o755)
    # /usr/sbin is looked at too, /usr/bin not: there bubblewrap lies on Debian
    refused(checkout.setup(PATH=path), "bubblewrap must be installed", "sudo make system")


def test_where_user_namespaces_are_refused_the_set_up_says_so(checkout):
    directory = own_directory("fdpath-")
    try:
        path = programs(directory / "bin", standing_in={"bwrap": NO_NAMESPACES})
        done = checkout.setup(PATH=path, FDEGYM_VAR=str(directory / "var"))
        refused(done, "No sandbox can be made on this machine", "namespace")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def test_an_old_python_is_named_with_the_version_that_is_needed(checkout):
    refused(checkout.run("python3", "-c", OLD_PYTHON), "Python 3.11 or newer is needed", "3.9.2")


def test_a_checkout_that_cannot_be_written_is_named(checkout):
    lock = checkout.place / ".setup-lock"
    lock.unlink(missing_ok=True)
    checkout.place.chmod(0o555)
    try:
        refused(checkout.setup(), "Nothing can be written in", str(checkout.place))
    finally:
        checkout.place.chmod(0o755)


def test_a_disk_that_is_nearly_full_is_named_with_what_is_needed(checkout):
    directory = own_directory("fdfull-")
    var = directory / "var"
    var.mkdir()
    var.chmod(0o777)
    try:
        small = ("bwrap", "--dev-bind", "/", "/", "--perms", "0700", "--size", str(8 << 20), "--tmpfs", str(var), "--")
        refused(checkout.setup(before=small, FDEGYM_VAR=str(var)), "MB are free", str(var))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def test_a_variable_that_cannot_be_used_is_named(checkout):
    refused(checkout.supervisor(FDEGYM_PORT="eighty"), "FDEGYM_PORT", "number from 1 to 65535")


def test_an_interrupted_preparation_goes_on_and_a_taken_port_is_named_before_it_starts(sandboxes_work):
    """The first one is killed while it builds, the second completes it; then the site does not start on a taken port, and
    starts on another.
    """
    stack = Stack(own_directory("fdint-"))
    worlds = stack.var / "worlds"
    stack.take_worlds(but=4)
    try:
        first = subprocess.Popen(
            [sys.executable, "manage.py", "prepare"],
            cwd=CHECKOUT,
            env=stack.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until(lambda: list(worlds.glob("building-*")), "a world is being built", within_s=120, every_s=0.02)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        before = set(worlds.glob("*/meta.json"))
        stack.prepare()
        assert set(worlds.glob("*/meta.json")) > before
        third = stack.manage("prepare")
        assert (third.returncode, third.stdout) == (0, ""), "a preparation that is done says nothing"

        with socket.socket() as taken:
            taken.bind(("127.0.0.1", stack.port))
            taken.listen()
            refused(stack.start_in_vain(), f"port {stack.port}", "FDEGYM_PORT=")
        stack.port = free_port()
        stack.start()
        assert stack.answers()
    finally:
        stack.remove()

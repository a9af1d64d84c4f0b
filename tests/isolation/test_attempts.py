"""Attempts to get out of a sandbox: none succeeds, on either runtime, and nothing outside notices that there were any."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.isolation.conftest import Arena
from tests.isolation.ground import Ground
from tests.isolation.programs.attempt import HOST, NAMESPACE, NEIGHBOUR, Attempt
from tests.isolation.programs.everything import ATTEMPTS
from tests.isolation.sandboxes import (
    attempt_as_root_of_a_namespace,
    attempt_by_a_command,
    attempt_inside,
    attempt_on_the_host,
)

pytestmark = pytest.mark.sandbox

#: By which a kernel says that something is not allowed or not there. Others, "invalid argument" above all, would say that
#: the attempt was badly made, and show nothing.
REFUSALS = {"EPERM", "EACCES", "EROFS", "ENOENT", "ENOSYS", "ENXIO", "ENODEV", "EXDEV", "ESRCH", "ENOTDIR"}
REFUSALS |= {
    "ECONNREFUSED",
    "ENETUNREACH",
    "EHOSTUNREACH",
    "EADDRNOTAVAIL",
    "EAFNOSUPPORT",
    "EPROTONOSUPPORT",
    "ETIMEDOUT",
}
CONTROLLED = [each for each in ATTEMPTS.values() if each.control in (HOST, NAMESPACE)]


@pytest.mark.parametrize("tried", ATTEMPTS.values(), ids=list(ATTEMPTS))
def test_this_attempt_fails(arena: Arena, tried: Attempt) -> None:
    """FC-50, FC-95."""
    before = arena.neighbours_state()
    ended = attempt_inside(arena.attacker, tried.name, arena.facts)
    assert ended.got is None, f"{tried.tries} It succeeded: {ended.got}"
    assert ended.refused <= REFUSALS
    assert arena.ground.secret not in ended.printed
    assert arena.ground.touched() == []
    assert arena.neighbours_state() == before
    assert arena.attacker.exec(["echo", "alive"]).stdout == b"alive\n"


@pytest.fixture(scope="module")
def grounds() -> Iterator[list[Ground]]:
    """The ground for the next that is to succeed, made anew when one has spoilt it."""
    made: list[Ground] = []
    yield made
    for ground in made:
        ground.__exit__()


@pytest.mark.parametrize("tried", CONTROLLED, ids=[each.name for each in CONTROLLED])
def test_this_attempt_succeeds_where_nothing_forbids_it(grounds: list[Ground], tried: Attempt) -> None:
    """Else its failure in a sandbox would show nothing."""
    if not grounds:
        grounds.append(Ground().__enter__())
    (ground,) = grounds
    attempt = attempt_on_the_host if tried.control == HOST else attempt_as_root_of_a_namespace
    ended, touched = attempt(tried.name, ground.facts), ground.touched()
    if touched:
        grounds.pop().__exit__()
    if tried.kind == "calls of the kernel" and ended.refused and ended.refused <= {"EPERM", "ENOSYS"}:
        pytest.xfail("this host refuses it to everybody")
    assert ended.got or touched, ended


@pytest.mark.parametrize(
    "tried", [each for each in ATTEMPTS.values() if each.control == NEIGHBOUR], ids=lambda each: each.name
)
def test_this_attempt_succeeds_where_it_is_ones_own(arena: Arena, tried: Attempt) -> None:
    assert attempt_by_a_command(arena.neighbour, tried.name, arena.facts).got


def test_every_kind_of_attempt_has_one_that_succeeds_elsewhere() -> None:
    without = {each.kind for each in ATTEMPTS.values()} - {each.kind for each in ATTEMPTS.values() if each.control}
    assert without == set()

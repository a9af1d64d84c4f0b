"""Ten people at work for a minute on the whole product, as `make load` sends them: nothing is timed, all is compared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ops.load.crowds import Plan, load
from ops.load.product import Product
from tests.e2e.stack import Stack, own_directory

#: What `manage.py prepare` does, but for the worlds: only those are built that somebody visits.
PREPARE = """
from django.core.management import call_command
call_command("migrate", interactive=False, verbosity=0)
call_command("createcachetable", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
"""
MINUTE = Plan(people=10, seconds=60, arrive_s=10, floods=1, submit=False, kind="checker", draws=1_000_000)


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    stack = Stack(own_directory("fdload-"))
    try:
        stack.take_worlds()
        done = stack.manage("shell", "-c", PREPARE)
        assert done.returncode == 0, done.stderr
        stack.start()
        assert stack.process is not None
        yield Product(stack.address, stack.environment(), stack.process.pid)
    finally:
        stack.remove()


@pytest.mark.sandbox
def test_of_ten_people_at_work_nobody_loses_a_byte_or_an_answer(product: Product) -> None:
    """Every key comes back, every output is what was printed, every message is answered and shown once, one floods."""
    found = load(product, MINUTE)
    counts = found["working"].counts

    assert found["arriving"].errors + found["working"].errors == {}
    assert found["arrived"] == 10
    assert counts["keys that came back"] == counts["keys typed"] > 0
    assert counts["messages answered"] == counts["messages written"] > 0
    assert counts["outputs compared"] > 0
    assert counts["bytes of floods"] > 0
    assert not counts["terminals connected again"] + counts["feeds connected again"]

"""pytest ``-p tests.deployment.repeating`` keeps the tests that are marked ``backend`` and those below ``--whole``."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--whole", action="append", default=[], metavar="PATH", help="keep every test whose path begins so"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    whole = tuple(config.getoption("whole"))
    left_out = [item for item in items if not (item.get_closest_marker("backend") or item.nodeid.startswith(whole))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]

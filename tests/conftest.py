"""The cast and the ground rules of every test: nothing is written outside a directory of this test session."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest

from tests.sampling import commit, sampled

# No store of examples: a checkout may belong to somebody else than who tests. No deadline: a busy machine is no failure.
hypothesis.settings.register_profile("fdegym", database=None, deadline=None)
hypothesis.settings.load_profile("fdegym")


#: Begun first, in this order: what takes minutes must not be what the others wait for in the end.
LONGEST = (
    "tests/chaos/",
    "tests/authoring/",
    "tests/e2e/",
    "tests/load/",
    "tests/deployment/",
    "tests/battery/",
    "tests/grading/",
)
#: Long tests that take turns: of each row a commit runs one column. ``TEST_EVERYTHING=1`` runs all.
TURNS = (
    (
        ("tests/e2e/test_terminal.py", "tests/e2e/test_bad_starts.py"),
        ("tests/e2e/test_workbench.py", "tests/e2e/test_editor.py"),
        ("tests/e2e/test_killed.py", "tests/e2e/test_commands.py"),
    ),
    (
        ("tests/deployment/test_worker_and_broker.py", "tests/deployment/test_serving.py"),
        ("tests/deployment/test_worker_drains.py",),
        ("tests/deployment/test_backup.py", "tests/deployment/test_whole_product.py"),
    ),
    (
        ("tests/authoring/test_admission_command.py",),
        ("tests/authoring/test_newscenario.py", "tests/gateway/test_gateway_sandboxes.py"),
    ),
    (("tests/scenarios/test_oil_solutions.py",), ("tests/battery/test_battery.py",)),
    (
        ("tests/scenarios/test_oil_world.py",),
        ("tests/scenarios/test_oil_grader_hostile.py", "tests/scenarios/test_oil_grader_truth.py"),
        ("tests/scenarios/test_fund_system.py", "tests/scenarios/test_logistics_system.py"),
    ),
    (
        ("tests/authoring/checks/test_ends.py", "tests/authoring/checks/test_leaks.py"),
        ("tests/authoring/checks/test_shape.py", "tests/authoring/checks/test_determinism.py"),
    ),
)


def waits_for_another_commit() -> tuple[str, ...]:
    """Files whose turn it is not."""
    if os.environ.get("TEST_EVERYTHING") == "1":
        return ()
    left_out: list[str] = []
    for number, row in enumerate(TURNS):
        (chosen,) = sampled(map(str, range(len(row))), 1, seed=f"{commit()}/{number}")
        left_out += [name for column, names in enumerate(row) if column != int(chosen) for name in names]
    return tuple(left_out)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        return next((at for at, start in enumerate(LONGEST) if item.nodeid.startswith(start)), len(LONGEST))

    items.sort(key=place)
    if any(argument.partition("::")[0].endswith(".py") for argument in config.args):
        return  # whoever names a file wants it
    others = waits_for_another_commit()
    waiting = [item for item in items if item.nodeid.startswith(others)]
    if waiting:
        items[:] = [item for item in items if not item.nodeid.startswith(others)]
        config.hook.pytest_deselected(items=waiting)


@pytest.fixture(scope="session", autouse=True)
def _plain_static_files() -> Iterator[None]:
    """Pages in tests name static files by their plain names: no collectstatic before a test run."""
    from django.conf import settings
    from django.test.utils import override_settings

    storages = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with override_settings(
        STORAGES=storages, SERVESTATIC_USE_MANIFEST=False, PASSWORD_HASHERS=hashers, TELLS_OF_ITSELF=False
    ):
        yield


def _person(name: str):
    from fdegym.accounts.models import User

    return User.objects.create_user(name, password=f"{name}-has-a-long-password")


@pytest.fixture
def alice(db):
    """Owns the run in question."""
    return _person("alice")


@pytest.fixture
def bob(db):
    """Is in alice's cohort."""
    return _person("bob")


@pytest.fixture
def charlie(db):
    """Has no business there."""
    return _person("charlie")


@pytest.fixture
def make_run(db):
    """``make_run(user, **fields)``: an open run without a workspace, for tests of logs, rights and pages."""
    from fdegym.runs.models import Run, RunState

    def make(user, scenario_id: str = "oil_npt", **fields):
        attempt = fields.pop("attempt", None) or Run.objects.filter(user=user, scenario_id=scenario_id).count() + 1
        values = {"task_id": "original", "level": "L3", "release": "0" * 64, "state": RunState.OPEN} | fields
        return Run.objects.create(user=user, scenario_id=scenario_id, attempt=attempt, **values)

    return make

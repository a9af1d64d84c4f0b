"""An audit says of any row that holds nonsense that it does: it does not end on it, nor leave out those that follow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, models

from fdegym.runs.models import Run, RunEvent
from grading.models import Grade, Submission
from tests.audit.asking import audit

pytestmark = pytest.mark.django_db(transaction=True)

#: What no column of these tables holds, and what SQLite, which does not look at types, takes in nearly all of them.
NONSENSE = ("garbé", -5, 1e300, b"\xff\xfe", "")


@contextmanager
def edited(row: models.Model, column: str, value: Any) -> Iterator[bool]:
    """Whether the database takes the value; the old one is there again afterwards."""
    table, key = row._meta.db_table, row._meta.pk.column
    pk = row.pk.hex if isinstance(row, Run) else row.pk
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT "{column}" FROM "{table}" WHERE "{key}" = %s', [pk])
        (old,) = cursor.fetchone()

        def write(what: Any) -> None:
            cursor.execute(f'UPDATE "{table}" SET "{column}" = %s WHERE "{key}" = %s', [what, pk])

        try:
            write(value)
        except DatabaseError:
            yield False
            return
        yield True
        write(old)


def columns_of(row: models.Model) -> list[str]:
    fields = [field for field in row._meta.concrete_fields if not field.primary_key and not field.remote_field]
    return [str(field.column) for field in fields]


@pytest.mark.parametrize("model", [Run, RunEvent, Submission, Grade])
def test_nonsense_in_any_column_is_told_in_a_report(
    model: type[models.Model], alice: Any, graded: Callable[..., Run]
) -> None:
    run = graded(alice)
    found = 0
    for row in model._default_manager.all():
        for column in columns_of(row):
            for value in NONSENSE:
                with edited(row, column, value) as taken:
                    status, words = audit(run, "--json") if taken else (0, "{}")
                if status:
                    last = json.loads(words)["checks"][-1]
                    assert last["result"] == "not so", (column, value)
                    found += 1
    assert found > 20
    assert audit(run)[0] == 0


def test_a_run_whose_row_cannot_be_read_does_not_end_the_audit_of_all(
    alice: Any, bob: Any, graded: Callable[..., Run]
) -> None:
    broken, honest = graded(alice), graded(bob)
    said = StringIO()
    with edited(broken, "begun_at", b"\xff\xfe"), pytest.raises(SystemExit):
        call_command("audit", "--all", stdout=said)
    lines = said.getvalue().splitlines()
    assert f"{broken.id}  NOT SO  chain: A row holds something that the site does not write there" in said.getvalue()
    assert [line for line in lines if line.startswith(str(honest.id)) and "checks are so" in line]
    assert lines[-1] == "2 runs, 1 of them with something that is not so."


@pytest.mark.parametrize("state", ["queued", "void"])
def test_a_submission_said_to_be_elsewhere_than_its_run(state: str, alice: Any, graded: Callable[..., Run]) -> None:
    """Queued again, it would be graded once more by whichever worker is free."""
    run = graded(alice)
    Submission.objects.filter(run=run).update(state=state)
    status, words = audit(run)
    assert status == 1
    assert f"The run is graded in its log, its submission {state!r}." in words

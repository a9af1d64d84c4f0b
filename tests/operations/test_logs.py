"""What stands in the logs: one shape everywhere, of whom each line is, and nothing that is nobody's business."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import logging.config
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from django.urls import reverse

from fdegym.lib import logs
from fdegym.lib.errors import ServiceUnavailable

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ["time", "level", "logger", "event", "process"]


@pytest.fixture
def written(monkeypatch):
    """``written()``: the lines that a collector would have read so far, whoever logged."""
    monkeypatch.setattr(logs, "_process", "site")
    monkeypatch.setattr(logs, "_secrets", [])
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)
    logs.bind_anew()


def test_a_line_says_when_how_grave_by_whom_and_of_which_run(written):
    with logs.bound(run="r-1", submission=7, user=None):
        logging.getLogger("grading.queue").warning("attempt %s\nfailed", 2)
    logging.getLogger("grading.queue").warning("and of none")
    first, second = written()
    assert list(first) == [*FIELDS, "run", "submission"]
    assert (first["level"], first["logger"], first["process"]) == ("warning", "grading.queue", "site")
    assert (first["event"], first["run"], first["submission"]) == ("attempt 2\nfailed", "r-1", "7")
    assert list(second) == FIELDS


def test_an_error_is_one_line_with_its_kind_and_where_it_was(written):
    try:
        raise KeyError("gone")
    except KeyError:
        logging.getLogger("desk").exception("it failed")
    (line,) = written()
    assert line["error"]["kind"] == "KeyError"
    assert "test_logs.py" in line["error"]["trace"]


def test_a_secret_that_the_process_was_given_is_written_nowhere(written):
    secret, url = "hunter2-the-secret", "postgres://alice:hunter2-the-secret@db/name"
    logs.hide(url, secret, "", None)
    try:
        raise OSError(f"cannot reach {url}")
    except OSError:
        logging.getLogger("x").exception("with %s", secret)
    assert secret not in json.dumps(written())
    record = logging.LogRecord("x", logging.INFO, "", 1, "with %s", (secret,), None)
    assert secret not in logs.LineFormatter().format(record)


MARKS = [f"private-{what}-7c1e" for what in ("words", "file", "password", "ticket", "token", "name")]
WORDS, FILE, PASSWORD, TICKET, TOKEN, NAME = MARKS


def spoken(written):
    """Everything that was logged, as text; it must be something, or nothing was tried."""
    lines = written()
    assert lines
    return json.dumps(lines)


def test_a_request_is_of_its_person_and_run_and_tells_nothing_that_it_brought(
    alice, client, make_run, written, settings, tmp_path
):
    settings.KEEPER_SOCKET, settings.DESK_DIR = tmp_path / "k.sock", tmp_path
    run = make_run(alice)
    client.post(reverse("account_login"), {"login": "alice", "password": PASSWORD})
    client.force_login(alice)
    client.raise_request_exception = False
    client.get(f"/nowhere/?ticket={TICKET}", headers={"Authorization": f"Bearer {TOKEN}"})
    client.post(f"/runs/{run.pk}/nowhere/", {"text": WORDS, "file": io.BytesIO(FILE.encode())})
    refused = client.get(reverse("debrief", args=[uuid.uuid4()]))
    assert refused.status_code == 404
    lines = written()
    assert [line for line in lines if line.get("user") == str(alice.pk) and "run" in line]
    assert not [mark for mark in MARKS if mark in json.dumps(lines)]


def test_one_requests_person_is_not_the_nexts(alice, client, written):
    client.force_login(alice)
    client.get("/nowhere/")
    client.logout()
    client.get("/nowhere/")
    asked = [line for line in written() if "nowhere" in line["event"]]
    assert [line.get("user") for line in asked] == [str(alice.pk), None]


async def test_a_message_to_the_desk_is_of_its_run_and_its_words_are_not_logged(tmp_path, written, monkeypatch):
    from stakeholders import desk

    def perform(exchange, request):
        logging.getLogger("stakeholders.exchange").warning("in the thread that decides")
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(desk, "_perform", perform)
    run_id = str(uuid.uuid4())
    request = {"op": "say", "run": run_id, "id": "1", "person": NAME, "text": WORDS}
    answer = await desk.Desk(tmp_path, lambda *given: None)._answer(json.dumps(request).encode(), None)
    assert answer["ok"] is False
    lines = written()
    assert [line["event"].split(" ")[0] for line in lines if line.get("run") == run_id] == ["in", "a"]
    assert not [mark for mark in MARKS if mark in json.dumps(lines)]


async def test_a_request_to_the_keeper_is_of_its_run_and_what_it_carries_is_not_logged(tmp_path, written):
    from workspaces.keeper.server import Keeper, KeeperSettings

    class Connection:
        said = None

        def refuse(self, kind, text, **more):
            self.said = kind

    async def full(connection, request, body):
        raise OSError(28, "No space left on device")

    keeper, connection = Keeper(KeeperSettings(tmp_path / "s", tmp_path / "k.sock")), Connection()
    keeper.on_put = full  # type: ignore[method-assign]
    run_id = str(uuid.uuid4())
    put = {"op": "put", "run": run_id, "path": f"/workspace/{NAME}"}
    await asyncio.create_task(keeper.handle(connection, put, FILE.encode()))
    keeper.pool.shutdown()
    assert connection.said == "failed"
    (line,) = [line for line in written() if line["logger"].startswith("workspaces")]
    assert line["run"] == run_id
    assert not [mark for mark in MARKS if mark in json.dumps(line)]


def test_a_task_is_of_its_run(alice, make_run, written, monkeypatch):
    from fdegym.delivery import tasks, waiting

    def no(run_id, **_):
        raise ServiceUnavailable("The keeper does not answer.")

    monkeypatch.setattr(waiting, "prepare_run", no)
    run = make_run(alice, state="preparing")
    tasks.prepare(str(run.pk))
    (line,) = [line for line in written() if line["logger"] == "fdegym.delivery.waiting"]
    assert line["run"] == str(run.pk)


def test_a_grading_is_of_its_submission_and_what_the_delivery_printed_is_not_logged(
    alice, submit, written, monkeypatch
):
    from grading import attempt
    from grading.replay import ReplayVoid

    def fail(submission, watched):
        raise ReplayVoid("The process that runs the scenario died.", retry=False, detail=f"it printed {FILE}")

    monkeypatch.setattr(attempt, "_grade", fail)
    submission = submit(alice, "queued")
    from grading.queue import take_this_submission

    taken = take_this_submission(submission, "host/1")
    attempt.attempt(taken)
    submission.refresh_from_db()
    assert FILE in submission.operator_detail
    (line,) = [line for line in written() if "is void" in line["event"]]
    assert (line["run"], line["submission"]) == (str(submission.run_id), str(submission.pk))
    assert line["user"] == str(alice.pk)
    assert FILE not in spoken(written)


PROGRAM = """
import logging, warnings
import django
django.setup()
from fdegym import celery
from celery.signals import setup_logging
from fdegym.lib import logs
logs.name_process("worker")
logs.log_what_would_be_printed()
celery.app.log.setup(loglevel="INFO")
logging.getLogger("celery.worker").warning("from Celery")
from uvicorn.config import LOGGING_CONFIG
logging.getLogger("uvicorn.error").warning("from uvicorn")
logging.getLogger("django.request").error("from Django")
warnings.warn("from Python")
raise RuntimeError("ended")
"""


def test_every_library_of_a_process_writes_the_same_shape_to_the_end(tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "fdegym.settings",
    }
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment | {"FDEGYM_LOG": "json", "FDEGYM_VAR": str(tmp_path / "v")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 1
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    said = [line["event"] for line in lines]
    assert [*said[:3], said[4]] == ["from Celery", "from uvicorn", "from Django", "ended by an error"]
    assert "UserWarning: from Python" in said[3]
    assert {line["process"] for line in lines} == {"worker"}
    assert all(list(line)[:5] == FIELDS for line in lines)


def test_errors_are_counted_by_where_and_what_they_were():
    from fdegym.lib import counts

    before = counts.totals()
    handler = logs.CountErrors()
    logger = logging.Logger("grading.queue.deep")
    logger.addHandler(handler)
    try:
        raise KeyError(WORDS)
    except KeyError:
        logger.exception("with %s", WORDS)
    logger.warning("no error")
    assert counts.since(counts.totals(), before) == {
        ("fdegym_errors_total", (("logger", "grading.queue"), ("kind", "KeyError"))): 1
    }

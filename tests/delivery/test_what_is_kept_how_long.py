"""What a run leaves behind goes when the site's rule says so, is told in the log, and fails nothing afterwards."""

from __future__ import annotations

import dataclasses
import os
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from fdegym.accounts.models import User
from fdegym.delivery import retention
from fdegym.delivery.audit import audit_run
from fdegym.delivery.retention import Keeping, apply_retention, kept_in_words
from fdegym.gateway.models import Answer
from fdegym.runs import log
from fdegym.runs.models import Run
from fdegym.runs.services import transition
from grading.models import Submission

MakeRun = Callable[..., Run]
DAY = 86_400


class Left:
    """What is left of runs on this host: their files, and what the keeper was told to forget."""

    def __init__(self, directory: Path) -> None:
        self.submissions, self.words = directory / "submissions", directory / "gateway"
        self.submissions.mkdir()
        self.words.mkdir()
        self.recorded: list[str] = []
        self.forgotten: list[str] = []

    def forget(self, run_ids: list[str]) -> None:
        self.forgotten += run_ids
        self.recorded = [run_id for run_id in self.recorded if run_id not in run_ids]

    def by(self, run: Run, *, days_ago: float, sha256: str = "a" * 64) -> Path:
        """An ended run with recording, submission and words; gives where the submission lies."""
        transition(run.id, "submitted")  # type: ignore[arg-type]
        transition(run.id, "graded")  # type: ignore[arg-type]
        ended = timezone.now() - timedelta(days=days_ago)
        Run.objects.filter(pk=run.pk).update(ended_at=ended)
        path = self.submissions / f"{run.id}-{uuid.uuid4().hex[:8]}.tar"
        Submission.objects.create(
            run=run,
            sealed_path=f"/before/it/moved/{path.name}",
            sha256=sha256,
            files=1,
            bytes=6,
            state="graded",
        )
        for file in (path, self.words / f"{run.id}.jsonl"):
            file.write_bytes(b"frozen")
            os.utime(file, (ended.timestamp(),) * 2)
        self.recorded.append(str(run.id))
        return path


@pytest.fixture
def left(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Left:
    made = Left(tmp_path)
    settings.SUBMISSION_DIR, settings.GATEWAY_BODIES = made.submissions, made.words
    monkeypatch.setattr(retention, "recorded_runs", lambda older_than_s: list(made.recorded))
    monkeypatch.setattr(retention, "forget_records", made.forget)
    return made


@pytest.fixture
def rule(settings: Any) -> Callable[..., None]:
    def keep(recordings: int = 0, submissions: int = 0, words: int = 0) -> None:
        days = {
            "keep_recordings_days": recordings,
            "keep_submissions_days": submissions,
            "keep_model_words_days": words,
        }
        settings.ENVIRONMENT = dataclasses.replace(settings.ENVIRONMENT, **days)

    return keep


def removed(run: Run) -> list[str]:
    return [event.payload["what"] for event in log.events(run.id, kinds=["run.removed"])]


def test_each_part_goes_after_its_own_time_and_once(
    alice: User, bob: User, make_run: MakeRun, left: Left, rule: Callable[..., None]
) -> None:
    old, young = make_run(alice), make_run(bob)
    old_file, young_file = left.by(old, days_ago=31), left.by(young, days_ago=29)
    rule(recordings=30, submissions=30, words=30)
    assert len(apply_retention()) == 3
    assert apply_retention() == [], "done twice"
    assert left.forgotten == [str(old.id)]
    assert (old_file.exists(), young_file.exists()) == (False, True)
    assert [path.stem for path in left.words.iterdir()] == [str(young.id)]
    assert sorted(removed(old)) == ["model words", "recordings", "submission"]
    assert removed(young) == []
    assert log.first_broken_link(old) is None


def test_nought_days_are_for_ever(alice: User, make_run: MakeRun, left: Left, rule: Callable[..., None]) -> None:
    run = make_run(alice)
    file = left.by(run, days_ago=10_000)
    rule()
    assert apply_retention() == []
    assert file.exists()
    assert left.recorded == [str(run.id)]
    assert list(left.words.iterdir())


def test_a_run_that_is_not_over_keeps_everything(
    alice: User, make_run: MakeRun, left: Left, rule: Callable[..., None]
) -> None:
    """However old its recordings are, and what the model was asked in it."""
    run = make_run(alice)
    left.recorded.append(str(run.id))
    words = left.words / f"{run.id}.jsonl"
    words.touch()
    os.utime(words, (time.time() - 400 * DAY,) * 2)
    rule(1, 1, 1)
    assert apply_retention() == []
    assert words.exists()


def test_a_worker_killed_between_word_and_deed_leaves_the_deed_to_the_next(
    alice: User, make_run: MakeRun, left: Left, rule: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(alice)
    file = left.by(run, days_ago=2)
    rule(submissions=1)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            apply_retention()
    assert file.exists()
    apply_retention()
    assert not file.exists()
    assert removed(run) == ["submission"]


def test_what_a_model_answered_goes_with_the_last_delivery_that_it_answered(
    alice: User, bob: User, make_run: MakeRun, left: Left, rule: Callable[..., None]
) -> None:
    first, second = make_run(alice), make_run(bob)
    left.by(first, days_ago=20)
    left.by(second, days_ago=5)  # the very same files
    Answer.objects.create(
        scenario_id="oil_npt", release="r", delivery="a" * 64, request_hash="h", status=200, body={}, prompt_tokens=1,
        completion_tokens=1, nano=0, reserved_nano=0,
    )  # fmt: skip
    rule(submissions=10)
    apply_retention()
    assert Answer.objects.count() == 1, "a regrade of the other run asks for it"
    rule(submissions=1)
    apply_retention()
    assert Answer.objects.count() == 0


def test_an_audit_says_what_was_removed_instead_of_finding_something_wrong(
    alice: User, make_run: MakeRun, left: Left, rule: Callable[..., None]
) -> None:
    run = make_run(alice)
    log.append(run.id, "run.begun", {"release": run.release})
    log.append(run.id, "run.frozen", {"sha256": "a" * 64, "files": 1, "bytes": 6, "cause": "person"})
    left.by(run, days_ago=2)
    rule(submissions=1)
    apply_retention()
    from fdegym.delivery.audit import NotChecked, _system
    from fdegym.delivery.evidence import read_evidence

    with pytest.raises(NotChecked, match="By the site's rule the sealed system was removed on"):
        _system(read_evidence(run.id))
    chain = audit_run(run.id).findings[0]
    assert (chain.check, str(chain.result)) == ("chain", "so")


def test_the_pages_of_a_run_say_what_was_removed(
    alice: User, make_run: MakeRun, left: Left, rule: Callable[..., None]
) -> None:
    run = make_run(alice)
    left.by(run, days_ago=400)
    rule(recordings=365)
    assert kept_in_words(run).startswith(
        "After the end of a run the site keeps the recordings of its terminals for 365 days"
    )
    apply_retention()
    assert kept_in_words(run).startswith(
        "As the rule of this site says, the recordings of its terminals were removed on "
    )


@pytest.mark.parametrize(
    ("rule_", "said"),
    [
        (Keeping(0, 0, None), "All that a run leaves behind is kept, the recordings of its terminals included."),
        (Keeping(1, 0, None), "the site keeps the recordings of its terminals for 1 day; all else stays"),
        (
            Keeping(30, 30, 30),
            "the recordings of its terminals and the files that were handed in and what language models",
        ),
        (
            Keeping(365, 90, None),
            "keeps the files that were handed in for 90 days, the recordings of its terminals for 365",
        ),
    ],
)
def test_the_rule_in_words(rule_: Keeping, said: str) -> None:
    assert said in rule_.sentence


def test_the_scheduler_asks_for_it(settings: Any) -> None:
    from fdegym.delivery.tasks import remove_what_is_old

    assert remove_what_is_old.name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}

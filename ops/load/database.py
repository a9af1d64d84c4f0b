"""A database as it is after years: thousands of people, tens of thousands of graded runs with their logs.

``manage.py shell -c "from ops.load.database import fill; fill(people=5000, runs=50_000)"``. What a grade and a log hold is
copied from a run that the product has really played and graded, so that rows are as long as real ones. The same seed gives
the same people, scores and times. For a database of its own: nothing here asks before it writes.
"""

from __future__ import annotations

import random
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Count

from fdegym.accounts.models import User
from fdegym.catalog.scenarios import scenarios
from fdegym.runs.models import Run, RunEvent, RunState
from grading.models import Grade, Submission, SubmissionState
from grading.score import RESOLVED_AT
from ops.load.accounts import sessions_of

FIRST_DAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DAYS = 300
BATCH = 2000
HIDDEN_ONE_OF = 40
EVENTS_A_RUN = 10  #: of all but the runs whose debrief is looked at, which have the whole log


def fill(people: int, runs: int, *, seed: int = 1, events: int = EVENTS_A_RUN, whole_logs: int = 50) -> None:
    """Add so many people with so many graded runs. Raises ``Run.DoesNotExist`` where no graded run of a command is there
    to copy from (``manage.py play`` makes one)."""
    model = Run.objects.filter(origin="command", state=RunState.GRADED).latest("begun_at")
    grade = Grade.objects.get(submission__run=model, number=1)
    log = list(RunEvent.objects.filter(run=model).order_by("seq"))
    chance = random.Random(seed)
    mark = f"filled-{seed}-"
    with transaction.atomic():
        User.objects.bulk_create(
            (
                User(username=f"{mark}{number}", password="!", on_leaderboard=chance.randrange(HIDDEN_ONE_OF) > 0)
                for number in range(people)
            ),
            batch_size=BATCH,
        )
    users = list(User.objects.filter(username__startswith=mark).order_by("id").values_list("id", flat=True))
    made = 0
    for batch in _in_batches(_runs_of(users, runs, model, chance)):
        with transaction.atomic():
            begun = [run.begun_at for run in batch]
            Run.objects.bulk_create(batch)
            for run, at in zip(batch, begun, strict=True):  # an insert writes the time of the insert
                run.begun_at = at
            Run.objects.bulk_update(batch, ["begun_at"])
            Submission.objects.bulk_create(_submission(run, grade.submission) for run in batch)
            kept = Submission.objects.filter(run__in=batch).select_related("run")
            Grade.objects.bulk_create([_grade(submission, grade, chance) for submission in kept], batch_size=200)
            RunEvent.objects.bulk_create(
                (
                    RunEvent(
                        run=run, seq=event.seq, kind=event.kind, payload=event.payload, at=event.at, hash=event.hash
                    )
                    for number, run in enumerate(batch, start=made)
                    for event in (log if number < whole_logs else log[:events])
                ),
                batch_size=BATCH,
            )
        made += len(batch)


def _in_batches(rows: Iterator[Run]) -> Iterator[list[Run]]:
    batch: list[Run] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH // 4:
            yield batch
            batch = []
    if batch:
        yield batch


def _runs_of(users: list[int], number: int, model: Run, chance: random.Random) -> Iterator[Run]:
    """A few people come again and again, most a few times; those of the model's scenario first, for they have debriefs."""
    offered = sorted(scenarios(), key=lambda card: card.id != model.scenario_id)
    begun: dict[tuple[int, str], int] = {}
    for made in range(number):
        # one run of each at least, then by an uneven chance
        user = users[made] if made < len(users) else users[int(len(users) * chance.random() ** 1.3)]
        card = offered[0] if made < BATCH else chance.choice(offered)
        attempt = begun[user, card.id] = begun.get((user, card.id), 0) + 1
        at = FIRST_DAY + timedelta(days=DAYS * made / number, seconds=chance.randrange(36_000))
        used = timedelta(minutes=chance.lognormvariate(4.6, 0.5))
        run = Run(
            id=uuid.UUID(int=chance.getrandbits(128), version=4),
            user_id=user,
            scenario_id=card.id,
            task_id=model.task_id,
            level=chance.choice(card.levels),
            release=model.release,
            training=card.training,
            state=RunState.GRADED,
            attempt=attempt,
            submitted_at=at + used,
            ended_at=at + used,
            begun_at=at,
        )
        yield run


def _submission(run: Run, model: Submission) -> Submission:
    return Submission(
        run=run,
        sealed_path=model.sealed_path,
        sha256=model.sha256,
        files=model.files,
        bytes=model.bytes,
        state=SubmissionState.GRADED,
        progress=model.progress,
        ended_at=run.ended_at,
    )


def _grade(submission: Submission, model: Grade, chance: random.Random) -> Grade:
    """The model's grade with figures of its own: many near the reference, many at nothing, some far below."""
    gained = Decimal(
        round(chance.choice((chance.gauss(0.9, 0.08), chance.gauss(0.1, 0.3), chance.gauss(-0.5, 0.8))), 6)
    )
    cost = Decimal(round(chance.uniform(0, 0.2), 6)).quantize(Decimal("0.000001"))
    gained = gained.quantize(Decimal("0.000001"))
    score = gained - cost
    copied = {
        field.name: getattr(model, field.name)
        for field in Grade._meta.concrete_fields
        if field.name not in ("id", "submission", "uplift", "uplift_adjusted", "contact_cost", "score", "resolved")
    }
    return Grade(
        submission=submission,
        uplift=gained,
        uplift_adjusted=gained,
        contact_cost=cost,
        score=score,
        resolved=score >= RESOLVED_AT,
        **copied,
    )


def busiest() -> tuple[str, str]:
    """Of the person with the most runs: a session in which they are signed in, and a run whose log is whole."""
    user = User.objects.annotate(number=Count("runs")).order_by("-number")[0]
    longest = RunEvent.objects.filter(run__user=user).order_by("-seq")[0]
    return sessions_of([user])[user.username], str(longest.run_id)


def add_grades() -> None:
    """For each line on standard input: one more person with a first run, graded; a line on standard output says so."""
    model = Run.objects.filter(origin="command", state=RunState.GRADED).latest("begun_at")
    grade = Grade.objects.get(submission__run=model, number=1)
    chance = random.Random(2)
    for number, _ in enumerate(sys.stdin):
        with transaction.atomic():
            user = User.objects.create(username=f"later-{number}", password="!")
            run = next(_runs_of([user.id], 1, model, chance))
            begun_at = run.begun_at
            run.save(force_insert=True)
            Run.objects.filter(pk=run.pk).update(begun_at=begun_at)
            submission = _submission(run, grade.submission)
            submission.save()
            _grade(submission, grade, chance).save()
        print(number, flush=True)

"""How long what a run leaves behind is kept after its end. Its log, its grades and what they say stay.

What goes is told in the run's log first (``run.removed``), then removed: a killed worker leaves at most something that
the next one removes, and nothing is ever missing without a word.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from fdegym.delivery.leftovers import FROZEN, RUN_ID
from fdegym.gateway.models import Answer
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from grading.carried import forget_carried
from grading.models import Submission
from workspaces.services import forget_records, recorded_runs

logger = logging.getLogger(__name__)
REMOVED = "run.removed"
RECORDINGS, SUBMISSION, MODEL_WORDS = "recordings", "submission", "model words"
OVER = [str(state) for state in (RunState.GRADED, RunState.VOID, RunState.FAILED)]
OF_A_RUN = re.compile(rf"{RUN_ID}\.jsonl")
#: Part of what a run leaves → what a person reads of it.
WORDS = {
    RECORDINGS: "the recordings of its terminals",
    SUBMISSION: "the files that were handed in",
    MODEL_WORDS: "what language models were asked and answered",
}


@dataclass(frozen=True, slots=True)
class Keeping:
    """Days after the end of a run, part by part; 0: for ever. ``model_words`` None: they are never kept here."""

    recordings: int
    submissions: int
    model_words: int | None

    @property
    def sentence(self) -> str:
        """What a person is told before a run is begun."""
        parts = {RECORDINGS: self.recordings, SUBMISSION: self.submissions, MODEL_WORDS: self.model_words}
        by_days: dict[int, list[str]] = {}
        for what, count in parts.items():
            if count:
                by_days.setdefault(count, []).append(WORDS[what])
        if not by_days:
            return "All that a run leaves behind is kept, the recordings of its terminals included."
        kept = [f"{' and '.join(named)} for {_days(count)}" for count, named in sorted(by_days.items())]
        return f"After the end of a run the site keeps {', '.join(kept)}; all else stays with your account."


def keeping() -> Keeping:
    """This site's rule."""
    site = settings.ENVIRONMENT
    words = site.keep_model_words_days if settings.GATEWAY.keeps_bodies else None
    return Keeping(site.keep_recordings_days, site.keep_submissions_days, words)


def removed_of(run: Run) -> dict[str, datetime]:
    """Which parts of what a run left were removed by the rule, and when."""
    return {event.payload["what"]: event.at for event in log.events(run.id, kinds=[REMOVED])}


def kept_in_words(run: Run) -> str:
    """A sentence for the pages of a run: what was removed, or what will be."""
    removed = removed_of(run)
    if not removed:
        return keeping().sentence
    parts = " and ".join(WORDS[what] for what in WORDS if what in removed)
    return f"As the rule of this site says, {parts} were removed on {max(removed.values()):%-d %B %Y}."


def apply_retention(now: datetime | None = None) -> list[str]:
    """Remove what this host has for longer than the rule says; return what it was. Idempotent."""
    now, rule = now or timezone.now(), keeping()
    removed = []
    if rule.recordings:
        removed += _remove_recordings(now - timedelta(days=rule.recordings), rule.recordings)
    if rule.submissions:
        removed += _remove_submissions(now - timedelta(days=rule.submissions), rule.submissions)
    if site_days := settings.ENVIRONMENT.keep_model_words_days:  # also of a time when they were kept
        removed += _remove_model_words(now - timedelta(days=site_days), site_days)
    if removed:
        logger.info("removed what is kept no longer: %s", ", ".join(removed))
    return removed


def _ended_before(run_ids: Iterable[str], before: datetime) -> list[Run]:
    return list(Run.objects.filter(pk__in=list(run_ids), state__in=OVER, ended_at__lt=before).order_by("ended_at"))


def _tell(run: Run, what: str, days: int) -> None:
    if what not in removed_of(run):
        log.append(run.id, REMOVED, {"what": what, "after_days": days})


def _remove_recordings(before: datetime, days: int) -> list[str]:
    age_s = (timezone.now() - before).total_seconds()
    recorded = [name for name in recorded_runs(older_than_s=age_s) if re.fullmatch(RUN_ID, name)]
    ended = _ended_before(recorded, before)
    for run in ended:
        _tell(run, RECORDINGS, days)
    if ended:
        forget_records([str(run.id) for run in ended])
    return [f"recordings of {run.id}" for run in ended]


def _remove_submissions(before: datetime, days: int) -> list[str]:
    there = {path.name: path for path in Path(settings.SUBMISSION_DIR).glob("*.tar")}
    run_ids = {named[1] for name in there if (named := FROZEN.fullmatch(name))}
    removed = []
    for run in _ended_before(run_ids, before):
        submission = Submission.objects.filter(run=run).first()
        # by name: the site may have moved since, and its database knows the old place
        path = there.get(submission.sealed.name) if submission else None
        if submission is None or path is None:
            continue
        _tell(run, SUBMISSION, days)
        path.unlink(missing_ok=True)
        forget_carried(submission)
        _forget_answers(submission)
        removed.append(f"submission of {run.id}")
    return removed


def _forget_answers(submission: Submission) -> None:
    """What models answered is kept for regrades of that delivery alone; another run may have handed in the very same."""
    others = Submission.objects.filter(sha256=submission.sha256).exclude(pk=submission.pk)
    if all(SUBMISSION in removed_of(other.run) for other in others.select_related("run")):
        Answer.objects.filter(delivery=submission.sha256).delete()


def _remove_model_words(before: datetime, days: int) -> list[str]:
    """Of a run from its end on, of a grade from its last word on."""
    old = [path for path in Path(settings.GATEWAY_BODIES).glob("*.jsonl") if path.stat().st_mtime < before.timestamp()]
    of_runs = {path.stem: path for path in old if OF_A_RUN.fullmatch(path.name)}
    ended = {str(run.id): run for run in _ended_before(of_runs, before)}
    known = {str(pk) for pk in Run.objects.filter(pk__in=list(of_runs)).values_list("pk", flat=True)}
    removed = []
    for path in sorted(old):
        run = ended.get(path.stem)
        if run is not None:
            _tell(run, MODEL_WORDS, days)
        elif path.stem in known:
            continue  # not over, or not for long enough
        path.unlink(missing_ok=True)
        removed.append(f"words of {path.stem}")
    return removed


def _days(count: int) -> str:
    return f"{count:,} day{'' if count == 1 else 's'}"

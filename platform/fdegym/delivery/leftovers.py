"""Files on this host that belong to no run any more: runs are deleted in the database, and processes are killed half way."""

from __future__ import annotations

import logging
import re
import time
from pathlib import Path

from django.conf import settings

from fdegym.runs.models import Run
from grading.models import Submission
from workspaces.services import forget_records, recorded_runs

logger = logging.getLogger(__name__)
#: Time to notice that a database was restored from before them; and a submission may just be under way.
GRACE_S = 86_400.0
RUN_ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
FROZEN = re.compile(rf"\.?({RUN_ID})-[0-9a-f]{{8}}\.tar(\.\d+\.\d+)?")


def remove_leftovers() -> list[str]:
    """Remove frozen systems that no submission owns, and records of terminals whose run is gone; return what it was."""
    removed = _remove_frozen()
    recorded = {run_id for run_id in recorded_runs(older_than_s=GRACE_S) if re.fullmatch(RUN_ID, run_id)}
    gone = sorted(recorded - {str(pk) for pk in Run.objects.filter(pk__in=recorded).values_list("pk", flat=True)})
    if gone:
        forget_records(gone)
    removed += [f"records of {run_id}" for run_id in gone]
    if removed:
        logger.info("removed what no run owns: %s", ", ".join(removed))
    return removed


def _remove_frozen() -> list[str]:
    newest, runs = time.time() - GRACE_S, {}
    for path in Path(settings.SUBMISSION_DIR).glob("*.tar*"):
        named = FROZEN.fullmatch(path.name)
        if named and path.stat().st_mtime < newest:
            runs[path] = named[1]
    # by name: the site may have moved since, and its database knows the old place
    sealed = Submission.objects.filter(run_id__in=set(runs.values())).values_list("sealed_path", flat=True)
    owned = {Path(path).name for path in sealed}
    unowned = sorted(path for path in runs if path.name not in owned)
    for path in unowned:
        path.unlink(missing_ok=True)
    return [path.name for path in unowned]

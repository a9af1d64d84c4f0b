"""A frozen system on its way to who grades it: a file on the host where it was frozen, parts in the database for others.

The parts are there from the moment in which the system is handed in until its grade is decided. From then on the file
alone is kept: whoever grades once more does so on that host.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from django.db import connection

from grading.measure import own_scratch
from grading.models import SealedPart, Submission

PART_BYTES = 1 << 20  #: what a worker holds in memory of it at once


def others_may_grade() -> bool:
    """Whether there can be graders on other hosts: a database that is a file has none."""
    return connection.vendor != "sqlite"


def carry(submission: Submission, frozen: Path) -> None:
    """Put the frozen system into the database; within the transaction that hands it in. Raises ``OSError``."""
    with frozen.open("rb") as stream:
        for number, content in enumerate(iter(partial(stream.read, PART_BYTES), b"")):
            SealedPart.objects.create(submission=submission, number=number, content=content)


def forget_carried(submission: Submission) -> None:
    """Nobody on another host needs the frozen system any more."""
    SealedPart.objects.filter(submission=submission).delete()


@contextmanager
def at_hand(submission: Submission) -> Iterator[Path]:
    """The frozen system as a file of this host, for as long as the block runs: where it was frozen, or fetched.

    Where it is neither, the path is that of the file which is missing. Whether it is what was handed in is for the
    caller to look (``grading.attempt.check_seal``).
    """
    if submission.sealed.is_file() or not submission.parts.exists():
        yield submission.sealed
        return
    scratch = own_scratch()
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sealed-", dir=scratch) as folder:
        path = Path(folder) / submission.sealed.name
        with path.open("wb") as file:
            for number in itertools.count():
                part = submission.parts.filter(number=number).first()
                if part is None:
                    break
                file.write(part.content)
        yield path

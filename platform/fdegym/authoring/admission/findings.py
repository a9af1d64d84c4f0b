"""What a check is and what it finds: the protocol by which checks plug into admission.

A check is a function of a scenario and some of its tasks. Admission calls it in one of its worker processes, where the
product's services answer (desk, keeper, database, world cache, all of them apart from the site's), keeps what it found
by the content that decides it, and prints it. A check must not depend on what else runs at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fdegym.lib.errors import FdegymError
from scenarios.kit.load import Scenario

#: Figures by name: numbers, texts, or lists of either, as JSON has them.
Measures = Mapping[str, Any]


class HostTooBusy(FdegymError):
    """Nothing can be found on a host that cannot give a delivery its time; raised by a check, which is tried again later."""

    http_status = 503


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found on one task, or with ``task`` empty on the scenario as a whole.

    ``words`` of a failed one say what does not hold and what to do about it; of a passed one they may be empty.
    """

    check: str
    task: str
    passed: bool
    figures: Measures = field(default_factory=dict)
    words: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "task": self.task,
            "passed": self.passed,
            "figures": dict(self.figures),
            "words": self.words,
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Finding:
        return cls(row["check"], row["task"], row["passed"], row["figures"], row["words"])


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``run(scenario, tasks)`` gives its findings, at least one for each task it was given.

    ``each_task``: every task is a piece of work of its own, done in parallel (``tasks`` has one entry), and begins when
    the two ends of U of its task are measured (``grading.anchoring.task_anchors`` is then a look-up); else the check gets
    all tasks of the scenario at once. ``tasks``: the only ones it is done on; empty: all. ``seconds``: how long one piece
    takes on one quiet core, roughly: the longest begin first.

    What is found is kept until what decides it changes: the scenario's files without solutions and phrasings, the code of
    engines and checks, and besides: ``solutions``, by name (``"*"``: all of them and everything else in the folder);
    ``spoken``: phrasings, matcher and engine of the people; ``decided_by``: anything further, as text.
    """

    name: str
    about: str  #: one line: what must hold
    run: Callable[[Scenario, Sequence[str]], Iterable[Finding]]
    each_task: bool = True
    tasks: tuple[str, ...] = ()
    solutions: tuple[str, ...] = ()
    spoken: bool = False
    seconds: float = 10.0
    decided_by: Callable[[Scenario], str] | None = None

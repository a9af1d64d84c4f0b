"""What can be wrong with a scenario, said with the file and the place inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fdegym.lib.errors import FdegymError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: ``file`` relative to the scenario's folder, ``place`` inside it (a TOML path or a line)."""

    file: str
    place: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.expected}" if self.place else f"{self.file}: {self.expected}"


class ScenarioInvalid(FdegymError):
    """A scenario that cannot be loaded. Nothing of it is loaded half."""

    def __init__(self, scenario: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(f"Scenario {scenario} cannot be loaded; put right:\n{lines}")


class ScenarioUnknown(FdegymError):
    """No scenario of that name."""

    http_status = 404


class TaskUnknown(FdegymError):
    """The scenario has no such task."""

    http_status = 404

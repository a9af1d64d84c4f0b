"""What boards and figures are made of, kept in memory and up to date: a first page reads all grades, later ones the new.

Grades are only ever added, so nothing that was read is read again, unless the past is not as it was (a grade that was
committed after a later one, a run that was removed). Who asks holds the lock, so that nothing moves meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Q

from fdegym.accounts.models import User
from fdegym.leaderboard.ranking import OverallStandings, Result, Standings, is_better
from fdegym.leaderboard.results import counted_results
from grading.models import Grade

Made = TypeVar("Made")


class Kept:
    """Results by person and scenario: of the first begun run, and of the best. Standings leave hidden people out."""

    def __init__(self) -> None:
        self.first: dict[tuple[int, str], Result] = {}
        self.best: dict[tuple[int, str], Result] = {}
        self._hidden: frozenset[int] = frozenset()
        self._last: tuple[int, datetime | None] = (0, None)  #: the latest grade that was read
        self._number = 0  #: of grades in the database then
        self._standings: dict[tuple[str, str], Standings] = {}  #: by view and scenario
        self._overall: dict[tuple[str, frozenset[str]], OverallStandings] = {}  #: by view and what is on offer
        self._figures: dict[tuple[Any, ...], Any] = {}  #: computed from all this; until it changes
        self._lock = threading.Lock()

    @contextmanager
    def current(self) -> Iterator[Kept]:
        """Up to date with the database: three small queries, and three more when grades were added."""
        with self._lock:
            self._hide(frozenset(User.objects.filter(_HIDDEN).order_by().values_list("id", flat=True)))
            latest = Grade.objects.order_by("-id").values_list("id", "created_at").first() or (0, None)
            number = Grade.objects.count()
            if (latest, number) != (self._last, self._number):
                if not self._past_is_as_it_was():
                    self._forget()
                for result in counted_results(self._last[0]):
                    self._add(result)
                self._last, self._number = latest, number
                self._figures.clear()
            yield self

    def _past_is_as_it_was(self) -> bool:
        last, at = self._last
        past = Grade.objects.filter(id__lte=last)
        return past.count() == self._number and (
            not last or past.filter(id=last).values_list("created_at", flat=True).first() == at
        )

    def _forget(self) -> None:
        self.first, self.best, self._last, self._number = {}, {}, (0, None), 0
        self._standings, self._overall = {}, {}

    def _hide(self, hidden: frozenset[int]) -> None:
        if hidden != self._hidden:
            self._hidden = hidden
            self._standings, self._overall = {}, {}
            self._figures.clear()

    def _add(self, result: Result) -> None:
        key = result.person, result.scenario_id
        views = []
        if result.attempt == 1:
            self.first[key] = result
            views += ["ranked", "150"] if result.is_within_limit else ["ranked"]
        if key not in self.best or is_better(result, self.best[key]):
            self.best[key] = result
            views.append("best")
        if result.person not in self._hidden:
            for view in views:
                if (standings := self._standings.get((view, result.scenario_id))) is not None:
                    standings.put(result)
                for (of_view, offered), overall in self._overall.items():
                    if of_view == view and result.scenario_id in offered:
                        overall.put(result)

    # ---- what is asked for

    def results(self, view: str) -> Iterator[Result]:
        """One result per person and scenario, of everybody who is shown."""
        found = self.best if view == "best" else self.first
        return (
            result
            for result in found.values()
            if result.person not in self._hidden and (view != "150" or result.is_within_limit)
        )

    def standings(self, view: str, scenario_id: str) -> Standings:
        key = view, scenario_id
        if key not in self._standings:
            self._standings[key] = Standings(one for one in self.results(view) if one.scenario_id == scenario_id)
        return self._standings[key]

    def overall(self, view: str, offered: frozenset[str]) -> OverallStandings:
        """Only scenarios on offer count: one that is withdrawn leaves every board at once."""
        key = view, offered
        if key not in self._overall:
            self._overall = {other: made for other, made in self._overall.items() if other[1] == offered}
            counted = (one for one in self.results(view) if one.scenario_id in offered)
            self._overall[key] = OverallStandings(len(offered), counted)
        return self._overall[key]

    def figure(self, key: tuple[Any, ...], compute: Callable[[], Made]) -> Made:
        """What ``compute`` gives, remembered under ``key`` until a grade is added or somebody is hidden or shown."""
        if key not in self._figures:
            self._figures[key] = compute()
        found: Made = self._figures[key]
        return found


_HIDDEN = Q(on_leaderboard=False) | Q(is_active=False)
KEPT = Kept()  #: of this process

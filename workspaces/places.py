"""Where a workspace stands that is to start, and the words in which people are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

PERSON = "person"  #: the label of a workspace that says whose it is
KEPT = "Nothing of yours is lost."


class Why(StrEnum):
    """Why it does not run yet: it is being started, it is not its turn, there is no room on the host, the person has as many
    open as one person may, the host can start none."""

    STARTING = "starting"
    TURN = "turn"
    ROOM = "room"
    OWN = "own"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the queue of starts. ``before`` counts those who come first; ``own`` are the person's open runs, by id,
    where they are what it waits for."""

    why: Why
    before: int = 0
    own: tuple[str, ...] = ()

    @property
    def waits_for_host(self) -> bool:
        """No turn will come while the host stays as it is."""
        return self.why in (Why.ROOM, Why.HOST)

    @property
    def problem_words(self) -> str:
        """What is in the way, as a sentence; "" where it is the turn of others and no more."""
        return {
            Why.ROOM: "There is no room for another workspace on this site now.",
            Why.HOST: "This site cannot start workspaces at the moment.",
            Why.OWN: "You have as many workspaces open as one person may have at once.",
        }.get(self.why, "")

    @property
    def words(self) -> str:
        """For the person who waits: what is in the way, where she stands, what she can do."""
        if self.why is Why.STARTING:
            return "Your workspace is being started."
        if self.why is Why.OWN:
            helps = "Hand in a run, or stop one under My workspaces, and this one opens by itself."
            return f"{self.problem_words} {helps} {KEPT}"
        turn = {0: "You are next", 1: "1 other is before you"}.get(self.before, f"{self.before} others are before you")
        if self.why is Why.ROOM:
            return f"{self.problem_words} {turn}: yours opens by itself when others are closed or unused. {KEPT}"
        if self.why is Why.HOST:
            return f"{self.problem_words} {turn}: it is tried again every few seconds, by itself. {KEPT}"
        return f"{turn}: your workspace then opens by itself."


def place_of(said: Mapping[str, Any]) -> Place | None:
    """The keeper's answer; None: it runs."""
    if said["state"] == "running":
        return None
    if said["state"] == "starting":
        return Place(Why.STARTING)
    return Place(Why(said["why"]), int(said["before"]), tuple(said["own"]))

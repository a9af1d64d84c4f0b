"""One run's requests, decided by the engine and written to the run's log: the only writer of its conversations.

Every method reads what the log holds by now, decides, and appends under the number it expects; if another writer was
first (a second desk, a submission), it reads again and decides anew. So a request is answered once, whoever repeats it.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from fdegym.lib.errors import RunStateConflict, ServiceUnavailable
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from stakeholders import engine
from stakeholders.messages import MessageIdTaken, MessageRefused, clean
from stakeholders.script import Script
from stakeholders.scripts import get_run, script_of
from stakeholders.state import DEADLINE, INBOX, INBOX_READ, MESSAGE, TRIAL_REQUESTED, WAIT, State
from stakeholders.trials import NO_TRIAL, ask_for_trial
from stakeholders.visible import (
    shown_clock,
    shown_directory,
    shown_items,
    shown_letter,
    shown_reply,
    shown_trial,
    shown_wait,
)

TRIES = 20
MOST_REQUESTS = 2_000  #: messages and waits of one run; nobody needs them, a loop would fill the log

Result = TypeVar("Result")
#: (script, message, person id) → match
FindMatch = Callable[[Script, str, str], engine.Match]


class Exchange:
    """The conversations of one run. Blocking; one thread at a time enters (others wait)."""

    def __init__(
        self,
        run_id: uuid.UUID | str,
        find_match: FindMatch,
        announce_trial: Callable[[], None] = lambda: None,
    ) -> None:
        self.run_id = run_id
        self._find_match = find_match
        self._announce_trial = announce_trial
        self._lock = threading.Lock()
        self._script: Script | None = None
        self._state: State | None = None

    def say(self, client_id: str, person: str, text: str) -> dict[str, Any]:
        """Send a message. The same id with the same message gives the reply that was given, with another: refused."""
        message = engine.Message(_checked_id(client_id), person, clean(text))
        matched: list[engine.Match] = []

        def decide(script: Script, state: State) -> tuple[str, dict[str, Any]]:
            engine.get_person(script, person)
            needed = engine.needs_match(script, state, person)
            if needed and not matched:
                matched.append(self._find_match(script, message.text, person))
            return MESSAGE, engine.reply(script, state, message, matched[0] if needed else None)

        def is_same(payload: dict[str, Any]) -> bool:
            return payload.get("person") == person and payload.get("text") == message.text

        with self._lock:
            payload = self._once(message.client_id, decide, is_same)
            return {"reply": shown_reply(self._known_script(), payload)} | self._surroundings(message.client_id)

    def wait(self, client_id: str, target: str) -> dict[str, Any]:
        """Let the customer's time pass."""
        checked = _checked_id(client_id)

        def decide(script: Script, state: State) -> tuple[str, dict[str, Any]]:
            return WAIT, engine.wait(script, state, checked, target[:100])

        def is_same(payload: dict[str, Any]) -> bool:
            return payload.get("target") == target[:100]

        with self._lock:
            payload = self._once(checked, decide, is_same)
            return {"wait": shown_wait(payload)} | self._surroundings(checked)

    def inbox(self) -> dict[str, Any]:
        """Every message that came unasked, oldest first; those not read before are marked ``new`` and read now."""

        new: dict[str, None] = {}

        def attempt() -> list[dict[str, Any]]:
            script, state = self._up_to_date()
            unread = state.unread() if get_run(self.run_id).state == RunState.OPEN else []
            new.update(dict.fromkeys(unread))
            letters = [
                shown_letter(script, letter, number, read=name in new or name in state.letters_read)
                | {"new": name in new}
                for number, (name, letter) in enumerate(state.letters.items(), start=1)
            ]
            for name in unread:
                self._append(state, INBOX_READ, engine.read_letter(state, name))
            if unread:
                self._settle(script, state)  # a fact in a letter may bring another letter, which stays unread
            return letters

        with self._lock:
            return {"letters": self._retry(attempt)} | self._surroundings()

    def who(self) -> dict[str, Any]:
        """The directory."""
        with self._lock:
            script, _ = self._retry(self._up_to_date)
            return {"people": shown_directory(script)} | self._surroundings()

    def history(self) -> dict[str, Any]:
        """Everything said so far."""
        with self._lock:
            _, script = self._run_and_script()
            self._caught_up(script)
            return {"conversation": shown_items(script, log.events(self.run_id))} | self._surroundings()

    def trial(self, client_id: str) -> dict[str, Any]:
        """Have the workspace's system tried, where the customer has an environment for it; asked again, how it stands.

        Gives ``{"words": …}`` where there is none. Raises ``TrialRefused``.
        """
        checked = _checked_id(client_id)

        decided: list[bool] = []

        def decide(script: Script, state: State) -> tuple[str, dict[str, Any]]:
            payload = ask_for_trial(script, state, checked)
            decided.append(True)
            return TRIAL_REQUESTED, payload

        def is_same(payload: dict[str, Any]) -> bool:
            return "person" not in payload and "target" not in payload

        with self._lock:
            if self._run_and_script()[1].trial is None:
                return {"words": NO_TRIAL}
            payload = self._once(checked, decide, is_same)
            report = self._state.reports.get(checked) if self._state is not None else None
            answer = {"trial": shown_trial(payload, report)} | self._surroundings(checked)
        if decided and report is None:
            self._announce_trial()
        return answer

    # ---- the log

    def _once(
        self,
        client_id: str,
        decide: Callable[[Script, State], tuple[str, dict[str, Any]]],
        is_same: Callable[[dict[str, Any]], bool],
    ) -> dict[str, Any]:
        """The payload logged under this client id: an earlier one, or the one decided now."""

        def attempt() -> dict[str, Any]:
            run, script = self._run_and_script()
            state = self._caught_up(script)
            known = state.requests.get(client_id)
            if known is not None:
                if not is_same(dict(known)):
                    raise MessageIdTaken("That message id was used for another message. Nothing was sent.")
                if run.state == RunState.OPEN:
                    self._settle(script, state)
                return dict(known)
            _check_open(run, script, state)
            self._settle(script, state)
            kind, payload = decide(script, state)
            self._append(state, kind, payload)
            self._settle(script, state)
            return payload

        return self._retry(attempt)

    def _settle(self, script: Script, state: State) -> None:
        """Log what follows from the passing of time: letters that arrived, a deadline that passed."""
        for letter in engine.due_letters(script, state):
            self._append(state, INBOX, letter)
        if engine.passes_deadline(script, state):
            self._append(state, DEADLINE, {"at": state.now.isoformat(timespec="minutes") if state.now else None})

    def _up_to_date(self) -> tuple[Script, State]:
        """Script and state with everything logged that has happened by now."""
        run, script = self._run_and_script()
        state = self._caught_up(script)
        if run.state == RunState.OPEN:
            self._settle(script, state)
        return script, state

    def _append(self, state: State, kind: str, payload: dict[str, Any]) -> None:
        state.apply(log.append(self.run_id, kind, payload, expected_seq=state.seq + 1))

    def _retry(self, attempt: Callable[[], Result]) -> Result:
        for number in range(TRIES):
            try:
                return attempt()
            except log.LogMoved:
                if number >= TRIES // 2:
                    self._state = None  # what we hold may not be what the log holds: read it all again
        raise ServiceUnavailable("Too much is happening in this run at once. Nothing was sent; try again.")

    def _run_and_script(self) -> tuple[Run, Script]:
        run = get_run(self.run_id)
        if self._script is None:
            self._script = script_of(run)
        return run, self._script

    def _known_script(self) -> Script:
        return self._script if self._script is not None else self._run_and_script()[1]

    def _caught_up(self, script: Script) -> State:
        if self._state is None:
            self._state = State.at_start(script)
        for event in log.events(self.run_id, after=self._state.seq):
            self._state.apply(event)
        return self._state

    def _surroundings(self, client_id: str | None = None) -> dict[str, Any]:
        """What goes with every reply: unread letters, those that this request brought, the customer's clock."""
        script = self._known_script()
        state = self._state if self._state is not None else self._caught_up(script)
        arrived = state.arrived_after.get(client_id, 0) if client_id else 0
        return {"unread": len(state.unread()), "arrived": arrived, "clock": shown_clock(script, state)}


def _check_open(run: Run, script: Script, state: State) -> None:
    if run.state == RunState.PREPARING:
        raise RunStateConflict("The workspace is still being prepared. Nothing was sent; try again in a moment.")
    if run.state != RunState.OPEN:
        raise RunStateConflict("This run is over: the work was handed in. Nothing was sent.")
    if state.deadline_passed or engine.passes_deadline(script, state):
        raise RunStateConflict("The customer's deadline has passed. Nothing was sent.")
    if len(state.requests) >= MOST_REQUESTS:
        raise MessageRefused(f"This run has sent {MOST_REQUESTS:,} messages, which is the most there can be. Not sent.")


def _checked_id(client_id: str) -> str:
    if not 1 <= len(client_id) <= 100 or not client_id.isprintable():
        raise MessageRefused("A message needs an id of 1 to 100 printable characters. Nothing was sent.")
    return client_id

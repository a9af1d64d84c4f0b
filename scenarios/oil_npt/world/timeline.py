"""The log of a rig without days: every operation in order, with depths, words and the stops in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.random import Generator

from scenarios.oil_npt.world import programme, wording
from scenarios.oil_npt.world.fleet import PADS, names_of
from scenarios.oil_npt.world.process import Draft
from scenarios.oil_npt.world.programme import Section, Step
from scenarios.oil_npt.world.quarters import QUARTERS_A_DAY, quarters
from scenarios.oil_npt.world.spans import Span, split

MEETING_TIMES = (quarters(6), quarters(18))
CONDUCTOR_M = 60
BIT_LIFE = quarters(80)
REPAIR_STEPS = (2, 2, 2, 2, 3)  #: a repair is written down in steps of half an hour to an hour
SHORTEST_LINE, LONGEST_LINE = quarters(6), quarters(12)
METRES_A_QUARTER = 90  #: of tripping
STAND_M = 28


@dataclass(slots=True)
class RigState:
    """Where a rig stands between two periods."""

    rig: str
    pad: int = 0
    slot: int = 1
    sections: list[Section] = field(default_factory=list)
    section: int = 0
    hole_m: int = CONDUCTOR_M
    bit_m: int = CONDUCTOR_M
    bit_used: int = 0

    @property
    def well(self) -> str:
        return f"{PADS[self.rig][self.pad % len(PADS[self.rig])]} {self.pad + 1}, Slot {self.slot}"

    def copy(self) -> RigState:
        return RigState(
            self.rig, self.pad, self.slot, list(self.sections), self.section, self.hole_m, self.bit_m, self.bit_used
        )


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a crew calls the item, what is wrong with it and what they work on."""

    name: str
    fault: str
    part: str


class Timeline:
    """Fills ``begin`` to ``end`` of one rig with operations and its stops. ``move_after``: when a pad is finished."""

    def __init__(
        self, rng: Generator, state: RigState, stops: Sequence[Draft], window: tuple[int, int], move_after: int | None
    ) -> None:
        self._rng = rng
        self.state = state
        self._stops = stops
        self._begin, self._end = window
        self._move_after = move_after
        self._campaign: list[Step] = []
        self._ends_well = False
        self._step_left = 0
        self._bit_plan = (0, 0)  #: bit depth at the start and at the end of the running step
        self.spans: list[Span] = []
        self.moves = 0
        if not state.sections:
            state.sections = programme.sections(rng)
            state.hole_m = state.bit_m = int(rng.integers(300, 2_000))
            state.section = next(index for index, part in enumerate(state.sections) if state.hole_m < part.ends_m)

    def run(self) -> list[Span]:
        now = self._begin
        for index, stop in enumerate(self._stops):
            self._operate(now, stop.start, index)
            self._halt(index, stop)
            now = stop.end
        self._operate(now, self._end, len(self._stops))
        return self.spans

    # ---- operations ----

    def _operate(self, now: int, until: int, upcoming: int) -> None:
        """Work from ``now`` to ``until``, where the stop ``upcoming`` (or the period's end) interrupts."""
        first = len(self.spans)
        while now < until:
            if not self._campaign:
                self._plan(now, upcoming)
            now = self._step(now, until) if self._campaign else self._drill(now, until)
        if self._campaign and self._step_left == 0:
            self._step_left = 2  # the interrupted step still has something to do
        elif not self._campaign and self.spans and self.spans[-1].op != 2:
            self.spans[-1] = self._as_drilling(self.spans[-1])
        self.spans[first:] = self._with_meetings(self.spans[first:])

    def _plan(self, now: int, upcoming: int) -> None:
        state = self.state
        section = state.sections[state.section]
        if state.hole_m >= section.ends_m - 60:
            last = state.section == len(state.sections) - 1
            steps = programme.casing(self._rng, last)
            if last:
                moves = self._move_after is not None and now >= self._move_after
                steps += programme.rig_move(self._rng) if moves else programme.skid(self._rng)
            if self._fits(steps, now, upcoming):
                self._start_campaign(steps, last)
        elif state.bit_used >= BIT_LIFE:
            steps = programme.bit_trip(self._rng)
            if self._fits(steps, now, upcoming):
                self._start_campaign(steps, False)

    def _fits(self, steps: Sequence[Step], now: int, upcoming: int) -> bool:
        """Whether no stop that needs the string on bottom falls into the campaign, nor the period's end."""
        if now == self._begin or (self.spans and self.spans[-1].stop is not None):
            return False  # after a stop the interrupted operation goes on first
        at, index = now, upcoming
        for step in steps:
            left = step.length
            while True:
                following = self._stops[index].start if index < len(self._stops) else self._end
                if at + left + quarters(1) < following:
                    at += left
                    break
                if index >= len(self._stops) or not programme.may_interrupt(step, self._stops[index]):
                    return False
                left = max(2, left - (following - at))
                at = self._stops[index].end
                index += 1
        return True

    def _start_campaign(self, steps: list[Step], ends_well: bool) -> None:
        self._campaign = steps
        self._ends_well = ends_well
        self._step_left = steps[0].length
        self._aim()

    def _aim(self) -> None:
        state, step = self.state, self._campaign[0]
        if step.moving and step.sub in ("SKD", "MOV") and self._ends_well:
            self._next_well(step.sub == "MOV")
        target = {"surface": 0, "bottom": state.hole_m, "same": state.bit_m, "casing": state.hole_m - 2}[step.bit]
        self._bit_plan = (state.bit_m, target)

    def _next_well(self, moves: bool) -> None:
        state = self.state
        self._ends_well = False
        if moves:
            state.pad, state.slot = state.pad + 1, 1
            self._move_after = None
            self.moves += 1
        else:
            state.slot += 1
        state.sections, state.section = programme.sections(self._rng), -1
        state.hole_m, state.bit_m = CONDUCTOR_M, 0

    def _step(self, now: int, until: int) -> int:
        """Go on with the campaign's running step, for one line."""
        step, state = self._campaign[0], self.state
        if self._step_left == 0:
            self._campaign.pop(0)
            if not self._campaign:
                self._finish_campaign()
                return now
            self._step_left = self._campaign[0].length
            self._aim()
            return now
        length = min(self._step_left, until - now, self._line_length())
        self._step_left -= length
        begin, target = self._bit_plan
        whole = step.length
        done = whole - min(self._step_left, whole)
        bit = target if self._step_left == 0 else begin + (target - begin) * done // whole
        self._add(now, now + length, step.op, step.sub, state.hole_m, bit, wording.pick(self._rng, step.remarks))
        return now + length

    def _finish_campaign(self) -> None:
        state = self.state
        if state.section < 0 or state.hole_m >= state.sections[state.section].ends_m - 60:
            state.section += 1
        state.bit_m = state.hole_m
        state.bit_used = 0

    def _drill(self, now: int, until: int) -> int:
        """One line of drilling, or the survey or circulation between two of them."""
        state, rng = self.state, self._rng
        last = self.spans[-1] if self.spans else None
        if (
            last is not None
            and last.op == 2
            and last.stop is None
            and until - now > quarters(2)
            and rng.random() < 0.11
        ):
            op, sub, options = (10, "SVY", programme.SURVEYS)
            if rng.random() < 0.3:
                op, sub, options = (5, "CIR", programme.CIRCULATING)
            length = int(rng.integers(1, 4))
            self._add(now, now + length, op, sub, state.hole_m, state.bit_m, wording.pick(rng, options))
            return now + length
        length = min(until - now, self._line_length())
        if 0 < until - now - length < 2:
            length = until - now
        section = state.sections[state.section]
        made = max(1, round(section.rate_m_h * length / 4 * (0.75 + rng.random() / 2)))
        state.bit_used += length
        words = wording.pick(rng, programme.DRILLING).format(
            phase=section.phase, wob=int(rng.integers(6, 22)), rpm=int(rng.integers(8, 18)) * 10
        )
        self._add(now, now + length, 2, "DRL", state.hole_m + made, state.hole_m + made, words)
        return now + length

    def _line_length(self) -> int:
        return int(self._rng.integers(SHORTEST_LINE, LONGEST_LINE + 1))

    def _as_drilling(self, span: Span) -> Span:
        """A survey that a stop would follow becomes drilling, so that it is clear what was interrupted."""
        span.op, span.sub, span.remark = 2, "DRL", "Drill ahead"
        return span

    def _add(self, start: int, end: int, op: int, sub: str, hole: int, bit: int, remark: str) -> None:
        state = self.state
        phase = state.sections[max(0, state.section)].phase
        if self.spans and self.spans[-1].well != state.well:
            state.bit_m = 0
        self.spans.append(
            Span(start, end, op, sub, phase, state.well, state.hole_m, hole, state.bit_m, bit, remark)
        )  # fmt: skip
        state.hole_m, state.bit_m = hole, bit

    # ---- meetings ----

    def _with_meetings(self, spans: list[Span]) -> list[Span]:
        """Pre-tour meetings at six and eighteen, away from stops by at least half an hour of work on either side."""
        if not spans:
            return spans
        begin, end = spans[0].start + 2, spans[-1].end - 3
        result: list[Span] = []
        for span in spans:
            rest = span
            for at in range(span.start, span.end):
                if at % QUARTERS_A_DAY not in MEETING_TIMES or not begin <= at <= end or rest.end <= at:
                    continue
                rest = self._insert_meeting(result, rest, at)
            if rest.end > rest.start:
                result.append(rest)
        return result

    def _insert_meeting(self, result: list[Span], span: Span, at: int) -> Span:
        """Split ``span`` by a quarter's meeting at ``at``; returns what is left of it."""
        before, after = split(span, at) if at > span.start else (None, span)
        if before is not None:
            result.append(before)
        hole, bit = after.hole_from, after.bit_from
        words = wording.pick(self._rng, programme.MEETING)
        after.start = at + 1
        if after.end <= after.start:
            hole, bit = after.hole_to, after.bit_to
        meeting = Span(at, at + 1, 22, "PTM", span.phase, span.well, hole, hole, bit, bit, words)
        result.append(meeting)
        return after

    # ---- stops ----

    def _halt(self, index: int, stop: Draft) -> None:
        """The lines of a stop."""
        state, now = self.state, stop.start
        depth = state.bit_m
        pulled = depth
        trouble = self._trouble(stop) if stop.kind in ("C", "O") else None
        for part, length in stop.parts:
            first = len(self.spans)
            if part == "trip_out" and trouble:
                pulled = max(5, depth - max(6, min(length * METRES_A_QUARTER, depth // 2)))
                self._trip_out(now, length, trouble, pulled)
            elif part == "own_use":
                self._own_use(now, length, pulled)
            elif part == "return":
                self._return(now, length, depth)
            elif trouble:
                self._repair(now, length, trouble)
            else:
                self._other(now, length, stop)
            for span in self.spans[first:]:
                span.stop, span.part = index, part
            now += length

    def _trouble(self, stop: Draft) -> Trouble:
        faults, worked_on = wording.ITEM_WORDS[stop.tag]
        name = wording.pick(self._rng, names_of(stop.rig, stop.tag))
        return Trouble(name, wording.pick(self._rng, faults), wording.pick(self._rng, worked_on))

    def _trip_out(self, now: int, length: int, trouble: Trouble, pulled: int) -> None:
        stands = max(1, (self.state.bit_m - pulled) // STAND_M)
        words = wording.pick(self._rng, wording.TRIP_OUT).format(name=trouble.name, fault=trouble.fault, stands=stands)
        self._add(now, now + length, 6, "TRP", self.state.hole_m, pulled, words)

    def _repair(self, now: int, length: int, trouble: Trouble) -> None:
        """The steps of a repair: looking, working, finishing with a test."""
        rng, state = self._rng, self.state
        working = [wording.WORKING[index] for index in rng.permutation(len(wording.WORKING))]
        lengths = cut(rng, length)
        for number, quarter_hours in enumerate(lengths):
            if number == len(lengths) - 1:
                pattern = wording.pick(rng, wording.FINISHING)
            else:
                pattern = working[number % len(working)] if number else wording.pick(rng, wording.LOOKING)
            words = pattern.format(
                name=trouble.name, part=trouble.part, fault=trouble.fault, test=wording.pick(rng, wording.TESTS)
            )
            self._add(now, now + quarter_hours, 8, "RPR", state.hole_m, state.bit_m, words)
            now += quarter_hours

    def _own_use(self, now: int, length: int, pulled: int) -> None:
        rng = self._rng
        op, words = wording.OWN_WORK[int(rng.integers(len(wording.OWN_WORK)))]
        booked = rng.random() < 0.70
        words = words.format(number=int(rng.integers(2, 9)))
        if not booked or rng.random() < 0.11:
            words += wording.pick(rng, wording.ON_REQUEST)
        sub = "OPR" if booked else {5: "CIR", 6: "TRP", 10: "SVY", 11: "LOG"}[op]
        self._add(now, now + length, op, sub, self.state.hole_m, pulled, words)

    def _return(self, now: int, length: int, depth: int) -> None:
        rng, hole = self._rng, self.state.hole_m
        washes = length > quarters(3) or (length >= 3 and rng.random() < 0.55)
        washing = int(rng.integers(1, 1 + length // 2)) if washes else 0
        arrives = depth - (int(rng.random() < 0.15) if not washing else 0)
        if washing:
            off_bottom = min(int(rng.integers(12, 29)), max(2, (depth - self.state.bit_m) // 2))
            self._add(
                now, now + length - washing, 6, "TRP", hole, depth - off_bottom, wording.pick(rng, wording.RUN_IN)
            )
            now, length = now + length - washing, washing
        op, sub, words = (3, "RMG", wording.WASH_DOWN) if washing else (6, "TRP", wording.RUN_IN)
        self._add(now, now + length, op, sub, hole, arrives, wording.pick(rng, words))

    def _other(self, now: int, length: int, stop: Draft) -> None:
        rng, state = self._rng, self.state
        if stop.kind == "W":
            sort = wording.pick(rng, tuple(wording.WAITING))
            op, sub, words = 21, sort, wording.pick(rng, wording.WAITING[sort])
        else:
            pump = wording.pick(rng, names_of(stop.rig, wording.pick(rng, ("MP-1", "MP-2"))))
            drive = wording.pick(rng, names_of(stop.rig, "TDS-1"))
            options = wording.HOLE if stop.kind == "H" else wording.SERVICE
            words = wording.pick(rng, options).format(pump=pump, drive=drive, volume=int(rng.integers(4, 26)))
            op, sub = (5, "HOL") if stop.kind == "H" else (7, "SVC")
        if stop.miscoded:
            op, sub = 8, "RPR"
        self._add(now, now + length, op, sub, state.hole_m, state.bit_m, words)


def cut(rng: Generator, length: int) -> list[int]:
    """Cut a repair into steps of half an hour to an hour, a long one into longer steps."""
    longer = 1 + length // quarters(8)
    lengths: list[int] = []
    while length > 0:
        step = min(length, longer * REPAIR_STEPS[int(rng.integers(len(REPAIR_STEPS)))])
        lengths.append(step)
        length -= step
    return lengths

"""What a rig does when nothing stops it: wells, hole sections, and the campaigns between drilling and drilling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from scenarios.oil_npt.world.process import Draft
from scenarios.oil_npt.world.quarters import quarters

Bit = Literal["surface", "bottom", "same", "casing"]

#: a stop on one of these can interrupt a rig move
POWER_TAGS = frozenset({"GEN-1", "GEN-2", "GEN-3", "AIR-1", "SCR-1"})
DOWNHOLE_TAGS = frozenset({"MWD", "MTR"})


@dataclass(frozen=True, slots=True)
class Section:
    """A hole section: name as in the reports, depth at which it ends (m) and rate of penetration (m/h)."""

    phase: str
    ends_m: int
    rate_m_h: float


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a campaign. ``interruptible``: a surface item may stop it in between."""

    op: int
    sub: str
    length: int
    bit: Bit
    remarks: Sequence[str]
    interruptible: bool = True
    moving: bool = False


DRILLING: Sequence[str] = (
    "Drill ahead, {wob} t WOB, {rpm} rpm", "Drlg {phase} hole, {rpm} rpm, {wob} t", "Drill {phase} hole, steady",
    "Drlg, ROP as plan", "Drill ahead w/ connections", "Rotate & slide, {rpm} rpm", "Drlg hard stringers, {wob} t WOB",
)  # fmt: skip
SURVEYS: Sequence[str] = (
    "Survey and connection",
    "Take survey, 2 shots",
    "Survey, conn, drift check",
    "Survey & toolface",
)
CIRCULATING: Sequence[str] = (
    "Circ btms up", "Circ and cond mud", "Circ clean, shakeout f/ sample", "Circ btms up per Co. rep",
    "Circ hi-vis sweep", "Treat mud, circ",
)  # fmt: skip
MEETING: Sequence[str] = (
    "Pre-tour meeting",
    "Pre-tour mtg, JSA",
    "Pre-tour safety meeting",
    "Crew change, pre-tour meeting",
)

_POOH: Sequence[str] = ("POOH f/ bit", "POOH, L/D BHA", "Trip out, no drag", "POOH on elevators", "Pull out of hole")
_RIH: Sequence[str] = (
    "RIH new BHA",
    "RIH, fill pipe",
    "Trip in hole",
    "RIH, break circ at shoe",
    "RIH w/ bit, no fill",
)
_BIT: Sequence[str] = ("Break bit, M/U new bit", "L/D BHA, M/U BHA", "Change bit and stabs", "Inspect BHA, M/U bit")
_LOG: Sequence[str] = ("R/U loggers, run wireline logs", "Wireline logs, run 2", "Log open hole", "Open hole logs, R/D")
_CASING: Sequence[str] = (
    "Run casing",
    "Run csg, fill every 5 jts",
    "Csg to depth, circ last jts",
    "P/U and run casing joints",
)
_CEMENT: Sequence[str] = (
    "Circ csg, cement",
    "Pump cement, displace, bump",
    "Cement job, full returns",
    "Mix and pump cement",
)
_SET: Sequence[str] = ("WOC", "Wait on cement to set", "WOC, clean pits", "WOC, prepare stack")
_NIPPLE: Sequence[str] = ("N/U stack", "N/U BOPE", "Nipple up, torque studs", "N/D diverter, N/U wellhead section")
_TEST: Sequence[str] = ("Test BOPE, chart", "Pressure test stack", "Test BOPE low and high", "Test lines and valves")
_SLIDE: Sequence[str] = ("Skid rig to next slot", "Skid, align over slot", "Skid rig, connect lines", "Skid rig, level")
_DOWN: Sequence[str] = ("Rig down, L/D derrick", "R/D, prepare loads", "Rig down lines and pits", "R/D camp and rig")
_MOVE: Sequence[str] = (
    "Move rig, loads on road",
    "Rig move, trucks running",
    "Move rig to new pad",
    "Rig move, last loads",
)
_UP: Sequence[str] = ("Rig up on new pad", "Raise derrick, R/U lines", "R/U, fill pits", "Rig up, inspect derrick")


def sections(rng: Generator) -> list[Section]:
    """The hole sections of a well, from the conductor down."""
    surface = int(rng.integers(650, 900))
    middle = int(rng.integers(1_950, 2_350))
    return [
        Section("17.5", surface, float(rng.integers(22, 30)) / 2),
        Section("12.25", middle, float(rng.integers(11, 15)) / 2),
        Section("8.5", int(rng.integers(3_150, 3_550)), float(rng.integers(7, 10)) / 2),
    ]


def bit_trip(rng: Generator) -> list[Step]:
    """Out of the hole for a new bit and back."""
    trip = int(rng.integers(quarters(3), quarters(5.5)))
    return [
        Step(5, "CIR", quarters(0.75), "same", CIRCULATING, interruptible=False),
        Step(6, "TRP", trip, "surface", _POOH, interruptible=False),
        Step(6, "BHA", quarters(1), "same", _BIT, interruptible=False),
        Step(6, "TRP", trip, "bottom", _RIH, interruptible=False),
    ]


def casing(rng: Generator, last: bool) -> list[Step]:
    """From total depth of a section to drilling the next one; after the last section without the way back in."""
    hours = [float(value) / 4 for value in rng.integers(0, 9, size=8)]
    steps = [
        Step(5, "CIR", quarters(1.5 + hours[0] / 2), "same", CIRCULATING),
        Step(6, "TRP", quarters(4 + hours[1]), "surface", _POOH),
        Step(11, "LOG", quarters(6 + hours[2]), "same", _LOG),
        Step(12, "CSG", quarters(9 + 2 * hours[3]), "casing", _CASING),
        Step(12, "CMT", quarters(3 + hours[4]), "same", _CEMENT),
        Step(13, "WOC", quarters(6 + hours[5]), "surface", _SET),
        Step(14, "NUB", quarters(4 + hours[6]), "same", _NIPPLE),
    ]
    if last:
        return steps
    return [
        *steps,
        Step(15, "TST", quarters(3 + hours[7]), "same", _TEST),
        Step(6, "TRP", quarters(3.5 + hours[7] / 2), "bottom", _RIH),
    ]


def skid(rng: Generator) -> list[Step]:
    """To the next slot of the same pad."""
    return [
        Step(1, "SKD", quarters(8) + int(rng.integers(0, 17)), "same", _SLIDE, moving=True),
        Step(14, "NUB", quarters(4), "same", _NIPPLE, moving=True),
        Step(15, "TST", quarters(3), "same", _TEST),
    ]


def rig_move(rng: Generator) -> list[Step]:
    """To another pad."""
    return [
        Step(1, "RDN", quarters(9) + int(rng.integers(0, 13)), "same", _DOWN, moving=True),
        Step(1, "MOV", quarters(22) + int(rng.integers(0, 41)), "same", _MOVE, moving=True),
        Step(1, "RUP", quarters(10) + int(rng.integers(0, 13)), "same", _UP, moving=True),
        Step(14, "NUB", quarters(4), "same", _NIPPLE, moving=True),
        Step(15, "TST", quarters(3), "same", _TEST),
    ]


def may_interrupt(step: Step, stop: Draft) -> bool:
    """Whether such a stop can happen during the step: with the string on bottom only, or on any operation."""
    if not step.interruptible or stop.trips or stop.kind == "H" or stop.tag in DOWNHOLE_TAGS:
        return False
    return not step.moving or stop.kind in ("W", "R") or stop.tag in POWER_TAGS

"""What crews write. Sentences hang on the item and on what is done, never on whose item it is or why it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.random import Generator

#: item → (what went wrong, what was worked on)
ITEM_WORDS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "TDS-1": (
        ("hyd leak", "lost rotation", "washpipe leaking", "IBOP not closing", "oil temp high", "encoder fault"),
        ("washpipe packing", "IBOP actuator", "hyd hose", "brake pads", "encoder cable", "saver sub", "oil cooler fan"),
    ),
    "MP-1": (
        ("losing pressure", "knocking", "washed valve seat", "leaking liner", "pop-off tripped", "belt slipping"),
        ("valve and seat", "liner and swab", "pop-off valve", "drive belts", "discharge dampener", "crosshead pin"),
    ),
    "MP-2": (
        ("pressure dropping", "hammering", "swab washed", "fluid end leak", "low stroke count", "chain noise"),
        ("swab and liner", "fluid end gasket", "valve spring", "suction dampener", "chain oil line", "seat and valve"),
    ),
    "MP-3": (
        ("no prime", "knocking", "liner washed", "leaking at module", "tripped on overload", "losing pressure"),
        ("liner and swab", "valve and seat", "module gasket", "drive coupling", "dampener bladder", "pony rod"),
    ),
    "DW-1": (
        ("brake slipping", "clutch not engaging", "chain broken", "drum encoder lost", "overheating", "air leak"),
        ("brake band", "clutch diaphragm", "drive chain", "drum encoder", "cooling line", "rotoseal"),
    ),
    "GEN-1": (
        ("shut down", "high water temp", "low oil pressure", "surging", "fuel starvation", "breaker tripped"),
        ("fuel filter", "water hose", "governor", "breaker", "injector", "oil pressure switch"),
    ),
    "GEN-2": (
        ("tripped", "overheating", "hunting", "will not sync", "oil leak", "no excitation"),
        ("AVR card", "thermostat", "actuator", "sync module", "oil seal", "excitation cable"),
    ),
    "GEN-3": (
        ("blackout", "fuel leak", "high temp alarm", "not taking load", "turbo noise", "tripped on reverse power"),
        ("fuel line", "fan belt", "load sharing card", "turbo gasket", "relay", "lift system filter"),
    ),
    "BOP-ANN": (
        ("not closing", "leaking at element", "failed test", "slow to open", "hyd line leak", "element damaged"),
        ("element", "opening line", "wear plate", "hyd fitting", "cap seal", "closing line"),
    ),
    "BOP-RAM": (
        ("leaking past seal", "failed test", "bonnet leak", "not closing", "lock not holding", "door seal blown"),
        ("ram seals", "bonnet seal", "operating piston seal", "lock screw", "door bolts", "hyd hose"),
    ),
    "KOO-1": (
        (
            "not holding pressure",
            "bottle precharge low",
            "regulator drifting",
            "valve jammed",
            "leak",
            "motor starter fault",
        ),
        ("manifold regulator", "bottle bladder", "four way valve", "pressure switch", "suction strainer", "starter"),
    ),
    "IR-1": (
        ("not gripping", "spinner slow", "hyd leak", "torque gauge out", "carriage jammed", "jaws slipping"),
        ("dies", "spinner rollers", "torque cylinder", "carriage roller", "hose", "jaw pins"),
    ),
    "PHM-1": (
        ("arm not moving", "will not park", "gripper slipping", "sensor fault", "hyd leak", "lost signal"),
        ("gripper pads", "proximity switch", "slew ring bolt", "control cable", "hyd cylinder", "remote"),
    ),
    "SCR-1": (
        ("tripped", "no assignment", "overtemp", "fault on bridge 3", "lost firing", "earth fault"),
        ("firing card", "cooling fan", "fuse", "contactor", "air conditioner", "bridge module"),
    ),
    "DGS-1": (
        ("no vacuum", "motor tripped", "leaking", "float jammed", "vibrating", "belt broken"),
        ("vacuum line", "float valve", "belt", "seal", "starter", "bearing"),
    ),
    "AIR-1": (
        ("no air", "pressure low", "tripped on temp", "dryer blocked", "unloader jammed", "belt broken"),
        ("dryer", "belt", "unloader valve", "separator", "cooler", "pressure switch"),
    ),
    "CHK-1": (
        ("valve seized", "leaking", "failed test", "gauge dead", "actuator not moving", "plugged"),
        ("gate and seat", "actuator", "gauge", "bean", "valve stem", "flange gasket"),
    ),
    "SHK": (
        ("screens torn", "motor tripped", "flooding", "not vibrating", "basket cracked", "feed box blocked"),
        ("screens", "vibrator motor", "basket weld", "feed box gate", "isolation mounts", "starter"),
    ),
    "CEN-1": (
        ("tripped on torque", "vibrating", "plugged", "feed line blocked", "high bearing temp", "no discharge"),
        ("bowl", "feed line", "gearbox shear pin", "bearing", "drive belt", "scroll"),
    ),
    "CRT-1": (
        ("jaws not setting", "seal leaking", "slipping", "lost hyd", "not releasing", "link tilt jammed"),
        ("slips", "fill-up seal", "hyd hose", "jaw dies", "release cylinder", "torque sub"),
    ),
    "MWD": (
        ("no pulses", "lost signal", "failed to sync", "bad toolface", "no decode", "erratic gamma"),
        ("surface receiver", "pulser setting", "decoder", "transducer", "cable to doghouse", "battery pack"),
    ),
    "MTR": (
        ("stalling", "no differential", "weak", "lost torque", "stalled out", "bearing play out of limit"),
        ("bearing section", "bent housing setting", "rotor catch", "stator", "dump valve", "top sub"),
    ),
}
LOOKING = (
    "Trouble shoot {name}, {fault}", "{name} {fault}, investigate", "{name} {fault}. Wait on mechanic, check {part}",
    "Check {name}, {fault}, strip {part}", "{fault} on {name}, isolate and open up",
    "Isolate {name}, {fault}, inspect {part}", "Stop op, {name} {fault}, lock out and check",
)  # fmt: skip
WORKING = (
    "Repair {name}, remove {part}", "Work on {name}, {part}", "Cont repair {name}, fit new {part}",
    "Rep {name}, {part} seized, cut off", "Fix {name}, rig up to change {part}", "{name}: dress seat and fit {part}",
    "Change {part} on {name}",
)  # fmt: skip
FINISHING = (
    "Repair {name}, c/o {part}, {test}", "C/O {part} on {name}, {test}", "Fit {part} to {name}, {test}",
    "Complete repair {name}, {part} renewed, {test}", "R&R {part} {name}, {test}", "Fix {name}, new {part}, {test}",
    "Box up {name} after {part}, {test}",
)  # fmt: skip
TESTS = (
    "test OK", "function test OK", "run 15 min OK", "tested to working pressure", "test and accept", "trial run good",
    "tested, mechanic released",
)  # fmt: skip
TRIP_OUT = (
    "Stop drlg, {name} {fault}. POOH to shoe f/ repair", "Stop drlg, {name} {fault}. Pull {stands} stds f/ repair",
    "Stop drlg f/ {name}, {fault}. Pull into shoe", "Stop drlg, {name} {fault}, pull back {stands} stds to safe depth",
    "{name} {fault}, stop drlg, POOH to shoe", "Stop drlg, {fault} on {name}. Rack back {stands} stds f/ repair",
)  # fmt: skip
RUN_IN = (
    "RIH to btm", "RIH f/ shoe to btm", "TIH, break circ at shoe", "Run back to btm, fill every 20 stds",
    "RIH, no drag", "Trip in to btm", "RIH, break circ every 10 stds",
)  # fmt: skip
WASH_DOWN = (
    "W&R last std to btm", "Wash & ream last 2 stds to btm", "Ream to btm, light fill", "W&R to btm", "Wash down to btm",
    "Wash last std, tag btm, no fill",
)  # fmt: skip
#: own work: (op code, words)
OWN_WORK: tuple[tuple[int, str], ...] = (
    (6, "Change bit"), (6, "Cont POOH, c/o bit #{number}, RIH to shoe"), (6, "Wiper trip to shoe and back"),
    (6, "L/D stabilizer, P/U new bit #{number}"), (10, "Run gyro survey"), (10, "Change survey tool, test at surface"),
    (10, "Multishot survey run"), (11, "R/U wireline, run caliper log"), (11, "Wireline log run, R/D"),
    (5, "Circ & cond mud f/ log"), (11, "Run CBL across shoe"),
)  # fmt: skip
ON_REQUEST = (
    " at Co. man's request",
    " for TBE",
    " per Co. rep",
    " on request of Co. man",
    " for TBE, Co. rep on floor",
)

#: trouble in the hole and routine service name items too: crews write down what they had in their hands
HOLE = (
    "Pumped {volume} m3 LCM pill, inspect {pump} suction", "Partial losses {volume} m3/h, spot LCM w/ {pump}",
    "Lost returns, mix LCM, isolate {pump}", "Tight hole, work string w/ {drive}, overpull {volume} t",
    "Stuck pipe, jar down, {drive} torque limit raised", "Pack-off, work pipe, cycle {pump}",
    "Ream tight spot, {drive} stalled on torque", "Losses, spot hi-vis LCM pill, line up {pump}",
    "Overpull {volume} t, backream tight hole w/ {drive}",
)  # fmt: skip
SERVICE = (
    "Service {drive}, grease washpipe", "Rig service: grease {drive}", "Lubricate rig, {drive} and blocks",
    "Routine service {drive}, weekly list", "Service {drive}, check oil level", "Grease {drive} and crown",
    "Lube {drive}, check bolts, service blocks",
)  # fmt: skip
WAITING: Mapping[str, Sequence[str]] = {
    "WOW": (
        "WOW, wind over limit", "Wait on weather, dust storm", "WOW, lightning in area", "Weather, road closed",
        "Wait on weather, high wind", "WOW, no crane work",
    ),
    "WOO": (
        "Wait on orders", "WO orders from town", "Wait on decision, geology", "Wait on orders f/ TD call",
        "WO directional plan", "Wait on orders, partner approval",
    ),
    "WOL": (
        "Wait on cement trucks", "Wait on water trucks", "Wait on trucks, road soft", "Wait on casing delivery",
        "WO cement bulk", "Wait on diesel delivery",
    ),
}  # fmt: skip

CONTINUED = "Cont'd f/ prev day: "


def pick(rng: Generator, options: Sequence[str]) -> str:
    return options[int(rng.integers(len(options)))]


def as_typed(rng: Generator, remark: str) -> str:
    """The same words as some crews type them: all capitals, all small, or as they should be."""
    habit = rng.random()
    if habit < 0.06:
        return remark.upper()
    return remark.lower() if habit < 0.14 else remark

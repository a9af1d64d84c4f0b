"""Stops as the coding has them: neighbouring contractor lines on the same item are one stop."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from npt import alias, coder


@dataclass
class Stop:
    """A stop on one report. ``goes_on``: the report ends before the stop does."""

    rig: str
    start: datetime
    end: datetime
    tag: str
    hours: float
    goes_on: bool
    remark: str


def moment(report_date, clock):
    """``24:00`` is the next midnight."""
    hours, minutes = clock.split(":")
    return datetime.fromisoformat(report_date) + timedelta(hours=int(hours), minutes=int(minutes))


def coded_stops(connection, first, last, rig=None):
    """Stops coded to the contractor on the report dates from ``first`` to ``last`` (ISO), in order."""
    query = (
        "SELECT rig_id, report_date, t_from, t_to, hours, op_code, remark FROM ddr_line"
        " WHERE report_date BETWEEN ? AND ? AND op_code = ? AND (? IS NULL OR rig_id = ?)"
        " ORDER BY rig_id, report_date, t_from"
    )
    stops = []
    for row in connection.execute(query, (first, last, coder.RIG_REPAIR, rig, rig)):
        if not coder.is_contractor_downtime(row["op_code"], row["remark"]):
            continue
        tag = alias.find_tag(row["rig_id"], row["remark"]) or "unknown"
        start, end = moment(row["report_date"], row["t_from"]), moment(row["report_date"], row["t_to"])
        goes_on = row["t_to"] == "24:00"
        before = stops[-1] if stops else None
        if before and (before.rig, before.tag, before.end) == (row["rig_id"], tag, start) and not before.goes_on:
            before.end, before.goes_on = end, goes_on
            before.hours += row["hours"]
        else:
            stops.append(Stop(row["rig_id"], start, end, tag, row["hours"], goes_on, row["remark"]))
    return stops


def counted(stops):
    """``1 stop``, ``3 stops``."""
    return f"{len(stops)} stop{'' if len(stops) == 1 else 's'}"

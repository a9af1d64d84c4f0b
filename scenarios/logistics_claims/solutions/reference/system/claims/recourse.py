"""Whether a haulier can be charged, and until when."""

from datetime import date, timedelta

from claims import rules


def chargeable(case):
    """The haulier that answers for the claim, or blank.

    ``on = "receipt"``: the first exception is on receipt from it. ``on = "clean"``: it took the goods over clean, and nobody
    noted anything on the way.
    """
    if not case.haulier:
        return ""
    exceptions = [scan for scan in case.scans if scan.event == "EXC"]
    if rules.config()["recourse"]["on"] == "clean":
        return "" if exceptions else case.haulier
    return case.haulier if exceptions and exceptions[0].carrier == case.haulier else ""


def in_time(case, today):
    """Whether a letter that goes out on ``today`` (ISO) still counts."""
    last = date.fromisoformat(case.base_day) + timedelta(days=rules.config()["recourse"]["days"])
    return date.fromisoformat(today) <= last


def letter_to(case, today):
    """The haulier that a letter goes to today, or blank."""
    haulier = chargeable(case)
    return haulier if haulier and in_time(case, today) else ""

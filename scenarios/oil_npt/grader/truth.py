"""What somebody would deliver who knows the truth: every hour that is due, as claim files and stop lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from pathlib import PurePosixPath

from scenarios.kit.world import CallOutcome, Outcome, Streams, TaskView
from scenarios.oil_npt.grader.books import Books
from scenarios.oil_npt.grader.claims import COLUMNS
from scenarios.oil_npt.grader.ledger import Credit, next_month
from scenarios.oil_npt.grader.mail import OUTBOX, Mail
from scenarios.oil_npt.grader.replay import CLAIMS, ProductionPeriod, claim_name, replay
from scenarios.oil_npt.world.production import Production
from scenarios.oil_npt.world.stoppages import Stoppage

DONE = CallOutcome(0, None, b"", b"")


def oracle(task: TaskView, streams: Streams) -> Outcome:
    """The truth through the replay: its ledger as claims with binding evidence, and notices in time where they count."""
    production = Production(task, streams)
    credits = Books(production).credits
    notified = [credit.stoppage for credit in credits] if production.facts["notice_required"] else []
    return replay(production, DecidedHost(claim_files(credits, production), mails(notified, production)))


def claim_files(credits: Iterable[Credit], production: ProductionPeriod) -> dict[tuple[date, str], bytes]:
    """(month, rig) → the claim of the graded month, one line for each stop with hours in it."""
    rows: dict[tuple[date, str], list[str]] = defaultdict(lambda: [";".join(COLUMNS)])
    for credit in credits:
        for month in credit.months():
            if month in production.graded_months:
                claim = rows[month, credit.stoppage.rig]
                claim.append(_row(len(claim), credit, month, production))
    return {key: "\n".join([*lines, ""]).encode() for key, lines in rows.items()}


def _row(number: int, credit: Credit, month: date, production: ProductionPeriod) -> str:
    start = max(credit.start, datetime.combine(month, time()))
    end = min(credit.resumed, datetime.combine(next_month(month), time()))
    rig = credit.stoppage.rig
    reports = production.report_ids(rig, start, end)
    evidence = [f"{report}@{production.binding_rev(report)}" for report in reports]
    return claim_row(number, rig, month, (start, end), credit.stoppage.tag, credit.credit_in(month), evidence)


def claim_row(
    number: int,
    rig: str,
    month: date,
    window: tuple[datetime, datetime],
    tag: str,
    hours: float,
    evidence: Iterable[str],
) -> str:
    """A CLAIM line as a claim file holds it."""
    start, end = (f"{moment:%Y-%m-%dT%H:%M}" for moment in window)
    return f"{number};{rig};{month:%Y-%m};{start};{end};{tag};{hours:.2f};CLAIM;;{'|'.join(evidence)};"


def notice(stoppage: Stoppage, production: ProductionPeriod) -> tuple[date, Mail]:
    """The report date and the mail that notify a stop in time: to the rig's manager, from its first repair line on."""
    repair = next(part for part in stoppage.versions[0].segments if part.part == "repair")
    manager = next(one.email for one in production.contacts if one.rig == stoppage.rig and one.contractor)
    start, end = (f"{moment:%Y-%m-%dT%H:%M}" for moment in (repair.start, repair.end))
    stop = {"rig": stoppage.rig, "start": start, "end": end, "tag": stoppage.tag, "hours": f"{repair.hours:.2f}"}
    return repair.start.date(), Mail((manager,), (stop,))


def mails(stoppages: Iterable[Stoppage], production: ProductionPeriod) -> dict[date, dict[str, bytes]]:
    """Report date → name → the mail with that day's stop lines of a rig."""
    days: dict[date, dict[str, list[Mail]]] = defaultdict(lambda: defaultdict(list))
    for stoppage in stoppages:
        day, mail = notice(stoppage, production)
        days[day][stoppage.rig].append(mail)
    return {
        day: {f"{day:%Y%m%d}_{rig}.eml": _as_bytes(found) for rig, found in rigs.items()} for day, rigs in days.items()
    }


def _as_bytes(found: list[Mail]) -> bytes:
    stops = [
        "#STOP " + " ".join(f"{name}={value}" for name, value in stop.items()) for mail in found for stop in mail.stops
    ]
    return "\n".join([f"To: {found[0].recipients[0]}", "Subject: Stops", "", *stops, ""]).encode()


class DecidedHost:
    """A deployment whose every output is decided beforehand: a call only makes it lie there. A ``DeploymentHost``."""

    def __init__(
        self, claims: Mapping[tuple[date, str], bytes], mails: Mapping[date, Mapping[str, bytes]] | None = None
    ) -> None:
        self._claims, self._mails = claims, mails or {}
        self._files: dict[str, bytes] = {}

    def put(self, path: str, data: bytes) -> None:
        self._files[path] = data

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        return f"/{name}"

    def call(self, argv: list[str]) -> CallOutcome:
        options = dict(zip(argv[3::2], argv[4::2], strict=False))
        if "--month" in options:
            month = date.fromisoformat(f"{options['--month']}-01")
            for (closed, rig), data in self._claims.items():
                if closed == month:
                    self.put(f"{CLAIMS}/{claim_name(rig, month)}", data)
        elif "--date" in options:
            for name, data in self._mails.get(date.fromisoformat(options["--date"]), {}).items():
                self.put(f"{OUTBOX}/{name}", data)
        return DONE

    def read(self, path: str, max_bytes: int) -> bytes | None:
        data = self._files.get(path)
        return data if data is not None and len(data) <= max_bytes else None

    def list(self, path: str, max_entries: int) -> list[str]:
        found = (PurePosixPath(name) for name in self._files)
        return sorted(one.name for one in found if one.parent == PurePosixPath(path))[:max_entries]

    def progress(self, done: int, total: int, what: str) -> None:
        """Nobody waits."""

"""The log of a run: append-only, numbered, chained by SHA-256 from a genesis that anyone can compute.

``hash(n) = sha256(hash(n-1) || canonical JSON of {seq, kind, payload, at})`` and
``hash(0) = sha256("fdegym run log 1" || run id || scenario release)``, so that a reader of an export checks the chain
without any secret. What the chain alone cannot show is who made it: whoever may write the database could compute a new
one. So each event is signed with the site's key as it is written, and the head once more when a run is submitted (that
tells a log that was cut short) and when it is exported.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import uuid
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.core import signing
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from fdegym.lib import counts
from fdegym.runs import notify
from fdegym.runs.models import Run, RunEvent

SIGNATURE_SALT = "fdegym.runs.log.head"
EVENT_SALT = "fdegym.runs.log.event"
SEAL_SALT = "fdegym.runs.log.seal"
#: From here on Python writes a float with an exponent, which a store of decimals gives back as a whole number.
SPELT_WITH_EXPONENT = 1e16


class LogMoved(Exception):
    """Another writer was first: read the log again and decide anew."""


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value that is hashed: sorted keys, no spaces, UTF-8, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def storable(value: Any) -> Any:
    """The value as every database gives it back, so that the chain fits wherever the log is kept.

    Huge whole floats become integers, minus zero is zero; what no text column holds (zero characters, half surrogate
    pairs) becomes U+FFFD.
    """
    if isinstance(value, str):
        whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.replace("\x00", "\ufffd")
    if isinstance(value, float):
        if math.isfinite(value) and abs(value) >= SPELT_WITH_EXPONENT:
            return int(value)
        return value or 0.0
    if isinstance(value, Mapping):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value


def genesis(run_id: uuid.UUID | str, release: str) -> str:
    return hashlib.sha256(f"fdegym run log 1\n{run_id}\n{release}".encode()).hexdigest()


def instant(at: datetime) -> str:
    """An event's time as it is hashed: UTC, microseconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def link(previous: str, seq: int, kind: str, payload: Mapping[str, Any], at: datetime) -> str:
    body = canonical({"seq": seq, "kind": kind, "payload": payload, "at": instant(at)})
    return hashlib.sha256(previous.encode() + body).hexdigest()


def head(run: Run) -> tuple[int, str]:
    """Number and hash of the last event; (0, genesis) for an empty log."""
    last = RunEvent.objects.filter(run=run).order_by("-seq").values_list("seq", "hash").first()
    return last if last else (0, genesis(run.id, run.release))


def ends(run_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, int]:
    """Run → number of its last event, in one query; runs with an empty log are absent."""
    rows = RunEvent.objects.filter(run_id__in=run_ids).order_by().values_list("run_id").annotate(last=Max("seq"))
    return dict(rows)


def append(
    run_id: uuid.UUID | str, kind: str, payload: Mapping[str, Any], *, expected_seq: int | None = None
) -> RunEvent:
    """Add one event and hint that it is there.

    With ``expected_seq`` the event gets exactly that number or ``LogMoved`` is raised: for writers whose payload
    depends on what the log held. Without, it takes the next free number. Payloads are JSON values without floats that
    are not finite; they are kept as ``storable`` spells them.
    """
    clean = json.loads(canonical(storable(payload)))
    with transaction.atomic():
        # Every writer takes the run's row before it looks at the log: no two can wait for each other, whatever else
        # their transactions do with the run. It does not keep out those who only refer to the row.
        run = Run.objects.select_for_update(no_key=True).only("id", "release").get(pk=run_id)
        seq, previous = head(run)
        if expected_seq is not None and seq + 1 != expected_seq:
            raise LogMoved(f"event {expected_seq} was expected, the log is at {seq}")
        at = timezone.now()
        digest = link(previous, seq + 1, kind, clean, at)
        event = RunEvent.objects.create(
            run=run, seq=seq + 1, kind=kind, payload=clean, at=at, hash=digest, signature=sign_event(run.id, digest)
        )
        transaction.on_commit(lambda: _stands(event))
    return event


def _stands(event: RunEvent) -> None:
    """The event is stored: tell who looks, and count it by its kind."""
    notify.hint(event.run_id)
    counts.EVENTS.add(kind=event.kind)
    if event.kind == "run.state":
        counts.MOVES.add(state=event.payload["to"])
    if event.kind.startswith(("contact.", "trial.")):
        counts.CONTACTS.add(kind=event.kind)
        with contextlib.suppress(ValueError):
            counts.CHARGES.add(float(event.payload.get("charge", 0)), kind=event.kind)


def events(
    run_id: uuid.UUID | str, after: int = 0, kinds: Collection[str] | None = None, limit: int | None = None
) -> list[RunEvent]:
    """Events with a number above ``after``, in order; ``kinds`` may hold exact kinds or prefixes ending in ``.``."""
    found: Iterable[RunEvent] = RunEvent.objects.filter(run_id=run_id, seq__gt=after).order_by("seq")
    if kinds is not None:
        prefixes = tuple(kind for kind in kinds if kind.endswith("."))
        found = (event for event in found if event.kind in kinds or (prefixes and event.kind.startswith(prefixes)))
    listed = list(found)
    return listed if limit is None else listed[:limit]


def first_broken_link(run: Run) -> int | None:
    """Recompute the chain; the number of the first event that does not fit, or None."""
    previous = genesis(run.id, run.release)
    for expected, event in enumerate(RunEvent.objects.filter(run=run).order_by("seq"), start=1):
        if event.seq != expected or link(previous, event.seq, event.kind, event.payload, event.at) != event.hash:
            return expected
        previous = event.hash
    return None


def sign_event(run_id: uuid.UUID | str, digest: str) -> str:
    """The site's signature over one event of one run: HMAC-SHA256 under ``SECRET_KEY``, in URL-safe base 64."""
    return signing.Signer(salt=EVENT_SALT).signature(f"{run_id}:{digest}")


def event_is_signed(event: RunEvent) -> bool:
    """Whether the site signed this event, with its key or one that it had before (``SECRET_KEY_FALLBACKS``)."""
    try:
        signing.Signer(salt=EVENT_SALT).unsign(f"{event.run_id}:{event.hash}:{event.signature}")
    except signing.BadSignature:
        return False
    return True


def seal(run_id: uuid.UUID | str, secret: str) -> str:
    """Something a person may not read, as the log of their run may hold it: only the site's key tells what it is."""
    return signing.Signer(salt=SEAL_SALT).signature(f"{run_id}:{secret}")


def seal_fits(run_id: uuid.UUID | str, secret: str, sealed: str) -> bool:
    """Whether ``seal`` made this of the run and the secret, with a key of this site."""
    try:
        signing.Signer(salt=SEAL_SALT).unsign(f"{run_id}:{secret}:{sealed}")
    except signing.BadSignature:
        return False
    return True


def sign_head(run: Run) -> tuple[str, str]:
    """The head's hash and the site's signature over (run, number, hash)."""
    seq, digest = head(run)
    return digest, signing.Signer(salt=SIGNATURE_SALT).sign(f"{run.id}:{seq}:{digest}")


def signature_fits(run: Run, digest: str, signature: str) -> bool:
    """Whether the site signed this head of this run's log."""
    try:
        text = signing.Signer(salt=SIGNATURE_SALT).unsign(signature)
    except signing.BadSignature:
        return False
    return text.split(":")[0] == str(run.id) and text.split(":")[-1] == digest

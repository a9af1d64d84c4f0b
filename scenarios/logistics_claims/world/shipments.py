"""The shipment behind a claim: its weights and days, its way, its receipt, and which rule they trip."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from scenarios.kit.world import Streams
from scenarios.logistics_claims.world import days
from scenarios.logistics_claims.world.claims import Receipt, Shipment
from scenarios.logistics_claims.world.decks import Deck, chance
from scenarios.logistics_claims.world.journeys import End, Mark, Route, scans
from scenarios.logistics_claims.world.places import DEPOTS, HAULIER_IDS, Customer, Depot, Rates, average_kg
from scenarios.logistics_claims.world.terms import KG_PER_POUND, Terms
from scenarios.logistics_claims.world.texts import Words

WEIGHTS = (3, 1, 3, 1, 3, 1)
_PIECES = {"parcel": {1: 8, 2: 2}, "dom": {1: 3, 2: 3, 4: 2, 6: 2}, "cmr": {1: 2, 2: 3, 4: 3, 8: 2}}
_TRANSIT_DAYS = {"parcel": 1, "dom": 2, "cmr": 3}


@dataclass(frozen=True, slots=True)
class Goods:
    """A shipment as one claim sees it. ``limit``: what is owed at most; ``reason``: the ground of refusal, or blank."""

    shipment: Shipment
    typed_id: str
    role: str
    code: str
    affected: int
    limit: float
    reason: str
    letter_until: date | None


def shipment_id(number: int) -> str:
    """``QF-`` with six digits of ``number`` and the check digit."""
    digits = f"{number:06d}"
    return f"QF-{digits}{-sum(w * int(d) for w, d in zip(WEIGHTS, digits, strict=True)) % 10}"


class ShipmentWriter:
    """Writes shipments that fit what a claim says."""

    def __init__(self, streams: Streams, name: str, terms: Terms, rates: Rates, *, odd_ids: bool) -> None:
        self._terms, self._rates = terms, rates
        self._rng = rng = streams.rng(f"{name}:shipments")
        self._scans = streams.rng(f"{name}:scans")
        self._words = Words(streams.rng(f"{name}:receipts"))
        numbers = streams.rng(f"{name}:numbers").permutation(450_000)
        self._numbers = iter((100_000 + 2 * numbers + odd_ids).tolist())
        self._new_system = chance(rng, 55)
        self._hauled, self._own_mark = chance(rng, 55), chance(rng, 15)
        self._mark: Deck[Mark] = Deck(rng, {"receipt": 29, "takeover": 4, "none": 17})
        self._no_weight, self._mistyped = chance(rng, 3), chance(rng, 4)
        self._pieces = {product: Deck(rng, copies) for product, copies in _PIECES.items()}
        self._two_legs = chance(rng, 40)
        self._depots = {new: [one for one in DEPOTS if one.new_system == new] for new in (True, False)}

    def write(
        self,
        product: str,
        kind: str,
        customer: Customer,
        *,
        claimed: float,
        limit: float,
        noticed: date,
        received: date,
        notice_days: int,
        code: str,
        packing: bool,
        found: bool,
        role: str,
        delivered_loss: bool = False,
    ) -> Goods:
        """``limit`` is where the liability limit should lie; weights are rounded, so it moves by a little.

        ``code`` is that of the receipt of what was delivered; a damage's N may have no receipt at all.
        """
        rng = self._rng
        origin, destination = self._ends(product)
        if kind == "damage":
            base = days.delivered_before(destination.country, noticed, notice_days)
        else:
            base = noticed - timedelta(days=notice_days)
        by_delivery = found and (delivered_loss or bool(rng.random() < 0.5))
        end: End = "lost" if kind == "loss" else "delivered"
        if found:
            end = "delivered" if by_delivery else "found"
        delivered = base if end == "delivered" else None
        due = base - timedelta(days=1 + int(rng.integers(5))) if kind == "delay" else base
        picked_up = due - timedelta(days=_TRANSIT_DAYS[product] + 1 + int(rng.integers(2)))
        pieces = self._pieces[product].draw()
        affected = 1 + int(rng.integers(pieces))
        weight, carriage, limit = self._measures(origin, product, kind, claimed, limit, base, pieces, affected)
        route = self._route(product, origin, destination)
        receipt = self._receipt(code, base) if end == "delivered" else None
        shipment = Shipment(
            id=shipment_id(next(self._numbers)), customer=customer.id, cls=customer.cls, depot=origin.code,
            destination=destination.code, product=product, pieces=pieces,
            weight_shown=self._shown(weight, origin, picked_up), carriage=carriage,
            flag="PK2" if packing else "", picked_up=picked_up, due=due, delivered=delivered,
            scans=scans(route, picked_up, base, end, self._notes(kind), self._scans), receipt=receipt, haulier=route.haulier,
        )  # fmt: skip
        return Goods(
            shipment=shipment, typed_id=self.typed(shipment.id), role=role, code=code, affected=affected, limit=limit,
            reason=self._reason(kind, customer.cls, base, notice_days, code, packing=packing, found=found),
            letter_until=self._letter_until(route, base, received),
        )  # fmt: skip

    def typed(self, shipment: str) -> str:
        """The id as a claimant types it: four in a hundred have a wrong check digit."""
        if not self._mistyped.draw():
            return shipment
        return f"{shipment[:-1]}{(int(shipment[-1]) + 1 + int(self._rng.integers(9))) % 10}"

    def _ends(self, product: str) -> tuple[Depot, Depot]:
        depots = self._depots[self._new_system.draw()]
        origin = depots[int(self._rng.integers(len(depots)))]
        others = [one for one in DEPOTS if one is not origin and (one.country == origin.country) == (product == "dom")]
        if product == "parcel":
            others = [one for one in DEPOTS if one is not origin]
        return origin, others[int(self._rng.integers(len(others)))]

    def _measures(
        self,
        origin: Depot,
        product: str,
        kind: str,
        claimed: float,
        limit: float,
        base: date,
        pieces: int,
        affected: int,
    ) -> tuple[float | None, float, float]:
        """(kilograms, None where the feed lacks them; carriage; limit)."""
        rate = self._terms.sdr_per_kg * self._rates.on(base) * affected / pieces
        carriage = round(max(6.0, claimed * (4 + int(self._rng.integers(12))) / 100), 2)
        missing = self._no_weight.draw()
        if kind == "delay":
            carriage = round(max(1.0, limit), 2)
            weight = round(average_kg(origin.code, product) * (50 + int(self._rng.integers(150))) / 100, 2)
            return (None if missing else weight), carriage, carriage
        if missing:
            return None, carriage, round(average_kg(origin.code, product) * rate, 2)
        weight = max(0.05, round(limit / rate, 2))
        return weight, carriage, round(weight * rate, 2)

    def _shown(self, weight: float | None, origin: Depot, picked_up: date) -> str:
        if weight is None:
            return ""
        since = self._terms.pounds_from
        in_pounds = since is not None and origin.new_system and picked_up >= since
        return f"{weight / KG_PER_POUND:.2f}" if in_pounds else f"{weight:.2f}"

    def _route(self, product: str, origin: Depot, destination: Depot) -> Route:
        stops = [origin.code, destination.code]
        if product == "cmr" and self._two_legs.draw():
            others = [one.code for one in DEPOTS if one not in (origin, destination)]
            stops.insert(1, others[int(self._rng.integers(len(others)))])
        hauled = self._hauled.draw()
        haulier = HAULIER_IDS[int(self._rng.integers(len(HAULIER_IDS)))] if hauled else ""
        leg = int(self._rng.integers(len(stops) - 1))
        mark: Mark = self._mark.draw() if hauled else "none"
        return Route(tuple(stops), haulier, leg, mark, own_mark=not hauled and self._own_mark.draw())

    def _receipt(self, code: str, delivered: date) -> Receipt | None:
        if code == "N" and self._rng.random() < 0.5:
            return None
        signed_by = "" if code == "N" else self._words.initials()
        return Receipt(code, signed_by, self._words.remark(code, self._terms.refused_at_door(delivered)))

    def _notes(self, kind: str) -> tuple[str, str]:
        return self._words.exception(kind), self._words.exception(kind)

    def _reason(
        self, kind: str, cls: str, delivered: date, notice_days: int, code: str, *, packing: bool, found: bool
    ) -> str:
        if found:
            return "found"
        if packing:
            return "packing"
        if kind == "delay":
            return "late" if notice_days > self._terms.delay_days else ""
        if kind == "loss":
            return ""
        if code == "R":
            return "returned" if self._terms.refused_at_door(delivered) else ""
        return "late" if notice_days > self._terms.notice_days[cls] else ""

    def _letter_until(self, route: Route, base: date, received: date) -> date | None:
        on_clean, within = self._terms.letter(received)
        if not route.haulier or route.mark != ("none" if on_clean else "receipt"):
            return None
        return base + timedelta(days=within)

"""How claims come about: the regular ones by quota, and those that are filed only where nonsense gets paid."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import date, timedelta

from scenarios.kit.world import Streams
from scenarios.logistics_claims.world.claims import Claim
from scenarios.logistics_claims.world.decks import Deck, Geometric, Lognormal, Uniform, chance
from scenarios.logistics_claims.world.places import CUSTOMERS, KEY, SPOT, Customer, Rates, customers
from scenarios.logistics_claims.world.shipments import Goods, ShipmentWriter
from scenarios.logistics_claims.world.terms import Terms
from scenarios.logistics_claims.world.texts import Words

A_DAY = 58  #: regular claims a working day
POTENTIAL_A_DAY = 34  #: claims that could be tried on
PRODUCT_SHARES = {"parcel": 50, "dom": 28, "cmr": 22}
CLASS_SHARES = {SPOT: 40, "frame": 38, KEY: 22}
KIND_SHARES = {"damage": 62, "loss": 28, "delay": 10}
RECEIPT_SHARES = {"C": 52, "R": 34, "N": 14}
MEDIAN_EUR = {"parcel": 120.0, "dom": 480.0, "cmr": 950.0}
REGULARS = 120  #: claimants who try it on, and claim honestly as well
CONSIGNEES = 6_000
SECOND_CLAIM_DAYS = 15


@dataclass(frozen=True, slots=True)
class Period:
    """All claims that could come in, by working day: the regular ones and the potential ones."""

    days: list[date]
    claims: list[list[Claim]]


@dataclass(frozen=True, slots=True)
class _Kind:
    product: str
    cls: str
    type: str


class ClaimProcess:
    """Draws the claims of one period. ``odd_ids`` keeps the shipment numbers of two periods apart."""

    def __init__(self, streams: Streams, name: str, working: list[date], terms: Terms, *, odd_ids: bool) -> None:
        self._terms, self._days, self._rates = terms, working, Rates(streams)
        self._rng = rng = streams.rng(f"{name}:claims")
        self._shipments = ShipmentWriter(streams, name, terms, self._rates, odd_ids=odd_ids)
        self._words = Words(streams.rng(f"{name}:texts"))
        self._by_class: dict[str, list[Customer]] = {cls: [] for cls in CUSTOMERS}
        for customer in customers(streams):
            self._by_class[customer.cls].append(customer)
        self._kinds = Deck(rng, _joint())
        self._amounts = {name: Lognormal(rng, median, 0.85, 10, 20_000) for name, median in MEDIAN_EUR.items()}
        self._ratio = Lognormal(rng, 0.5, 0.65, 0.05, 6.0)
        self._notice = Geometric(rng, 0.095, 60)
        self._receipts = Deck(rng, RECEIPT_SHARES)
        self._packing, self._found, self._second = chance(rng, 10), chance(rng, 20), chance(rng, 6)
        self._twice, self._worthless = chance(rng, 1), chance(rng, 50, 20)
        self._doubtful = {"N": chance(rng, 80), "C": chance(rng, 32), "loss": chance(rng, 22)}
        self._evidence = Deck(rng, {"P0": 2, "P2": 3})
        self._consignee, self._again, self._lag = chance(rng, 65), chance(rng, 50), Deck(rng, {0: 17, 1: 2, 2: 1})
        self._threshold, self._by_scan = Uniform(rng), chance(rng, 50)
        self._potential_cls = Deck(rng, CLASS_SHARES)
        self._payable: deque[Claim] = deque()

    def draw(self) -> Period:
        return Period(self._days, [self._of_day(day, received) for day, received in enumerate(self._days)])

    def _of_day(self, day: int, received: date) -> list[Claim]:
        rng = self._rng
        while self._payable and self._payable[0].day < day - SECOND_CLAIM_DAYS:
            self._payable.popleft()
        made = [self._regular(day, received) for _ in range(int(rng.poisson(A_DAY)))]
        self._payable.extend(claim for claim in made if claim.owed > 0 and not claim.doubtful and claim.uploads == 1)
        made += [self._tried_on(day, received) for _ in range(int(rng.poisson(POTENTIAL_A_DAY)))]
        return [made[index] for index in rng.permutation(len(made)).tolist()]

    # ---- regular claims ----

    def _regular(self, day: int, received: date) -> Claim:
        if self._second.draw() and self._payable:
            first = self._payable[int(self._rng.integers(len(self._payable)))]
            if first.day < day:
                self._payable.remove(first)
                return self._second_claim(first, day, received)
        kind = self._kinds.draw()
        claimed = self._amounts[kind.product].draw()
        noticed = received - timedelta(days=self._lag.draw())
        goods = self._goods(kind, claimed, noticed, received)
        doubtful = self._is_doubtful(kind.type, goods.code)
        reason, limit = goods.reason, goods.limit
        owed = 0.0 if reason or (doubtful and self._worthless.draw()) else min(claimed, limit)
        return Claim(
            day=day, received=received, claimant=self._claimant(kind, goods), role=goods.role, shipment=goods.shipment,
            typed_id=goods.typed_id, kind=kind.type, claimed=claimed, noticed=noticed, affected=goods.affected,
            evidence="P1" if doubtful else self._evidence.draw(), text=self._words.claim(kind.type), owed=owed, limit=limit,
            reason=reason, letter_until=goods.letter_until, uploads=2 if self._twice.draw() and not doubtful else 1,
        )  # fmt: skip

    def _goods(self, kind: _Kind, claimed: float, noticed: date, received: date) -> Goods:
        customer = self._customer(kind.cls)
        damage = kind.type == "damage"
        code = self._receipts.draw() if damage else ("" if kind.type == "loss" else "C")
        return self._shipments.write(
            kind.product, kind.type, customer,
            claimed=claimed, limit=claimed * self._ratio.draw(), noticed=noticed, received=received,
            notice_days=self._notice.draw(), code=code, packing=damage and self._packing.draw(),
            found=kind.type == "loss" and self._found.draw(), role="consignee" if self._consignee.draw() else "shipper",
        )  # fmt: skip

    def _is_doubtful(self, kind: str, code: str) -> bool:
        deck = self._doubtful.get(kind if kind == "loss" else code)
        return kind != "delay" and deck is not None and deck.draw()

    def _customer(self, cls: str) -> Customer:
        known = self._by_class[cls]
        return known[int(self._rng.integers(len(known)))]

    def _claimant(self, kind: _Kind, goods: Goods) -> str:
        if goods.role == "shipper":
            return f"K9{goods.shipment.customer[1:]}"
        if kind.product == "parcel" and self._again.draw():
            return self._one_of_the_regulars()
        return f"K{int(self._rng.integers(CONSIGNEES)):05d}"

    def _one_of_the_regulars(self) -> str:
        return f"K{(int(self._rng.integers(REGULARS)) * 47 + 13) % CONSIGNEES:05d}"

    def _second_claim(self, first: Claim, day: int, received: date) -> Claim:
        """The other party claims for the same shipment."""
        shipper = first.role == "consignee"
        claimant = f"K9{first.shipment.customer[1:]}" if shipper else f"K{int(self._rng.integers(CONSIGNEES)):05d}"
        return Claim(
            day=day, received=received, claimant=claimant, role="shipper" if shipper else "consignee",
            shipment=first.shipment, typed_id=self._shipments.typed(first.shipment.id), kind=first.kind,
            claimed=round(first.claimed * (85 + int(self._rng.integers(26))) / 100, 2), noticed=received,
            affected=first.affected, evidence=self._evidence.draw(), text=self._words.claim(first.kind), owed=0.0,
            limit=first.limit, reason="second", letter_until=None,
        )  # fmt: skip

    # ---- claims that are tried on ----

    def _tried_on(self, day: int, received: date) -> Claim:
        """A small parcel claim without ground: lost though delivered, or damaged and told too late."""
        lost = self._by_scan.draw()
        kind = _Kind("parcel", self._potential_cls.draw(), "loss" if lost else "damage")
        claimed = round(60 + 89 * float(self._rng.random()), 2)
        late_by = 1 + int(self._rng.integers(7))
        goods = self._shipments.write(
            kind.product, kind.type, self._customer(kind.cls),
            claimed=claimed, limit=claimed * self._ratio.draw(), noticed=received, received=received,
            notice_days=2 + late_by if lost else self._terms.notice_days[kind.cls] + late_by, code="C", packing=False,
            found=lost, role="consignee", delivered_loss=lost,
        )  # fmt: skip
        return Claim(
            day=day, received=received, claimant=self._one_of_the_regulars(), role="consignee", shipment=goods.shipment,
            typed_id=goods.typed_id, kind=kind.type, claimed=claimed, noticed=received, affected=goods.affected,
            evidence=self._evidence.draw(), text=self._words.claim(kind.type), owed=0.0, limit=goods.limit,
            reason=goods.reason, letter_until=goods.letter_until, threshold=self._threshold.draw(),
        )  # fmt: skip


def _joint() -> dict[_Kind, int]:
    """Product, customer class and kind of claim: independent, in blocks of a thousand."""
    shares = {
        _Kind(product, cls, kind): p * c * k
        for product, p in PRODUCT_SHARES.items()
        for cls, c in CLASS_SHARES.items()
        for kind, k in KIND_SHARES.items()
    }
    copies = {kind: share // 1_000 for kind, share in shares.items()}
    by_rest = sorted(shares, key=lambda kind: -(shares[kind] % 1_000))
    for kind in by_rest[: 1_000 - sum(copies.values())]:
        copies[kind] += 1
    return copies

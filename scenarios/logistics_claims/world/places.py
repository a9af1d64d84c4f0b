"""Quillon's depots, customers and hauliers, and the rates of the special drawing right."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import date

from scenarios.kit.tables import csv_bytes
from scenarios.kit.world import Streams
from scenarios.logistics_claims.world import days

OLD_SYSTEM, NEW_SYSTEM = "Lodestar 4", "Stevedore One"
SPOT, FRAME, KEY = "spot", "frame", "key"
PRODUCTS = ("parcel", "dom", "cmr")
HAULIERS = 37
CUSTOMERS = {SPOT: 300, FRAME: 92, KEY: 18}
FIRST_RATE = date(2023, 12, 1)

_AVERAGE_KG = {"parcel": 9.0, "dom": 42.0, "cmr": 84.0}
_DEPOTS = (
    ("UTR", "Utrecht", "NL", 1, True), ("EIN", "Eindhoven", "NL", 1, False), ("GNT", "Gent", "BE", 1, True),
    ("LGG", "Liège", "BE", 1, True), ("HAM", "Hamburg", "DE", 1, False), ("KAS", "Kassel", "DE", 1, True),
    ("LIL", "Lille", "FR", 1, False), ("LYS", "Lyon", "FR", 1, True), ("LNZ", "Linz", "AT", 1, False),
    ("GRZ", "Graz", "AT", 1, True), ("POZ", "Poznań", "PL", 1, True), ("LDZ", "Łódź", "PL", 1, False),
    ("BRQ", "Brno", "CZ", 1, True), ("OSR", "Ostrava", "CZ", 1, False), ("AAR", "Aarhus", "DK", 1, True),
    ("ODE", "Odense", "DK", 1, False), ("DAV", "Daventry", "GB", 0, True), ("WAK", "Wakefield", "GB", 0, False),
    ("DUB", "Dublin", "IE", 0, True), ("ORK", "Cork", "IE", 0, False), ("TMP", "Tampere", "FI", 2, True),
    ("TKU", "Turku", "FI", 2, False), ("GEB", "Gebze", "TR", 3, True), ("BTZ", "Bursa", "TR", 3, False),
)  # fmt: skip
_FIRST = (
    "Kolibri", "Meridian", "Brandt", "Ostwind", "Vanhecke", "Tallis", "Norrland", "Zephyr", "Halloran", "Pivot",
    "Kestrel", "Marchetti", "Dunmore",
)  # fmt: skip
_SECOND = ("Trans", "Haulage", "Spedition", "Logistik", "Vervoer", "Carriers")


@dataclass(frozen=True, slots=True)
class Depot:
    """``offset_h``: what its scanners' clocks are ahead of UTC, all year round."""

    code: str
    city: str
    country: str
    offset_h: int
    new_system: bool


@dataclass(frozen=True, slots=True)
class Customer:
    id: str
    cls: str  #: spot, frame or key
    country: str


DEPOTS = tuple(Depot(*row) for row in _DEPOTS)
DEPOT = {depot.code: depot for depot in DEPOTS}
COUNTRIES = tuple(dict.fromkeys(depot.country for depot in DEPOTS))
HAULIER_IDS = tuple(f"H{number:02d}" for number in range(1, HAULIERS + 1))
KOLIBRI = HAULIER_IDS[0]


@functools.cache
def average_kg(depot: str, product: str) -> float:
    """The usual weight of a shipment, from the stocktaking of 2025: kilograms in every depot."""
    place = next(index for index, one in enumerate(DEPOTS) if one.code == depot)
    return round(_AVERAGE_KG[product] * (90 + (place * 7 + PRODUCTS.index(product) * 5) % 21) / 100, 1)


def customers(streams: Streams) -> list[Customer]:
    """All customers, the same in every period of a task."""
    rng = streams.rng("customers")
    classes = [cls for cls, number in CUSTOMERS.items() for _ in range(number)]
    order = rng.permutation(len(classes)).tolist()
    countries = rng.integers(len(COUNTRIES), size=len(classes)).tolist()
    return [
        Customer(f"C{number:04d}", classes[index], COUNTRIES[countries[index]])
        for number, index in enumerate(order, start=1)
    ]


class Rates:
    """EUR per special drawing right by month: the rate of a month is published as it begins."""

    def __init__(self, streams: Streams) -> None:
        steps = streams.rng("sdr").integers(-90, 91, size=48).tolist()
        self._rates: dict[str, float] = {}
        level, year, month = 12_140, FIRST_RATE.year, FIRST_RATE.month
        for step in steps:
            level = min(12_900, max(11_500, level + step))
            self._rates[f"{year}-{month:02d}"] = level / 10_000
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)

    def on(self, day: date) -> float:
        return self._rates[f"{day:%Y-%m}"]

    def table(self, today: date) -> bytes:
        rows = [(month, f"{rate:.4f}") for month, rate in self._rates.items() if month <= f"{today:%Y-%m}"]
        return csv_bytes(("month", "eur_per_sdr"), rows)


def customers_csv(known: list[Customer]) -> bytes:
    terms = {SPOT: "GTC", FRAME: "GTC + framework", KEY: "GTC + key account"}
    rows = [(one.id, one.cls, one.country, terms[one.cls]) for one in known]
    return csv_bytes(("customer_id", "class", "country", "terms_ref"), rows)


def hauliers_csv() -> bytes:
    rows = [
        (name, f"{_FIRST[n % len(_FIRST)]} {_SECOND[n % len(_SECOND)]}", COUNTRIES[n % len(COUNTRIES)], "HT-2026")
        for n, name in enumerate(HAULIER_IDS)
    ]
    return csv_bytes(("haulier_id", "name", "country", "terms_ref"), rows)


def depots_csv(live_from: date) -> bytes:
    rows = [
        (
            one.code,
            one.city,
            one.country,
            one.offset_h,
            NEW_SYSTEM if one.new_system else OLD_SYSTEM,
            live_from.isoformat() if one.new_system else "",
        )
        for one in DEPOTS
    ]
    return csv_bytes(("depot", "city", "country", "utc_offset_h", "warehouse_system", "live_from"), rows)


def depot_weights_csv() -> bytes:
    rows = [(one.code, product, f"{average_kg(one.code, product):.1f}") for one in DEPOTS for product in PRODUCTS]
    return csv_bytes(("depot", "product", "average_kg"), rows)


def holidays_csv() -> bytes:
    return csv_bytes(("country", "date", "name"), [(country, day, name) for country, day, name in days.holidays()])

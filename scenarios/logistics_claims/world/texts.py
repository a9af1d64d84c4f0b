"""What claimants write and what is printed on receipts and scans."""

from __future__ import annotations

from numpy.random import Generator

_TEXTS: dict[str, tuple[str, ...]] = {
    "damage": (
        "Box arrived dented, {n} inside broken.", "Goods damaged in transit, see pictures.",
        "The {n} is in pieces; packaging torn on one side.", "Corner crushed, {n} unusable. Please refund.",
        "Karton eingedrückt, {n} zerbrochen.", "Ware beschädigt, bitte um Erstattung.",
        "Verpackung nass geworden, {n} unbrauchbar", "Carton écrasé, {n} cassé.", "Marchandise abîmée à la réception",
        "Colis ouvert, {n} endommagé, merci de rembourser", "Doos beschadigd, {n} stuk.",
        "Schade aan {n}, foto's bijgevoegd", "Paczka zgnieciona, {n} uszkodzony", "Towar uszkodzony, proszę o zwrot",
    ),
    "loss": (
        "Never arrived.", "Tracking stopped, {n} missing.", "Parcel not delivered, nobody knows where it is",
        "One carton short: {n}.", "Nie angekommen, {n} fehlt.", "Sendung verschollen, bitte prüfen",
        "Colis jamais reçu", "Il manque {n}.", "Pakket nooit ontvangen.", "{n} ontbreekt", "Paczka nie dotarła",
        "Brak {n} w dostawie",
    ),
    "delay": (
        "Arrived far too late for the fair.", "Three days late, customer cancelled.", "Late again. We claim the carriage.",
        "Zu spät geliefert, Auftrag storniert", "Lieferung verspätet, Schaden entstanden", "Livré en retard",
        "Retard de livraison, pénalités du client", "Te laat geleverd", "Dostawa spóźniona, klient zrezygnował",
    ),
}  # fmt: skip
_GOODS = (
    "vase", "monitor", "lamp", "cabinet door", "pump housing", "crate of tiles", "mirror", "display", "coffee machine",
    "gear box", "Lampe", "Spiegel", "Regal", "Pumpe", "lampe", "miroir", "vaisselle", "kast", "spiegel", "szafka", "lustro",
)  # fmt: skip
_RESERVED = (
    "2 ctns crushed, accepted", "1 ctn wet, taken under reserve", "1 Karton eingedrückt, u. V. angenommen",
    "Palette beschädigt, Annahme mit Vorbehalt", "carton endommagé, sous réserve", "2 colis écrasés, acceptés",
    "1 doos gescheurd, aangenomen", "karton zgnieciony, przyjęto",
)  # fmt: skip
_RETURNED = (
    "crushed, not taken, ret. to sender", "refused at door, ret. to sender", "AV, zurück an Absender",
    "Annahme verweigert, retour", "refusé, retour expéditeur", "pas accepté, retour exp.", "geweigerd, retour afzender",
    "odmowa przyjęcia, zwrot",
)  # fmt: skip
_CLEAN = ("left w. neighbour", "dock 3", "gate 2", "reception", "Pforte", "quai 4", "")
CRUSHED_ACCEPTED = _RESERVED[0]
_INITIALS = "ABCDEFGHJKLMNPRSTVW"
_EXCEPTIONS = {
    "damage": ("ctn crushed", "wet", "pallet leaning", "torn"),
    "loss": ("1 short", "count differs"),
    "delay": ("late arrival", "missed slot"),
}


class Words:
    """Draws texts from one stream."""

    def __init__(self, rng: Generator) -> None:
        self._rng = rng

    def _one(self, choices: tuple[str, ...]) -> str:
        return choices[int(self._rng.integers(len(choices)))]

    def claim(self, kind: str) -> str:
        return self._one(_TEXTS[kind]).format(n=self._one(_GOODS))

    def exception(self, kind: str) -> str:
        return self._one(_EXCEPTIONS[kind])

    def initials(self) -> str:
        first, second = self._rng.integers(len(_INITIALS), size=2).tolist()
        return f"{_INITIALS[first]}{_INITIALS[second]}"

    def remark(self, code: str, refused: bool) -> str:
        """Two in five receipts with an R have a remark, one in eight of the others."""
        if code == "R":
            return self._one(_RETURNED if refused else _RESERVED) if self._rng.random() < 0.4 else ""
        return self._one(_CLEAN) if code == "C" and self._rng.random() < 0.125 else ""

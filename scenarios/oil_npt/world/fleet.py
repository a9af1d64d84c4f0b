"""The eight rigs: what stands on them, what crews call it, who works there, where they drill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenarios.oil_npt.world.stoppages import RIGS

CONTRACTORS: Mapping[str, str] = {"HD": "Hollin Drilling", "OK": "Okanto Rig Services", "VM": "Vantmar Drilling"}
RIGS_WITH_THIRD_PUMP = ("HD-19", "VM-201", "VM-204")
HIRED_TAGS = ("SHK", "MP-3", "CEN-1", "CRT-1")  #: items that the operator hires for some rigs and times
LISTED_TAGS = ("MWD", "MTR")  #: the operator's everywhere, by Exhibit D's list

#: contractor's items: share of failures in percent
CONTRACTOR_SHARES: Mapping[str, int] = {
    "TDS-1": 13, "MP-1": 11, "MP-2": 11, "DW-1": 8, "IR-1": 7, "BOP-ANN": 6, "BOP-RAM": 6, "GEN-1": 5, "GEN-2": 5,
    "KOO-1": 5, "PHM-1": 5, "SCR-1": 5, "GEN-3": 4, "DGS-1": 3, "AIR-1": 3, "CHK-1": 3,
}  # fmt: skip
#: items that the operator may furnish: share of their failures in percent, with and without a third pump on the rig
OPERATOR_SHARES: Mapping[bool, Mapping[str, int]] = {
    True: {"SHK": 22, "MP-3": 22, "CEN-1": 10, "CRT-1": 12, "MWD": 20, "MTR": 14},
    False: {"SHK": 33, "CEN-1": 15, "CRT-1": 18, "MWD": 20, "MTR": 14},
}

DESCRIPTIONS: Mapping[str, str] = {
    "TDS-1": "Top drive, 500 t, AC", "MP-1": "Triplex mud pump 1, 1600 hp", "MP-2": "Triplex mud pump 2, 1600 hp",
    "MP-3": "Triplex mud pump 3, 1600 hp", "DW-1": "Drawworks, 2000 hp", "GEN-1": "Diesel generator set 1",
    "GEN-2": "Diesel generator set 2", "GEN-3": "Diesel generator set 3", "BOP-ANN": "Annular preventer 13-5/8in 5M",
    "BOP-RAM": "Double ram preventer 13-5/8in 10M", "KOO-1": "BOP control unit", "IR-1": "Iron roughneck",
    "PHM-1": "Pipe handling machine", "SCR-1": "SCR house", "DGS-1": "Vacuum degasser", "AIR-1": "Rig air compressor",
    "CHK-1": "Choke manifold 10M", "SHK": "Shale shakers, linear, set of three", "CEN-1": "Decanting centrifuge",
    "CRT-1": "Casing running tool, top drive mounted", "MWD": "MWD surface and downhole kit",
    "MTR": "Downhole motors", "CRN-1": "Crown block", "TRV-1": "Travelling block", "ROT-1": "Rotary table 37-1/2in",
    "TNK-1": "Active mud tanks", "MIX-1": "Mixing hopper and mixing skid",
}  # fmt: skip
OTHER_TAGS = ("CRN-1", "TRV-1", "ROT-1", "TNK-1", "MIX-1")  #: on every rig, never the cause of a stop

#: what crews write for an item, on any rig; the first form is the tag as the table of equipment has it
ALIASES: Mapping[str, tuple[str, ...]] = {
    "TDS-1": ("TDS-1", "TDS", "top drive", "topdrive", "top drv"),
    "MP-1": ("MP-1", "MP#1", "No.1 pump", "mud pump 1", "#1 mud pump", "pump no 1"),
    "MP-2": ("MP-2", "MP#2", "No.2 pump", "mud pump 2", "#2 mud pump", "pump no 2"),
    "MP-3": ("MP-3", "MP#3", "No.3 pump", "mud pump 3"),
    "DW-1": ("DW-1", "drawworks", "draw works", "drwks", "drawwroks"),
    "GEN-1": ("GEN-1", "gen 1", "gen #1", "No.1 gen", "genrator 1"),
    "GEN-2": ("GEN-2", "gen 2", "gen #2", "No.2 gen", "genrator 2"),
    "GEN-3": ("GEN-3", "gen 3", "gen #3", "No.3 gen", "genrator 3"),
    "BOP-ANN": ("BOP annular", "annular", "annular preventer", "anular"),
    "BOP-RAM": ("BOP rams", "pipe rams", "ram BOP", "blind rams"),
    "KOO-1": ("koomey", "koomey unit", "accumulator", "acumulator"),
    "IR-1": ("IR-1", "iron roughneck", "iron rougneck", "roughneck"),
    "PHM-1": ("PHM", "pipe handler", "pipehandler", "pipe handling arm"),
    "SCR-1": ("SCR", "SCR house", "SCR bay 2"),
    "DGS-1": ("degasser", "vac degasser", "degaser"),
    "AIR-1": ("air compressor", "rig air", "compressor", "compresor"),
    "CHK-1": ("choke manifold", "choke mnfld", "choke"),
    "SHK": ("shaker", "shale shaker", "shakers", "shaker 2", "skaker"),
    "CEN-1": ("centrifuge", "dec centrifuge", "centrfuge"),
    "CRT-1": ("top drive CRT", "CRT on top drive", "top drive csg tool", "CRT"),
    "MWD": ("MWD", "MWD tool", "MWD pulser"),
    "MTR": ("mud motor", "mud mtr", "PDM"),
}
#: names that only one crew uses
RIG_ALIASES: tuple[tuple[str, str, str], ...] = (
    ("HD-11", "blue pump", "MP-1"),
    ("OK-3", "north gen", "GEN-2"),
    ("OK-7", "Wirth pump", "MP-2"),
    ("VM-201", "yellow pump", "MP-3"),
)
UNSPOKEN = frozenset({"CRT"})  #: in the table, but crews always say on which drive


@dataclass(frozen=True, slots=True)
class Contact:
    """A row of ``contacts.csv``. ``contractor`` holds the contractor's letters, or nothing for the operator's people."""

    name: str
    role: str
    rig: str
    email: str
    contractor: str


def _contacts() -> list[Contact]:
    domains = {"HD": "hollindrilling.example", "OK": "okanto.example", "VM": "vantmar.example"}
    managers = {
        "HD-11": "Gareth Pike", "HD-14": "Maeve Tresillian", "HD-19": "Oskar Lindqvist", "OK-3": "Adaeze Nakale",
        "OK-5": "Tomasz Wierzba", "OK-7": "Farid Benali", "VM-201": "Jorunn Eikeland", "VM-204": "Luca Bertolini",
    }  # fmt: skip
    company_men = {
        "HD-11": "Stuart Galbraith", "HD-14": "Nadia Rahmani", "HD-19": "Piotr Zielony", "OK-3": "Clive Hathersage",
        "OK-5": "Ruth Abernethy", "OK-7": "Emre Aksoy", "VM-201": "Hanna Vesterlund", "VM-204": "Diego Carrasco",
    }  # fmt: skip
    accounts = {"HD": "Moira Tennant", "OK": "Segun Adeyemi", "VM": "Ingrid Solheim"}
    people = [
        Contact(name, "Rig Manager", rig, _address(name, domains[rig[:2]]), rig[:2]) for rig, name in managers.items()
    ]
    people += [
        Contact(name, "Company Representative", rig, _address(name, "tessaly.example"), "")
        for rig, name in company_men.items()
    ]
    people += [
        Contact(name, "Contract Accounts", "", _address(name, domains[letters]), letters)
        for letters, name in accounts.items()
    ]
    return people


def _address(name: str, domain: str) -> str:
    return f"{name.lower().replace(' ', '.')}@{domain}"


CONTACTS: tuple[Contact, ...] = tuple(_contacts())

#: initials that sign the reports of a rig, by turns: operator's, contractor's
INITIALS: Mapping[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "HD-11": (("SG", "KM"), ("WB", "RD")), "HD-14": (("NR", "LO"), ("TC", "JF")), "HD-19": (("PZ", "AH"), ("SM", "GW")),
    "OK-3": (("CH", "VK"), ("IO", "BE")), "OK-5": (("RA", "DS"), ("UN", "KA")), "OK-7": (("EA", "MT"), ("CO", "FE")),
    "VM-201": (("HV", "QL"), ("TH", "OB")), "VM-204": (("DC", "YA"), ("EN", "PS")),
}  # fmt: skip

#: pads of each rig in the order in which it drills them; a well is "<pad> <n>, Slot <n>"
PADS: Mapping[str, tuple[str, ...]] = {
    "HD-11": ("Sarrat North", "Kell", "Orme West"), "HD-14": ("Tamar", "Sarrat South", "Lodd"),
    "HD-19": ("Ibex", "Ostrava Ridge", "Kell East"), "OK-3": ("Marrow", "Danno", "Perrin"),
    "OK-5": ("Vale", "Hexham", "Tamar West"), "OK-7": ("Coldwell", "Ibex South", "Marrow East"),
    "VM-201": ("Auster", "Brent Fork", "Danno South"), "VM-204": ("Pellow", "Vale East", "Auster North"),
}  # fmt: skip


def tags_of(rig: str) -> tuple[str, ...]:
    """Equipment tags of a rig, as the register lists them."""
    third_pump = ("MP-3",) if rig in RIGS_WITH_THIRD_PUMP else ()
    return (*CONTRACTOR_SHARES, *third_pump, "SHK", "CEN-1", "CRT-1", *LISTED_TAGS, *OTHER_TAGS)


def names_of(rig: str, tag: str) -> list[str]:
    """What the crew of ``rig`` writes for ``tag``, its own name for it included."""
    own = [alias for where, alias, what in RIG_ALIASES if where == rig and what == tag]
    return [alias for alias in ALIASES[tag] if alias not in UNSPOKEN] + own


def alias_rows() -> list[tuple[str, str, str]]:
    """Rows of ``equipment_alias.csv``: rig or ``*``, alias, tag."""
    return [("*", alias, tag) for tag, aliases in ALIASES.items() for alias in aliases] + list(RIG_ALIASES)


def contractor_of(rig: str) -> str:
    """The contractor's letters: ``HD-11`` → ``HD``."""
    return rig.partition("-")[0]


if set(INITIALS) != set(RIGS) or set(PADS) != set(RIGS):
    raise AssertionError("every rig needs initials and pads")

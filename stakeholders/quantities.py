"""Numbers as people write them, in English and Chinese: 0.62, 62 %, 62 in 100, 六成二, eleven, 1 h 30, 一个半小时."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from stakeholders.plain_text import Span, normalise

MOST_DIGITS = 20  #: of a number; what is longer counts nothing at any customer
MOST_QUANTITIES = 100  #: read of one message; long before, it points at nothing

# Families of units that can be turned into each other: unit → (family, factor).
_UNITS: dict[str, tuple[str, Fraction]] = {
    "%": ("share", Fraction(1, 100)),
    "s": ("time", Fraction(1, 3600)), "min": ("time", Fraction(1, 60)), "h": ("time", Fraction(1)),
    "d": ("days", Fraction(1)), "wk": ("days", Fraction(7)), "fortnight": ("days", Fraction(14)),
    "month": ("months", Fraction(1)), "year": ("months", Fraction(12)),
    "mm": ("length", Fraction(1, 1000)), "cm": ("length", Fraction(1, 100)), "m": ("length", Fraction(1)),
    "km": ("length", Fraction(1000)), "ft": ("feet", Fraction(1)),
    "kg": ("mass", Fraction(1)), "t": ("mass", Fraction(1000)),
    "usd": ("usd", Fraction(1)), "eur": ("eur", Fraction(1)), "gbp": ("gbp", Fraction(1)), "cny": ("cny", Fraction(1)),
}  # fmt: skip
_SPELLINGS = {
    "%": "% percent pct per-cent 个百分点", "s": "s sec secs second seconds 秒 秒钟",
    "min": "min mins minute minutes 分钟", "h": "h hr hrs hour hours 小时 个小时 个钟头 钟头",
    "d": "d day days 天 日", "wk": "wk wks week weeks 周 个星期 星期", "fortnight": "fortnight fortnights",
    "month": "month months 个月", "year": "year years yr yrs 年", "mm": "mm millimetre millimetres 毫米",
    "cm": "cm centimetre centimetres centimeter centimeters 厘米", "m": "m metre metres meter meters 米",
    "km": "km kilometre kilometres kilometer kilometers 公里 千米", "ft": "ft foot feet 英尺",
    "kg": "kg kilo kilos kilogram kilograms 公斤 千克", "t": "t tonne tonnes ton tons 吨",
    "usd": "usd $ dollar dollars us$ 美元 美金", "eur": "eur € euro euros 欧元",
    "gbp": "gbp £ pound pounds 英镑", "cny": "cny rmb ¥ yuan 元 块 人民币",
}  # fmt: skip
_UNIT_OF = {spelling.replace("-", " "): unit for unit, names in _SPELLINGS.items() for spelling in names.split()}
_MULTIPLIERS = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "mn": 10**6, "million": 10**6, "bn": 10**9, "billion": 10**9,
    "千": 10**3, "万": 10**4, "亿": 10**8,
}  # fmt: skip
_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6}

_ANY_UNIT = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in sorted(_UNIT_OF, key=len, reverse=True))
_AFTER = rf"(?P<unit>{_ANY_UNIT})(?![A-Za-z0-9])"
_NUMERAL = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?: \d{3})+(?:\.\d+)?(?!\d)|\d+[.,]\d+|\d+|\.\d+"
_DIGITS = re.compile(
    rf"(?<![A-Za-z0-9_.,/])(?<![A-Za-z0-9]-)(?P<sign>[-+]|minus\s+|负)?(?:(?P<money>us\$|[$€£¥])\s?)?(?P<number>{_NUMERAL})"
    rf"(?![.,]?\d|\.\d)(?!(?:st|nd|rd|th)\b)(?P<scale>k\b|mn\b|bn\b|\s?(?:million|billion|thousand)\b|万|亿|千)?"
    rf"(?:\s*{_AFTER})?",
    re.IGNORECASE,
)
_FRACTION = re.compile(r"(?<![\w/.,-])(?P<above>\d{1,3})/(?P<below>\d{1,3})(?![\d/])(?:\s+of\b)?")
_SMALL = "|".join(sorted(_WORDS, key=len, reverse=True))
_NO_UNIT = rf"(?!\s*(?:{_ANY_UNIT})(?![A-Za-z0-9]))"
_EVERY = r"(?:\s+(?:every|each|any|an?|the))*\s+"
_SHARE_OF = re.compile(
    # "of ten" alone may be a count of what there is; of a hundred, the count and the share are the same number
    rf"(?<![\w.,/$€£¥+-])(?P<part>\d{{1,3}}(?:\.\d+)?|(?:{_SMALL})(?:[\s-](?:{_SMALL}))?)(?![\w.,]){_NO_UNIT}"
    rf"(?:(?:\s+[a-z]+){{0,2}}?\s+(?:in|of|per|out\s+of){_EVERY}(?P<hundred>100|(?:one\s+)?hundred)"
    rf"|\s+(?:in|out\s+of|of\s+every|of\s+each){_EVERY}(?:10|ten))(?![\w-]|[.,]\d|\s+(?:thousand|million)\b){_NO_UNIT}",
    re.IGNORECASE,
)
_HOURS_MINUTES = re.compile(
    r"(?<![A-Za-z0-9.,])(?P<hours>\d{1,3})\s?(?:h|hrs?|hours?|小时)\s?(?:and\s)?(?P<minutes>\d{1,2})"
    r"(?:\s?(?:m|min|mins|minutes|分钟?)(?![A-Za-z]))?(?![\d.,])|(?<![\d.:])(?P<clock_h>\d{1,3}):(?P<clock_m>[0-5]\d)\s?(?:h|hours?)\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\d.:])\d{1,2}:\d{2}(?::\d{2})?(?!:?\d)")
_RANGE_MINUS = re.compile(r"(?<=\d)-(?=\d)")

_DIGIT_CHARS = "零一二三四五六七八九"
_RUN = "[〇零一二两三四五六七八九十百千万亿]+"
_MEASURES = "个條条次行份台件人起班份页户张封倍项名笔单轮块只辆根口例元成%％"
_CHINESE_SHARE = re.compile(rf"百分之(?P<number>{_RUN}(?:点{_RUN})?|\d+(?:\.\d+)?)")
_CHINESE_TENTHS = re.compile(r"(?P<tenths>[一二两三四五六七八九]|\d)成(?P<rest>[一二三四五六七八九半]|\d)?")
_HALF_HOURS = re.compile(
    # a number is tried from its beginning alone: from each of its digits, thousands of them would take seconds
    rf"(?P<number>(?<!{_RUN[:-1]}){_RUN}|(?<!\d)\d+)\s*个半\s*(?P<unit>小时|钟头|月|星期|天)?|半个?(?P<alone>小时|钟头|天|年)"
)
_CHINESE_UNITS = "|".join(name for name in sorted(_UNIT_OF, key=len, reverse=True) if not name.isascii())
_CHINESE_RUN = re.compile(
    rf"(?<![第周期拜月年])(?P<sign>负)?(?P<number>{_RUN}(?:点{_RUN})?)"
    rf"(?=(?P<unit>{_CHINESE_UNITS})|(?P<measure>[{_MEASURES}])?)"
)
_ENGLISH_RUN = re.compile(
    r"\b(?P<sign>minus\s+)?(?P<words>(?:" + "|".join((*_WORDS, *_SCALES, "half", "quarters?", "thirds?"))
    + r"|a|an|and|point)(?:[\s-]+(?:" + "|".join((*_WORDS, *_SCALES, "half", "quarters?", "thirds?"))
    + rf"|a|an|and|point|of))*)\b(?:[\s-]*{_AFTER})?(?:\s+and\s+a\s+(?P<more>half|quarter)\b)?",
    re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text. ``weak`` ones ("one", "a half", 一个) are read, but are no sign of a list of guesses."""

    span: Span
    value: Fraction
    unit: str | None = None
    weak: bool = False

    def means(self, wanted: float, tolerance: float, unit: str | None, *, unit_required: bool, signed: bool) -> bool:
        """Whether this is ``wanted`` ± ``tolerance`` (given in ``unit``), in whichever notation."""
        own = canonical_unit(self.unit)
        target = canonical_unit(unit)
        if unit_required and target is not None and own is None:
            return False
        for candidate in _candidates(self.value, own, target):
            near = candidate if signed else abs(candidate)
            goal = Fraction(str(wanted)) if signed else abs(Fraction(str(wanted)))
            if abs(near - goal) <= Fraction(str(tolerance)) + Fraction(1, 10**9):
                return True
        return False


def canonical_unit(text: str | None) -> str | None:
    """The unit's one name (hours → h, percent → %), or the text itself where it is none of ours."""
    if text is None:
        return None
    spelled = re.sub(r"\s+", " ", normalise(text).casefold().strip())
    return _UNIT_OF.get(spelled, spelled)


def _candidates(value: Fraction, own: str | None, target: str | None) -> list[Fraction]:
    """What the number is in the wanted unit; nothing where the units contradict each other."""
    if own == "%" and target in (None, "%"):
        return [value, value / 100]
    if target == "%":
        if own is not None:
            return []
        return [value, value / 100, value * 100] if abs(value) <= 1 else [value, value / 100]
    if own is None or target is None or own == target:
        return [value]
    if own in _UNITS and target in _UNITS:
        (family, factor), (target_family, target_factor) = _UNITS[own], _UNITS[target]
        return [value * factor / target_factor] if family == target_family else []
    return [] if own in _UNITS and target in _UNITS else [value]


def find_quantities(text: str) -> list[Quantity]:
    """Every number of a normalised text, in order. Clock times, ordinals and numbers inside names are none."""
    text = _RANGE_MINUS.sub(" ", text)
    found: list[Quantity] = []

    def add(span: Span, value: Fraction | None, unit: str | None = None, *, weak: bool = False) -> None:
        if value is None or len(found) >= MOST_QUANTITIES:
            return
        if not any(span.overlaps(other.span) for other in found):
            found.append(Quantity(span, value, unit, weak))

    for match in _HOURS_MINUTES.finditer(text):
        hours, minutes = match["hours"] or match["clock_h"], match["minutes"] or match["clock_m"]
        if int(minutes) < 60:
            add(Span(*match.span()), int(hours) + Fraction(int(minutes), 60), "h")
    clocks = [Span(*match.span()) for match in _CLOCK.finditer(text)]
    for match in _FRACTION.finditer(text):
        if int(match["below"]):
            add(Span(*match.span()), Fraction(int(match["above"]), int(match["below"])), weak=True)
    for read in (_shares_of, _chinese_quantities, _digit_quantities, _english_quantities):
        for quantity in read(text):
            if not any(quantity.span.overlaps(clock) for clock in clocks):
                add(quantity.span, quantity.value, quantity.unit, weak=quantity.weak)
    return sorted(found, key=lambda quantity: quantity.span.start)


def read_quantity(text: str) -> Quantity | None:
    """The one number that the whole text is ("eleven", "11 h"), or None."""
    plain = normalise(text).strip()
    found = find_quantities(plain)
    return found[0] if len(found) == 1 and found[0].span.length == len(plain) else None


def _shares_of(text: str) -> list[Quantity]:
    """So many in ten or in a hundred: one number, as "%" is, and not two."""
    found = []
    for match in _SHARE_OF.finditer(text):
        part = match["part"]
        counted = Fraction(part) if part[0].isdigit() else _english_value(re.findall(r"[a-z]+", part.casefold()))
        whole = 100 if match["hundred"] else 10
        if counted is not None and counted <= whole:
            found.append(Quantity(Span(*match.span()), counted * 100 / whole, "%"))
    return found


def _digit_quantities(text: str) -> list[Quantity]:
    found = []
    for match in _DIGITS.finditer(text):
        written = match["number"].replace(" ", "")
        if len(written) > MOST_DIGITS:
            continue
        if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", written):
            written = written.replace(",", "")
        value = Fraction(written.replace(",", "."))
        if match["scale"]:
            value *= _MULTIPLIERS[match["scale"].strip().casefold()]
        if match["sign"] and match["sign"].strip().casefold() in ("-", "minus", "负"):
            value = -value
        unit = match["unit"] or match["money"]
        found.append(Quantity(Span(*match.span()), value, canonical_unit(unit)))
    return found


def _chinese_quantities(text: str) -> list[Quantity]:
    found = []
    for match in _CHINESE_SHARE.finditer(text):
        value = _chinese_value(match["number"])
        if value is not None:
            found.append(Quantity(Span(*match.span()), value, "%"))
    for match in _CHINESE_TENTHS.finditer(text):
        tenths, rest = _chinese_value(match["tenths"]), match["rest"]
        hundredths = Fraction(5) if rest == "半" else _chinese_value(rest) if rest else Fraction(0)
        if tenths is not None and hundredths is not None:
            found.append(Quantity(Span(*match.span()), tenths * 10 + hundredths, "%"))
    for match in _HALF_HOURS.finditer(text):
        unit = match["unit"] or match["alone"]
        whole = Fraction(0) if match["alone"] else _chinese_value(match["number"])
        if whole is not None:
            named = {"钟头": "h", "月": "month", "星期": "wk"}.get(unit, unit) if unit else None
            found.append(Quantity(Span(*match.span()), whole + Fraction(1, 2), canonical_unit(named)))
    for match in _CHINESE_RUN.finditer(text):
        number, unit, measure = match["number"], match["unit"], match["measure"]
        value = _chinese_value(number)
        if value is None or (len(number) == 1 and not unit and not measure):
            continue
        end = match.end() + (len(unit) if unit else 0)
        signed = -value if match["sign"] else value
        found.append(Quantity(Span(match.start(), end), signed, canonical_unit(unit), weak=number == "一"))
    return found


def _chinese_value(text: str) -> Fraction | None:
    """Value of digits or a Chinese numeral, with 点 for the decimal point; None if it is no numeral."""
    if len(text) > MOST_DIGITS:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return Fraction(text)
    whole, _, decimals = text.replace("〇", "零").replace("两", "二").partition("点")
    if decimals and any(char not in _DIGIT_CHARS for char in decimals):
        return None
    if len(whole) > 1 and all(char in _DIGIT_CHARS for char in whole):
        value: int | None = int("".join(str(_DIGIT_CHARS.index(char)) for char in whole))
    else:
        value = _chinese_integer(whole)
    if value is None:
        return None
    digits = "".join(str(_DIGIT_CHARS.index(char)) for char in decimals)
    return Fraction(value) + (Fraction(int(digits), 10 ** len(digits)) if digits else 0)


def _chinese_integer(text: str) -> int | None:
    total, section, digit = 0, 0, None
    for position, char in enumerate(text):
        if char in _DIGIT_CHARS:
            digit = _DIGIT_CHARS.index(char)
        elif char in "十百千":
            if digit is None and not (char == "十" and position == 0):
                return None
            section += (1 if digit is None else digit) * {"十": 10, "百": 100, "千": 1000}[char]
            digit = None
        else:
            if position == 0:
                return None
            total, section, digit = (total + section + (digit or 0)) * {"万": 10**4, "亿": 10**8}[char], 0, None
    return total + section + (digit or 0)


def _english_quantities(text: str) -> list[Quantity]:
    found = []
    for match in _ENGLISH_RUN.finditer(text):
        groups = _number_groups(match)
        unit = match["unit"]
        more = {"half": Fraction(1, 2), "quarter": Fraction(1, 4)}.get((match["more"] or "").casefold(), Fraction(0))
        if not groups and more and unit:  # "an hour and a half"
            groups = [([], Span(match.start(), match.end()))]
        for position, (words, span) in enumerate(groups):
            value = _english_value(words) if words else Fraction(1)
            if value is None:
                continue
            last = position == len(groups) - 1
            value = value + more if last else value
            if match["sign"] and position == 0:
                value = -value
            weak = value <= 1 and words[:1] in ([], ["one"], ["half"], ["a"], ["an"])
            whole = Span(match.start() if position == 0 else span.start, match.end() if last else span.end)
            counted_in = unit if last and not _per(match["words"], words) else None
            found.append(Quantity(whole, value, canonical_unit(counted_in), weak=weak))
    return found


def _per(run: str, words: list[str]) -> bool:
    """Whether the unit says how often ("six a month") and not what is counted ("half an hour", "six months")."""
    trailing = re.search(r"\ban?$", run.strip(), re.IGNORECASE) is not None
    return trailing and bool(words) and words[-1].rstrip("s") not in ("half", "quarter", "third")


def _number_groups(match: re.Match[str]) -> list[tuple[list[str], Span]]:
    """A run of number words cut into numbers: "three and four" are two, "one hundred and five" is one."""
    groups: list[tuple[list[str], Span]] = []
    words: list[str] = []
    start = end = 0
    tokens = [(word[0].casefold(), word.start(), word.end()) for word in re.finditer(r"[a-z]+", match["words"], re.I)]
    for index, (word, first, last) in enumerate(tokens):
        following = [later.rstrip("s") for later, _, _ in tokens[index + 1 : index + 3]]
        before = [earlier for earlier in words if earlier not in ("a", "an", "and")]
        fraction_follows = any(later in ("half", "quarter", "third") for later in following)
        cut = bool(before) and (
            (word == "and" and before[-1] not in _SCALES and not fraction_follows)
            or (word in _WORDS and "and" not in words and "point" not in words and not _may_follow(word, before[-1]))
        )
        if cut:
            groups.append((words, Span(start, end)))
            words = []
        if not words and word in ("and", "of", "point"):
            continue
        if not words:
            start = first
        words, end = [*words, word], last
    groups.append((words, Span(start, end)))
    offset = match.start("words")
    kept = []
    for group, span in groups:
        while group and group[-1] in ("a", "an", "and", "of", "point"):
            group = group[:-1]
        if group:
            kept.append((group, Span(offset + span.start, offset + span.end)))
    return kept


def _may_follow(word: str, before: str) -> bool:
    """Whether a number word goes on with the number before it: "twenty five", "hundred five"."""
    if before in _SCALES or word == "dozen":
        return True
    return before in _WORDS and _WORDS[before] >= 20 and _WORDS[before] % 10 == 0 and 0 < _WORDS[word] < 10


def _english_value(words: list[str]) -> Fraction | None:
    """Value of number words: "two and a half", "one hundred and five", "one point five", "three quarters"."""
    if "point" in words:
        at = words.index("point")
        whole = _english_value(words[:at])
        digits = [_WORDS.get(word) for word in words[at + 1 :]]
        if whole is None or not digits or any(digit is None or digit > 9 for digit in digits):
            return None
        decimals = "".join(str(digit) for digit in digits)
        return whole + Fraction(int(decimals), 10 ** len(decimals))
    total, current, part, seen = 0, 0, Fraction(0), False
    ends_in_a_fraction = words[-1].rstrip("s") in ("half", "quarter", "third")
    for word in words:
        name = word.rstrip("s")
        if word == "and" and ends_in_a_fraction:  # "one and three quarters": the three is not added to the one
            total, current = total + current, 0
        if name in ("half", "quarter", "third"):
            unit = {"half": Fraction(1, 2), "quarter": Fraction(1, 4), "third": Fraction(1, 3)}[name]
            if current and word.endswith("s"):
                part, current = current * unit, 0
            else:
                part = unit
            seen = True
        elif word in _WORDS:
            value = _WORDS[word]
            current = current * value if value == 12 and word == "dozen" and current else current + value
            seen = True
        elif word in _SCALES:
            current = max(current, 1) * _SCALES[word]
            if _SCALES[word] > 100:
                total, current = total + current, 0
            seen = True
    return total + current + part if seen else None

"""``manage.py matchreport``: each figure stands beside its limit, and one line says what admission would make of them."""

from __future__ import annotations

from fdegym.authoring.management.commands.matchreport import judged
from stakeholders.matcher.figures import Figures, Share


def figures(**changes: Share) -> Figures:
    found = Figures(
        given={("all", "en"): Share(90, 100), ("all", "zh"): Share(85, 100), ("ann", "en"): Share(1, 100)},
        right={("all", "en"): Share(95, 100)},
        two_part=Share(85, 100),
        gates=Share(97, 100),
        wrongly={"neighbour": Share(5, 100)},
    )
    for name, share in changes.items():
        setattr(found, name, share)
    return found


def test_figures_at_their_limits_hold() -> None:
    *rows, verdict = judged(figures())
    assert verdict == "All of this holds."
    assert "answered rightly at first try (en)            0.900    100  at least 0.90 holds" in rows
    assert "answered though neighbour                     0.050    100  at most 0.05  holds" in rows


def test_a_figure_beyond_its_limit_is_marked_and_counted() -> None:
    *rows, verdict = judged(figures(two_part=Share(84, 100), wrongly={"fishing": Share(6, 100)}))
    assert verdict == "2 of these would fail the scenario."
    assert [row.split()[0] for row in rows if row.endswith("FAILS")] == ["two", "answered"]


def test_what_nothing_was_counted_of_is_left_out() -> None:
    *rows, _ = judged(figures(gates=Share()))
    assert not any(row.startswith("gates right") for row in rows)

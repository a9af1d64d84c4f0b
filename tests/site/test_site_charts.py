"""Geometry of the pictures."""

from __future__ import annotations

from decimal import Decimal

from fdegym.pages import charts

RESOLVED_AT = Decimal("0.8")


def drawn(uplift, adjusted, cost, score):
    return charts.waterfall(*(Decimal(str(value)) for value in (uplift, adjusted, cost, score)), RESOLVED_AT)


def test_the_waterfall_goes_from_u_over_incidents_and_contacts_to_s():
    picture = drawn(0.9, 0.9, 0.05, 0.85)
    work, incidents, contacts, score = picture.bars
    assert (picture.zero, picture.threshold) == (0.0, 800.0)
    assert (work.x, work.width, work.kind) == (0.0, 900.0, "gain")
    assert (incidents.width, incidents.kind) == (0.0, "none")
    assert (contacts.x, contacts.width, contacts.kind) == (850.0, 50.0, "loss")
    assert (score.x, score.width, score.kind) == (0.0, 850.0, "total")


def test_an_incident_takes_back_all_that_was_gained():
    _, incidents, contacts, score = drawn(0.9, 0.0, 0.1, -0.1).bars
    assert incidents.value == Decimal("-0.9")
    assert incidents.kind == "loss"
    assert contacts.x < score.x + score.width  # both lie left of zero
    assert score.value == Decimal("-0.1")


def test_a_ruinous_delivery_is_cut_at_the_edge_and_marked():
    work, *_ = drawn(-400, -400, 0, -400).bars
    assert work.cut
    assert 0.0 <= work.x <= charts.SIZE
    assert work.width <= charts.SIZE


def test_bars_of_a_comparison_share_one_scale_from_zero():
    baseline, delivered, reference = charts.comparison({"baseline": -100.0, "delivered": 200.0, "reference": 300.0})
    assert baseline.x == 0.0
    assert delivered.x == reference.x == baseline.x + baseline.width == 250.0
    assert (delivered.width, reference.width) == (500.0, 750.0)


def test_a_line_breaks_where_a_value_is_missing():
    section = {"x": ["a", "b", "c", "d"], "series": [{"name": "yours", "values": [1, None, float("nan"), 4]}]}
    chart = charts.series(section)
    assert chart is not None
    assert chart.lines[0].path.count("M") == 2
    assert chart.lines[0].values == (1.0, None, None, 4.0)


def test_nothing_is_drawn_of_a_series_without_a_number():
    assert charts.series({"x": ["a"], "series": [{"name": "yours", "values": ["many"]}]}) is None
    assert charts.series({"x": [], "series": []}) is None


def test_lines_of_one_picture_differ_in_their_strokes():
    lines = [{"name": name, "values": [1, 2]} for name in ("Credited", "reference", "On hold", "Without ground")]
    chart = charts.series({"x": ["a", "b"], "series": lines})
    assert chart is not None
    assert [line.style for line in chart.lines] == ["series", "reference", "second", "third"]


def test_what_was_found_and_the_reference_have_their_own_strokes():
    section = {"x": ["a"], "series": [{"name": "As found", "values": [1]}, {"name": "reference", "values": [2]}]}
    chart = charts.series(section)
    assert chart is not None
    assert [line.style for line in chart.lines] == ["baseline", "reference"]

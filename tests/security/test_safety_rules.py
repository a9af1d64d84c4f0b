"""The rules of `ops/safety.py` find what they are for, leave the rest alone, and hold for the product as it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "ops"))

import safety

RULES = {rule.name: rule for rule in safety.RULES}
CASES = {
    "trusted-template": (
        ["{{ name|safe }}", "{{ name | safe }}", "{% autoescape off %}"],
        ["{{ name|escape }}", "{{ name|safely }}", "{% autoescape on %}"],
    ),
    "inline-handler": (
        ['<a href="/" onclick="x()">', "<img\n onerror=x>", "<body ONLOAD = x>"],
        ['<a data-once href="/">', '<p>when on = off</p><input name="one">'],
    ),
    "inline-script": (
        ["<script>x()</script>", '<script src="/a.js">'],
        ['<script src="/a.js" nonce="{{ request.csp_nonce }}" defer>', '<script nonce="x">'],
    ),
    "address": (['<a href="javascript:x()">'], ['<script src="js/site.js">']),
    "markup": (
        ["a.innerHTML = b", "a.outerHTML += b", 'a.insertAdjacentHTML("beforeend", b)', "document.write(a)"],
        ["a.textContent = b", "const html = a.innerHTML;"],
    ),
    "program": (['eval("1")', "new Function(a)", 'setTimeout("x()", 1)'], ["setTimeout(x, 1)", "evaluate(a)"]),
    "no-token": (["@csrf_exempt"], ["ensure_csrf_cookie"]),
    "silenced": (["x  # noqa: S603", "x  #noqa: S608"], ["x  # noqa: S603 - words of our own", "x  # noqa: S101"]),
}


def test_every_rule_is_tried_here() -> None:
    assert CASES.keys() == RULES.keys()


@pytest.mark.parametrize("name", CASES)
def test_the_rule(name: str) -> None:
    caught, left = CASES[name]
    for text in caught:
        assert list(safety.broken(RULES[name], f"first line\n{text}\n")) == [2], text
    for text in left:
        assert list(safety.broken(RULES[name], text)) == [], text


def test_it_holds_for_the_product() -> None:
    assert safety.problems() == []


def test_a_place_that_is_allowed_for_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(safety, "ALLOWED", {("markup", "static/js/gone.js"): "why"})
    assert safety.problems(tmp_path) == ["static/js/gone.js: markup is allowed there and not used"]

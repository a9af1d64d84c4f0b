"""What holds for every page: strict policy, no inline code, usable without JavaScript, labelled, small."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.urls import reverse

from tests.site.conftest import BAKERY

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = [path for path in sorted((ROOT / "templates").rglob("*.html")) if "workbench" not in path.parts]
VOID = {"meta", "link", "input", "img", "br", "hr", "line", "rect", "path"}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_template_has_no_inline_style_script_or_handler(template):
    text = template.read_text()
    assert not re.search(r"\sstyle=", text)
    assert "<style" not in text
    assert not re.search(r"\son[a-z]+=", text)
    assert "javascript:" not in text
    for script in re.findall(r"<script[^>]*>", text):
        assert "src=" in script
        assert "nonce=" in script


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_htmx_fetches_has_an_address_that_works_without_it(template):
    text = template.read_text()
    if "hx-get" in text:
        assert template.name == "grading_progress.html"  # its page reloads itself without JavaScript
    assert "hx-post" not in text
    for form in re.findall(r"<form[^>]*>", text):
        assert "method=" in form
        assert 'method="get"' in form or "{% csrf_token %}" in text


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_template_marks_a_value_as_safe_by_itself(template):
    text = template.read_text()
    assert "|safe" not in text
    assert "autoescape" not in text


class Page(HTMLParser):
    """Open elements, ids, labels and controls of a page."""

    def __init__(self):
        super().__init__()
        self.open, self.problems = [], []
        self.ids, self.targets, self.controls, self.headings = [], [], [], []
        self.in_label = False

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        self.targets += [given[key] for key in ("for", "aria-labelledby") if key in given]
        self.targets += str(given.get("aria-describedby", "")).split()
        if tag in ("input", "select", "textarea") and given.get("type") != "hidden":
            labelled = "label" in self.open or "aria-label" in given
            self.controls.append((given.get("id"), labelled))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "img" and "alt" not in given:
            self.problems.append("an image without alt")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()


@pytest.fixture
def addresses(alice, graded, submitted, runs_at_bakery):
    """Every page of the site, for alice, who has runs in all states."""
    done, waiting, open_run = graded(alice), submitted(alice), runs_at_bakery(alice)
    plain = [
        "home",
        "scenarios",
        "leaderboard",
        "method",
        "help",
        "runs",
        "workspaces",
        "profile",
        "profile-erase",
        "account_change_password",
    ]
    return [
        *(reverse(name) for name in plain),
        reverse("account_logout"),
        reverse("scenario", args=[BAKERY]),
        reverse("leaderboard-scenario", args=[BAKERY]),
        reverse("leaderboard-scenario", args=[BAKERY]) + "?view=best",
        reverse("grading", args=[waiting.id]),
        reverse("debrief", args=[done.id]),
        reverse("run-give-up", args=[open_run.id]),
        "/nothing/here/",
    ]


def test_every_page_is_well_formed_labelled_and_has_one_title(addresses, alice, visit):
    browser = visit(alice)
    for address in addresses:
        html = browser.get(address).content.decode()
        page = Page()
        page.feed(html)
        assert page.problems == [], (address, page.problems)
        assert page.open == [], (address, page.open)
        assert len(page.ids) == len(set(page.ids)), (address, "an id twice")
        assert set(page.targets) <= set(page.ids), (address, set(page.targets) - set(page.ids))
        labels = set(page.targets)
        assert all(labelled or name in labels for name, labelled in page.controls), (address, page.controls)
        assert page.headings.count(1) == 1, address
        steps = zip(page.headings, page.headings[1:], strict=False)
        assert all(after <= before + 1 for before, after in steps), (address, page.headings)
        assert '<meta name="viewport"' in html


def test_every_page_comes_with_the_strict_policy_and_its_own_nonce(addresses, alice, visit):
    browser, nonces = visit(alice), set()
    for address in addresses:
        answer = browser.get(address)
        policy = answer.headers["Content-Security-Policy"]
        for part in ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"):
            assert part in policy
        scripts = re.search(r"script-src ([^;]*)", policy).group(1)
        assert "unsafe" not in scripts
        nonce = re.search(r"'nonce-([^']+)'", scripts).group(1)
        tags = re.findall(r"<script[^>]*>", answer.content.decode())
        assert tags
        assert all(f'nonce="{nonce}"' in tag for tag in tags)
        nonces.add(nonce)
    assert len(nonces) == len(addresses)


def test_pages_load_nothing_from_elsewhere(addresses, alice, visit):
    browser = visit(alice)
    for address in addresses:
        html = browser.get(address).content.decode()
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', html), address


def test_error_pages_that_stand_alone_need_nothing(db):
    from django.template.loader import render_to_string

    for name in ("500.html", "400.html", "403_csrf.html"):
        html = render_to_string(name)
        page = Page()
        page.feed(html)
        assert page.problems == []
        assert page.open == []
        assert "<script" not in html


def test_the_stylesheet_is_small_layered_and_keeps_to_the_scales():
    css = (ROOT / "static" / "css" / "site.css").read_text()
    assert len(css.encode()) < 30_000
    assert css.startswith("@layer reset, tokens, base, components, pages;")
    sizes = set(re.findall(r"font(?:-size)?:[^;]*?(\d*\.?\d+(?:px|rem|pt))", css.split("@media print")[0]))
    assert sizes <= set(), f"sizes outside the scale: {sizes}"
    assert "prefers-reduced-motion" in css
    assert ":focus-visible" in css
    assert "@media print" in css


def colours():
    css = (ROOT / "static" / "css" / "site.css").read_text()
    return {name: pair for name, *pair in re.findall(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)", css)}


def contrast(one, other):
    """WCAG 2.2, relative luminance."""

    def luminance(colour):
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_every_ground_in_both_themes(scheme):
    palette = {name: pair[scheme] for name, pair in colours().items()}
    pairs = [
        (ink, ground)
        for ink in ("text", "muted", "accent", "good", "warn", "bad")
        for ground in ("bg", "surface", "sunken")
    ]
    pairs += [(name, f"{name}-soft") for name in ("accent", "good", "warn", "bad")]
    pairs += [("text", "accent-soft"), ("muted", "accent-soft"), ("bad", "accent-soft"), ("on-accent", "accent")]
    weak = {pair: round(contrast(palette[pair[0]], palette[pair[1]]), 2) for pair in pairs}
    assert not {pair: ratio for pair, ratio in weak.items() if ratio < 4.5}

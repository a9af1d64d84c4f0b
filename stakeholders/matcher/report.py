"""The matcher's figures as lines to read."""

from __future__ import annotations

from collections.abc import Iterator

from stakeholders.matcher.figures import NEAR, Figures, Miss, Share


def report(figures: Figures, misses: bool = False) -> Iterator[str]:
    """The figures with the bounds within which they would lie in 95 of 100 such samples; ``misses`` lists messages."""
    yield f"{'':<34}{'share  [95 in 100 between]  counted'}"
    for person, language in sorted(figures.given, key=lambda key: (key[0] != "all", key)):
        key = (person, language)
        yield _row(f"{person} ({language}) at first try", figures.given[key])
        yield _row("  right, of those answered", figures.right.get(key, Share()))
        yield _row("  right among others answered", figures.heard.get(key, Share()))
    yield _row("two questions, both answered", figures.two_part)
    yield _row("  and nothing else, in order", figures.two_part_alone)
    if figures.gates.of:
        yield _row("gates right, given the topic", figures.gates)
    for kind, share in sorted(figures.wrongly.items()):
        yield _row(f"answered though {kind.replace('_', ' ')}", share)
    yield _row("small talk acknowledged", figures.acknowledged)
    yield ""
    yield "taken for"
    for (wanted, got), count in figures.confusions.most_common():
        yield f"  {count:3}  {wanted:22} {got}"
    yield ""
    yield f"within {NEAR} of a threshold: {len(figures.near)}"
    yield from _listed(figures.near)
    if misses:
        yield ""
        yield f"misses: {len(figures.misses)}"
        yield from _listed(figures.misses)


def _row(name: str, share: Share) -> str:
    return f"{name:<34}{share}"


def _listed(messages: list[Miss]) -> Iterator[str]:
    for miss in messages:
        yield f"  {miss.person:11} {miss.wanted} -> {miss.got}   [{miss.scores}]"
        yield f"      {miss.message}"

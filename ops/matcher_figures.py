"""Measure a scenario's matcher on the test phrasings that it has never seen.

    python ops/matcher_figures.py oil_npt [--misses] [--speed]

Prints, per person and language, how many on-topic messages are answered rightly at first try, how many of the answered
ones on the right topic, how many messages are answered that should not be, and which topics are taken for which.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "platform")]

from scenarios.kit.phrasings import Phrasings, load_phrasings  # noqa: E402
from stakeholders.matcher import Matcher, TopicInfo  # noqa: E402
from stakeholders.matcher.figures import Figures, measure  # noqa: E402


def topics_of(folder: Path) -> list[TopicInfo]:
    """The topics of ``stakeholders.toml``, read without building the scenario's world."""
    raw = tomllib.loads((folder / "stakeholders.toml").read_text(encoding="utf-8"))
    return [
        TopicInfo(f"{person['id']}/{topic['id']}", person["id"], topic.get("subject"), topic["about"])
        for person in raw["stakeholders"]
        for topic in person.get("topics", [])
    ]


def print_figures(figures: Figures, misses: bool) -> None:
    print(f"{'person':12} {'language':8} {'answered rightly':>18} {'right of answered':>18}")
    for person, language in sorted(figures.given, key=lambda key: (key[0] == "all", key)):
        right = figures.right.get((person, language), "-")
        print(f"{person:12} {language:8} {figures.given[person, language]!s:>18} {right!s:>18}")
    print("\nanswered, but should not be")
    for kind, share in sorted(figures.wrongly.items()):
        print(f"  {kind:12} {share}")
    print(f"\nsmall talk acknowledged    {figures.acknowledged}")
    print(f"two questions, both answered {figures.two_part}, one of them {figures.two_part_half}")
    print("\ntaken for")
    for (wanted, got), count in figures.confusions.most_common():
        print(f"  {count:3}  {wanted:22} {got}")
    if misses:
        print("\nmisses")
        for miss in figures.misses:
            print(f"  {miss.person:11} {miss.wanted} -> {miss.got}   [{miss.scores}]\n      {miss.message}")


def print_speed(matcher: Matcher, phrasings: Phrasings) -> None:
    messages = [message for topic in phrasings.topics.values() for message in (*topic.tests, *topic.tests_zh)]
    messages += [two.message for two in phrasings.two_part]
    taken_ms = []
    for message in messages:
        started = time.perf_counter()
        matcher.match(message, "nobody" if not message else next(iter(phrasings.topics)).split("/")[0])
        taken_ms.append((time.perf_counter() - started) * 1000)
    taken_ms.sort()
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    half, most = taken_ms[len(taken_ms) // 2], taken_ms[int(len(taken_ms) * 0.99)]
    print(f"\nper message: p50 {half:.1f} ms, p99 {most:.1f} ms; memory at most {memory_mb:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario")
    parser.add_argument("--misses", action="store_true", help="list every message that was not treated as it should be")
    parser.add_argument("--speed", action="store_true", help="time every test message")
    parser.add_argument("--cache", type=Path, default=ROOT / "var" / "matcher", help="where fitted weights are kept")
    options = parser.parse_args()
    folder = ROOT / "scenarios" / options.scenario
    phrasings, topics = load_phrasings(folder / "phrasings.toml"), topics_of(folder)
    matcher = Matcher.load(phrasings, topics, options.cache)
    print_figures(measure(matcher, phrasings, topics), options.misses)
    if options.speed:
        print_speed(matcher, phrasings)


if __name__ == "__main__":
    main()

"""Measure a scenario's matcher on the test phrasings that it has never seen.

    python ops/matcher_figures.py oil_npt [--misses] [--speed] [--folds 5]

Prints what ``manage.py matchreport`` prints, without a database or settings. With ``--folds`` the same figures by
cross-validation over the examples, for choosing between ways of matching: the tests are kept for judging the one that
is chosen.
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

from scenarios.kit.phrasings import NegativePhrasings, Phrasings, TopicPhrasings, load_phrasings  # noqa: E402
from stakeholders.matcher import Matcher, TopicInfo  # noqa: E402
from stakeholders.matcher.figures import Figures, measure  # noqa: E402
from stakeholders.matcher.report import report  # noqa: E402


def topics_of(folder: Path) -> list[TopicInfo]:
    """The topics of ``stakeholders.toml``, read without building the scenario's world."""
    raw = tomllib.loads((folder / "stakeholders.toml").read_text(encoding="utf-8"))
    return [
        TopicInfo(f"{person['id']}/{topic['id']}", person["id"], topic.get("subject"), topic["about"])
        for person in raw["stakeholders"]
        for topic in person.get("topics", [])
    ]


def cross_validated(phrasings: Phrasings, topics: list[TopicInfo], folds: int) -> Figures:
    """Every example judged by a matcher that was fitted without its fold; two-part messages are left out."""
    figures = Figures()
    for fold in range(folds):
        parted = {
            name: TopicPhrasings(
                examples=_kept(topic.examples, fold, folds),
                tests=topic.examples[fold::folds],
                examples_zh=_kept(topic.examples_zh, fold, folds),
                tests_zh=topic.examples_zh[fold::folds],
            )
            for name, topic in phrasings.topics.items()
        }
        negatives: dict[str, list[str]] = {}
        for kind, messages in phrasings.negatives.examples().items():
            negatives[kind], negatives[f"{kind}_tests"] = _kept(messages, fold, folds), messages[fold::folds]
        part = Phrasings(topics=parted, negatives=NegativePhrasings(**negatives))
        measure(Matcher.load(part, topics, None), part, topics, figures)
        print(f"fold {fold + 1} of {folds} done", file=sys.stderr, flush=True)
    return figures


def _kept(messages: list[str], fold: int, folds: int) -> list[str]:
    return [message for place, message in enumerate(messages) if place % folds != fold]


def print_speed(matcher: Matcher, phrasings: Phrasings) -> None:
    messages = [
        (name.split("/")[0], message)
        for name, topic in phrasings.topics.items()
        for message in (*topic.tests, *topic.tests_zh)
    ]
    messages += [(two.person, two.message) for two in phrasings.two_part]
    wall_ms, cpu_ms = [], []
    for person, message in messages:
        started, started_cpu = time.perf_counter(), time.process_time()
        matcher.match(message, person)
        wall_ms.append((time.perf_counter() - started) * 1000)
        cpu_ms.append((time.process_time() - started_cpu) * 1000)
    print()
    for name, taken in (("wall", sorted(wall_ms)), ("CPU", sorted(cpu_ms))):
        half, most = taken[len(taken) // 2], taken[int(len(taken) * 0.99)]
        print(f"{name} time per message: p50 {half:.1f} ms, p99 {most:.1f} ms")
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario")
    parser.add_argument("--misses", action="store_true", help="list every message that was not treated as it should be")
    parser.add_argument("--speed", action="store_true", help="time every test message")
    parser.add_argument("--cache", type=Path, default=ROOT / "var" / "matcher", help="where fitted weights are kept")
    parser.add_argument("--folds", type=int, default=0, help="cross-validate over the examples instead")
    options = parser.parse_args()
    folder = ROOT / "scenarios" / options.scenario
    phrasings, topics = load_phrasings(folder / "phrasings.toml"), topics_of(folder)
    if options.folds:
        print("\n".join(report(cross_validated(phrasings, topics, options.folds), options.misses)))
        return
    matcher = Matcher.load(phrasings, topics, options.cache)
    print("\n".join(report(measure(matcher, phrasings, topics), options.misses)))
    if options.speed:
        print_speed(matcher, phrasings)


if __name__ == "__main__":
    main()

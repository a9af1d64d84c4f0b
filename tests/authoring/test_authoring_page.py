"""``docs/authoring.md`` names everything that an author may write, and its examples are what the scenarios hold."""

from __future__ import annotations

import inspect
import re
import tomllib
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

from fdegym.authoring.admission.conditions import VARIANTS_LEAST
from fdegym.authoring.checks.catalogue import BYPASSES_LEAST, SHORTCUTS_LEAST
from fdegym.authoring.checks.matcher import KINDS_NOT_ANSWERED
from fdegym.authoring.lint import (
    EXAMPLES_WANTED,
    EXAMPLES_ZH_WANTED,
    GATE_MET_WANTED,
    GATE_UNMET_WANTED,
    LONGEST_FILE_LINES,
    TESTS_WANTED,
    TESTS_ZH_WANTED,
)
from scenarios.kit import format as scenario_format
from scenarios.kit import gates, phrasings, trial, world
from scenarios.kit.format import Angle, ScenarioConfig
from scenarios.kit.solutions import SOLUTION_GROUPS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_EXAMPLE = re.compile(r"```toml\n# (\S+)\n(.*?)```", re.DOTALL)
_TYPED = (scenario_format, gates, trial, phrasings)


def models() -> Iterator[type[BaseModel]]:
    """The typed models that files are read into; their bases, which hold nothing, are left out."""
    for module in _TYPED:
        for name, found in vars(module).items():
            if _is_of(found, module) and issubclass(found, BaseModel) and found.model_fields:
                assert not name.startswith("_")
                yield found


def _is_of(found: object, module: ModuleType) -> bool:
    return inspect.isclass(found) and found.__module__ == module.__name__


MODELS = list(models())


def words_in_code(text: str) -> set[str]:
    """Every word of the code on a page: what stands between backticks."""
    return set(re.findall(r"\w+", " ".join(_CODE.findall(text))))


def passage_on(name: str) -> str:
    """From where the page introduces a model to where it introduces the next."""
    found = re.search(rf"\*\*`{name}`\*\*(.*?)(?=\*\*`[A-Z]|\n#|\Z)", PAGE, re.DOTALL)
    assert found, f"docs/authoring.md does not introduce {name}"
    return found[1]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_is_named_where_its_model_is_introduced(model: type[BaseModel]) -> None:
    assert sorted(set(model.model_fields) - words_in_code(passage_on(model.__name__))) == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_field_is_named_that_its_model_does_not_have(model: type[BaseModel]) -> None:
    """The names in a row, before and between the brackets that explain them."""
    listed = re.sub(r"\([^()]*\)", "", passage_on(model.__name__).split("\n\n")[0])
    names = {name for name in re.findall(r"`([a-z_]+)`", listed) if "_" in name}
    known = {field for one in MODELS for field in one.model_fields}
    assert sorted(names - known) == []


def test_everything_of_the_worlds_protocol_is_named() -> None:
    code, missing = words_in_code(PAGE), []
    for name, found in vars(world).items():
        if not _is_of(found, world):
            continue
        public = [method for method in vars(found) if not method.startswith("_") and callable(getattr(found, method))]
        inner = [field.name for field in fields(found)] if is_dataclass(found) else []
        missing += [one for one in (name, *public, *inner) if one not in code]
    assert missing == []


def test_every_function_that_a_scenario_defines_is_shown_with_its_arguments() -> None:
    wanted = set(re.findall(r"``(?:world\.|grader\.)?([a-z_]+\([a-z_, ]+\))", inspect.getdoc(world) or ""))
    assert {call.partition("(")[0] for call in wanted} == {
        *("build", "replay", "oracle", "random_delivery", "shadow", "trial")
    }
    shown = " ".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    assert sorted(call for call in wanted if f"def {call}" not in shown) == []
    assert "class Production:" in shown


def test_every_choice_of_words_that_a_file_may_hold_is_named() -> None:
    code = words_in_code(PAGE)
    angles, groups = typing.get_args(Angle), tuple(SOLUTION_GROUPS)
    statuses = typing.get_args(ScenarioConfig.model_fields["status"].annotation)
    assert sorted({*angles, *groups, *statuses} - code) == []


def test_the_least_numbers_of_phrasings_are_those_of_lint() -> None:
    said = " ".join(PAGE.split())
    assert f"at least {EXAMPLES_WANTED} `examples` and {TESTS_WANTED} `tests`" in said
    assert f"{EXAMPLES_ZH_WANTED} `examples_zh` and {TESTS_ZH_WANTED} `tests_zh`" in said
    assert f"{GATE_MET_WANTED} `gate_met` and {GATE_UNMET_WANTED} `gate_unmet`" in said
    assert f"more than {LONGEST_FILE_LINES} lines" in said


@pytest.mark.parametrize("example", _EXAMPLE.findall(PAGE), ids=lambda example: example[0])
def test_an_example_stands_in_the_file_that_it_names(example: tuple[str, str]) -> None:
    name, text = example
    held = [line.strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert lines
    assert [line for line in lines if line not in held] == []


def test_every_kind_of_file_has_an_example() -> None:
    shown = {Path(name).name for name, _ in _EXAMPLE.findall(PAGE)}
    wanted = {"facts.toml", "stakeholders.toml", "phrasings.toml", "solution.toml", "conversation.toml"}
    assert sorted(wanted - shown) == []


def test_every_example_is_valid_toml_and_its_gates_can_be_read() -> None:
    read = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)]
    for table in read:
        if "gate" in table:
            gates.Gate.model_validate(table["gate"])
    assert any("no_oracle" in table.get("admission", {}) for table in read)
    assert sum("gate" in table for table in read) >= 2


def test_what_lint_counts_is_said_where_the_work_begins() -> None:
    begins = PAGE.partition("## The order of work")[2].partition("\n1. ")[0]
    number = {2: "two", 3: "three", 8: "eight"}
    assert f"**At least {number[VARIANTS_LEAST]} variants**" in begins
    assert f"**{number[SHORTCUTS_LEAST]} shortcuts, {number[BYPASSES_LEAST]} bypasses" in begins


def test_every_figure_of_the_matcher_is_explained() -> None:
    page = (ROOT / "docs" / "admission.md").read_text(encoding="utf-8")
    told = {"right of answered", "answered rightly at first try", "two questions, both answered", "gates right"}
    told |= {f"answered though {kind.replace('_', ' ')}" for kind in KINDS_NOT_ANSWERED}
    assert sorted(name for name in told if f"| {name} |" not in page) == []

"""The conditions that a message must meet before a person answers a topic.

All of them are deterministic and are checked on what the same person was told in this run. How a text is read
(numbers, identifiers, clauses, terms in English and Chinese) is ``stakeholders.script``'s business; here is only what
an author may write.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Text = Annotated[str, Field(min_length=1)]


class Strict(BaseModel):
    """Base of every model of the scenario files: unknown keys are errors, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class CitesNumber(Strict):
    """The message names a value: ``fact`` is a fact's name, whose value ± ``tolerance`` is accepted in any notation."""

    fact: Text
    tolerance: float = 0.0
    unit: str | None = None
    unit_required: bool = False
    signed: bool = False
    near: list[Text] = []  #: when given, one of these terms must stand in the same clause


class CitesRecord(Strict):
    """The message names an identifier that exists in the task's visible data.

    ``kinds`` are record kinds of ``scenario.toml``. ``among`` narrows to a group that ``world.build`` returned
    (``BuildResult.record_groups``).
    """

    kinds: Annotated[list[Text], Field(min_length=1)]
    among: str | None = None


class CitesDocument(Strict):
    """The message names a document by file, title, number or alias; with ``clauses``, one of its clauses as well.

    ``clause_required`` asks for document (or an unmistakable clause of it) *with* a clause; otherwise either will do.
    """

    document: Text
    clauses: list[Text] = []
    clause_required: bool = False


class Condition(Strict):
    """Exactly one of the kinds below. ``mentions`` is a list of groups: any term of a group, every group."""

    all_of: Annotated[list[Condition], Field(min_length=1)] | None = None
    any_of: Annotated[list[Condition], Field(min_length=1)] | None = None
    cites_number: CitesNumber | None = None
    cites_record: CitesRecord | None = None
    cites_document: CitesDocument | None = None
    mentions: Annotated[list[Annotated[list[Text], Field(min_length=1)]], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def exactly_one_kind(self) -> Condition:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            kinds = ", ".join(type(self).model_fields)
            raise ValueError(f"a condition is exactly one of {kinds}; this one has {', '.join(given) or 'none'}")
        return self

    def leaves(self) -> list[Condition]:
        """The conditions below this one that are not ``all_of``/``any_of``, in order."""
        inner = self.all_of if self.all_of is not None else self.any_of
        return [self] if inner is None else [leaf for part in inner for leaf in part.leaves()]


class Gate(Strict):
    """All conditions must be met."""

    all_of: Annotated[list[Condition], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def one_condition_is_a_gate(cls, value: Any) -> Any:
        """``gate = {mentions = …}`` is short for ``gate = {all_of = [{mentions = …}]}``."""
        if isinstance(value, dict) and "all_of" not in value:
            return {"all_of": [value]}
        return value

    def leaves(self) -> list[Condition]:
        return [leaf for part in self.all_of for leaf in part.leaves()]


GateKind = Literal["cites_number", "cites_record", "cites_document", "mentions"]

"""Why no value is valid: the deepest place that leaves none."""

from __future__ import annotations

from stcon.errors import SchemaError
from stcon.syntax.json_schema.arrays import ArrayShape
from stcon.syntax.json_schema.constants import Among
from stcon.syntax.json_schema.document import Document
from stcon.syntax.json_schema.formula import Fact, TypeIn
from stcon.syntax.json_schema.goals import ANYTHING, NOTHING, Goal
from stcon.syntax.json_schema.object_shape import ObjectShape
from stcon.syntax.json_schema.plan import Plan


def no_value(plan: Plan, document: Document, root: Goal) -> SchemaError:
    """The error of a schema that no value satisfies."""
    wanted, seen = root, {frozenset(root)}
    while True:
        below = _culprit(plan, wanted)
        if below is None or frozenset(below) in seen:
            break
        wanted = below
        seen.add(frozenset(below))
    pointer, keyword = _place(plan, document, wanted)
    blamed = plan.expander.blamed(wanted)
    if isinstance(blamed, Among) and not blamed.values:
        return blamed.place.error(
            "the list is empty, so no value is valid", "give at least one value"
        )
    return SchemaError(
        "no value satisfies this together with what is beside it",
        pointer=pointer,
        keyword=keyword,
        hint="drop one of the keywords that contradict each other",
    )


def _culprit(plan: Plan, wanted: Goal) -> Goal | None:
    """A part without which a goal cannot be reached, and which cannot be."""
    for shape in plan.shapes.get(frozenset(wanted), ()):
        parts: list[Goal] = []
        if isinstance(shape, ObjectShape):
            parts = [
                shape.names[name] for name in shape.names if name in shape.required
            ]
        elif isinstance(shape, ArrayShape):
            parts = [*shape.prefix[: shape.least], shape.rest]
        for part in parts:
            if part != NOTHING and not plan.is_reachable(part):
                return part
    return None


def _place(plan: Plan, document: Document, wanted: Goal) -> tuple[str, str]:
    blamed = plan.expander.blamed(wanted)
    if isinstance(blamed, (Fact, TypeIn)):
        return blamed.place.pointer, blamed.place.keyword
    if wanted in (ANYTHING, NOTHING):
        return "#", ""
    return document.schemas[abs(wanted[0])].pointer, ""

"""Values of Model fields that plugins added, as the readers of their elements give them.

A reader runs before objects have their final numbers (bodies may be fused, geoms discarded), so what it says is kept
and put into the Model once that is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.derive import check_values
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.named import KINDS
from dovetail.errors import nearest
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


@attrs.frozen(eq=False)
class OwnValue:
    """What a reader said: values of a whole field, or of one object."""

    field: str
    values: Any
    """Numbers, or for a whole field a function of the context that gives them."""
    node: Node
    """The element to name in errors."""
    kind: str = ""
    name: str = ""
    """Kind and name of the object; empty for a whole field."""
    attribute: str = ""
    """The attribute of the element that names it."""


def filling(context: Context) -> Callable[[Any], None]:
    """A function that puts what readers said into the built Model."""

    def fill(model: Any) -> None:
        for said in context.own_values:
            _fill(model, context, said)

    return fill


def _fill(model: Any, context: Context, said: OwnValue) -> None:
    if said.field not in model.extra:
        raise said.node.error(
            f"there is no Model field {said.field!r}{nearest(said.field, model.extra) or '.'} A record declares it "
            "with model_fields="
        )
    spec = model.specs[said.field]
    if said.kind:
        row = context.find(said.kind, said.name, said.node, said.attribute)
        _put(model.extra[said.field][row : row + 1], said.values, _of_one(spec, said), said, model)
    else:
        values = said.values(context) if callable(said.values) else said.values
        _put(model.extra[said.field], values, spec, said, model)


def _of_one(spec: FieldSpec, said: OwnValue) -> FieldSpec:
    """The declaration of one object's values."""
    if not spec.shape or spec.shape[0] != KINDS[said.kind].size:
        raise said.node.error(f"{spec.name} has no values per {said.kind}: its shape is {spec.shape}")
    return attrs.evolve(spec, shape=spec.shape[1:])


def _put(view: Any, values: Any, spec: FieldSpec, said: OwnValue, model: Any) -> None:
    problems = check_values({spec.name: spec}, model.sizes, {spec.name: values})
    if problems:
        raise said.node.error("; ".join(problems))
    view[...] = np.asarray(values).reshape(view.shape)

"""`model.bind(element)`, `data.bind(element)`: what the model has of an element of the spec it was compiled from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail.errors import ArgumentError, UnknownFieldError, shown
from dovetail.mj.spec.element import Element
from dovetail.mj.spec.problems import SpecError


class Bound:
    """The objects of several elements: attributes are those of each, one after the other."""

    def __init__(self, elements: list[Any]) -> None:
        object.__setattr__(self, "_elements", elements)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = [_attribute(element, name) for element in self._elements]
        if not found:
            return np.array([])
        return (
            np.concatenate([np.atleast_1d(part) for part in found])
            if np.size(found[0]) <= 1
            else np.array(found)
        )

    def __setattr__(self, name: str, value: Any) -> None:
        values = np.broadcast_to(value, (len(self._elements), *np.shape(value)[1:]))
        for element, part in zip(self._elements, values, strict=True):
            _attribute(element, name)[...] = part


def _attribute(element: Any, name: str) -> Any:
    try:
        return getattr(element, name)
    except AttributeError:
        raise UnknownFieldError(f"'{type(element).__name__}' object has no attribute '{name}'") from None


def bind(self: Any, specs: Any) -> Any:
    """The object of an element of the spec that this was compiled from, or of several."""
    if isinstance(specs, Element):
        return _bound(self, specs)
    if not isinstance(specs, Sequence) or isinstance(specs, str):
        raise ArgumentError(f"bind takes elements of a spec, not {shown(specs)}")
    return Bound([_bound(self, element) for element in specs])


def _bound(owner: Any, element: Any) -> Any:
    if not isinstance(element, Element):
        raise ArgumentError(f"bind takes elements of a spec, not {shown(element)}")
    model = owner if hasattr(owner, "signature") and hasattr(owner, "nbody") else owner.model
    if element.signature != model.signature:
        raise SpecError("The mjSpec does not match mjModel. Please recompile the mjSpec.")
    return getattr(owner, element.KIND)(element.id)

"""What follows from a Model's structure, made when first asked for and again when that structure was edited.

NumPy's stages see the Model as it is at every call. Where a part of their work depends only on fields that hardly
ever change (which dofs move which vertex), comparing these fields with what they were is quicker than doing it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike

Result = TypeVar("Result")


class Remembered(Generic[Result]):
    """A function of a Model that is computed again only when what `depends_on` returns is no longer the same."""

    def __init__(
        self, make: Callable[[ModelLike], Result], depends_on: Callable[[ModelLike], tuple[Array, ...]]
    ) -> None:
        self._make, self._depends_on = make, depends_on
        self._known: WeakKeyDictionary[Any, tuple[list[Array], Result]] = WeakKeyDictionary()

    def __call__(self, model: ModelLike) -> Result:
        now = self._depends_on(model)
        known = self._known.get(model)
        if known is not None and all(np.array_equal(a, b) for a, b in zip(now, known[0], strict=True)):
            return known[1]
        result = self._make(model)
        self._known[model] = [np.array(each) for each in now], result
        return result

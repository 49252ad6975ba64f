"""Whether a comparison compared anything: two friction rules that meet no contact have not been shown to agree."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import numpy as np

from dovetail.compare.errors import getter, has_room, meaningful
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.types import Data

REASONS = {
    "contact_params": "no contact occurred in any step",
    "narrowphase": "nothing that it is for came near each other in any step",
    "solve_constraints": "there was no constraint to solve in any step",
    "constraint_reference": "there was no constraint in any step",
    "constraint_rows": "it made no row in any step",
}


def why_nothing(slot: str) -> str:
    """In words, why a slot had nothing to compare."""
    return REASONS.get(slot.partition(":")[0], "it had nothing to compute in any step")


@attrs.define
class Evidence:
    """How many entries were there to compare."""

    varying: int = 0
    """Of lists whose length varies: contacts, rows."""
    fixed: int = 0
    lists: bool = False
    """Whether there are such lists."""

    def look(self, specs: Iterable[FieldSpec], data: Data) -> None:
        """Count the entries of fields in all worlds."""
        for spec in specs:
            if has_room(spec):
                self.lists = True
                self.varying += sum(
                    np.size(meaningful(spec, np.asarray(world.field(spec.name)), getter(world)))
                    for world in data.worlds()
                )
            else:
                self.fixed += np.size(np.asarray(data.field(spec.name)))

    @property
    def found(self) -> bool:
        """Whether there was something: of who makes lists, entries of lists."""
        return bool(self.varying if self.lists else self.fixed)

"""What type checkers and editors know of Model and Data: every field by name, with shape, unit and meaning.

The knowledge is in the stub beside this module, `protocols.pyi`, which `docs/generate_types.py` writes from the
declarations. There `ModelLike` and `DataLike` are Protocols: what a stage asks of its arguments, MuJoCo's names, so
that it runs on MuJoCo's own objects too. Here, where programs run, they are empty: `Bound` finds the fields.
"""

from __future__ import annotations

from dovetail.contracts.named import NamedAccess

__all__ = ["DataLike", "DataObjects", "ModelLike", "ModelObjects"]


class ModelLike:
    """An object with the fields of mjModel."""


class DataLike:
    """An object with the fields of mjData, of one world."""


ModelObjects = DataObjects = NamedAccess
"""Access by name; `model.geom("foot")` and `data.geom("foot")` have different fields, which the stub tells apart."""

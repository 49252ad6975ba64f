"""Kinds of objects, as `dovetail.contracts.named` lists them: their sizes, short names and user numbers."""

from __future__ import annotations

from dovetail.contracts.named import KINDS as _ROWS
from dovetail.contracts.types import MODEL_SPECS

KINDS = tuple(_ROWS)
"""Kinds of named object, in the order of mjModel's name lists."""
KIND_OF_SIZE = {row.size: kind for kind, row in _ROWS.items()}
"""nbody → body, njnt → joint, …"""
SHORT = {kind: row.prefixes[0].removesuffix("_") for kind, row in _ROWS.items()}
"""What the names of mjModel's fields begin with."""
USER_SIZES = {f"nuser_{short}": kind for kind, short in SHORT.items() if f"{short}_user" in MODEL_SPECS}
"""Size that says how many user numbers each object has → kind."""

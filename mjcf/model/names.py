"""mjModel's name buffer and its hash table, byte for byte.

`names` holds the model's name and then every object's, each ended by a zero; `names_map` has two slots per
object, kind by kind: a name's slot is its hash modulo the kind's slots, or the next free one. See
`mjCModel::CopyNames` and `mj_hashString`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail.mjcf.elements.columns import column, starts, text
from dovetail.mjcf.elements.object_kinds import KINDS, SHORT
from dovetail.mjcf.model.context import Context

_SLOTS_PER_NAME = 2
"""mjLOAD_MULTIPLE: room in the hash table per object."""
_SEED = 5381
_MASK = 2**64 - 1


def hash_slot(name: bytes, slots: int) -> int:
    """The slot where the search for a name begins: Bernstein's hash with exclusive or, modulo the slots."""
    value = _SEED
    for byte in name:
        # bytes are signed characters in C: those above 127 are sign-extended to 64 bits
        value = (value * 33 & _MASK) ^ (byte if byte < 128 else byte + _MASK - 255)
    return value % slots


def name_fields(context: Context) -> dict[str, Any]:
    """name_…adr, names and names_map."""
    fields: dict[str, Any] = {}
    texts = [context.modelname.encode() + b"\0"]
    length = len(texts[0])
    slots: list[int] = []
    for kind in KINDS:
        encoded = [item.name.encode() for item in context.objects[kind]]
        begins = starts(len(name) + 1 for name in encoded)
        fields[f"name_{SHORT[kind]}adr"] = begins + np.int32(length)
        texts += [name + b"\0" for name in encoded]
        length += sum(len(name) + 1 for name in encoded)
        slots += _hash_table(encoded)
    fields["names"] = text(texts)
    fields["names_map"] = column("names_map", slots)
    return fields


def _hash_table(names: Sequence[bytes]) -> list[int]:
    """Slots of one kind: ids of its named objects, −1 where empty."""
    slots = [-1] * (_SLOTS_PER_NAME * len(names))
    for index, name in enumerate(names):
        if name:
            slot = hash_slot(name, len(slots))
            while slots[slot] >= 0:
                slot = (slot + 1) % len(slots)
            slots[slot] = index
    return slots

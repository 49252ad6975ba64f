"""Saving and restoring a run, bit for bit, as one .npz file without pickle.

A file holds the state fields (or all fields), and a header: format, model fingerprint, digests of the Model's values,
worlds, precision, the implementation of each stage and, from a Simulation, the stage lock. It is written beside its
place and moved there when complete; loading checks everything before it touches the Data.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail import deprecation, files, limits
from dovetail.arguments import words
from dovetail.contracts.derive import OF_MODEL, kept_fields
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.errors import (
    CapacityError,
    FileError,
    FileFormatError,
    LockError,
    NotKeptError,
    ValidationError,
)

if TYPE_CHECKING:
    from dovetail.lock import StageLock

FORMAT = "dovetail-data-1"
TRAJECTORY = "dovetail-trajectory-1"
"""The format of what `dovetail run --output` writes."""

_DAMAGED = (
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    OverflowError,
    RecursionError,
    RuntimeError,
    SyntaxError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy, json and zipfile raise for files that are not theirs, or cut, or altered."""

MOST_GROWTH = 20
"""How many times as large as its file the arrays of a saved file may be: for those that somebody compressed."""
SMALL = 16 * limits.MEGA
"""What the arrays may have in any case."""
MOST_CHANGES = 6
"""Changes of the stage lock, or fields of the Model, that one warning names."""
_READ_BY_NO_STEP = (
    *("names", "name_", "paths", "text_", "tuple_", "key_"),
    *("tex_", "mat_", "skin_", "light_", "vis."),
)
"""Beginnings of the names of Model fields on which no step depends."""
_DIGEST = 8
"""Bytes that tell one field's values from others."""
_ARRAY_HEADER = 10_000
"""Characters of the description of one array."""


class ResumeWarning(UserWarning):
    """A state was saved under other implementations than those that will continue it."""


class ModelValuesWarning(ResumeWarning):
    """A state was saved beside a Model that had other values than the one beside which it is loaded."""


def fingerprint(model: Model) -> str:
    """A hash of a model's sizes and integer structure: states fit models with the same one."""
    digest = hashlib.sha256(json.dumps(dict(model.sizes), sort_keys=True).encode())
    for dtype in ("int32", "uint8"):
        for name in ("jnt_type", "jnt_bodyid", "body_parentid", "actuator_trntype", "actuator_trnid"):
            if model.specs[name].dtype == dtype:
                digest.update(np.ascontiguousarray(model.field(name)).tobytes())
    return digest.hexdigest()[:16]


def value_digests(model: Model) -> dict[str, str]:
    """A hash of each field of a Model on which a step may depend."""
    return {
        name: hashlib.blake2b(np.ascontiguousarray(model.field(name)).data, digest_size=_DIGEST).hexdigest()
        for name in model.specs
        if not name.startswith(_READ_BY_NO_STEP) and np.size(model.field(name))
    }


def save(
    data: Data,
    path: str | Path,
    *,
    fields: str | Iterable[str] = "state",
    implementations: Mapping[str, str] | None = None,
    lock: StageLock | None = None,
) -> None:
    """Write a Data's state (or `fields="all"`, or named fields besides the state) to an .npz file."""
    wanted = words("fields", fields)
    kept = kept_fields(wanted, data.specs)
    names = [n for n in data.specs if n in kept]
    absent = [n for n in names if n not in data]
    if absent and wanted != ("all",):
        raise NotKeptError(f"cannot save {', '.join(absent)}: not kept by this plan; make it with keep=")
    header = {
        "format": FORMAT,
        "model": fingerprint(data.model),
        "values": value_digests(data.model),
        "modelname": data.model.modelname,
        "nworld": data.nworld,
        "precision": data.precision,
        "implementations": dict(implementations or {}),
        **({} if lock is None else {"lock": lock.as_plain()}),
    }
    arrays = {name: np.asarray(data.field(name)) for name in names if name in data}
    write_arrays(files.checked_path(path), {"header": pack(header), **arrays})


def pack(header: Mapping[str, Any]) -> Array:
    """A header as the array that files have it in."""
    return np.frombuffer(json.dumps(header).encode(), np.uint8)


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write an .npz file, whole or not at all."""
    with files.replacing(path) as stream:
        np.savez(stream, **dict[str, Any](arrays))


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and arrays of a saved run."""
    header, arrays = read_archive(path, FORMAT)
    for name, what in (("implementations", "what ran"), ("values", "which values the Model had")):
        saved = header.setdefault(name, {} if name == "values" else None)  # older files have no digests
        if not isinstance(saved, dict) or not all(isinstance(text, str) for text in saved.values()):
            raise FileFormatError(f"{path}: not in the format {FORMAT}: its header does not say {what}")
    return header, arrays


def read_header(path: str | Path) -> dict[str, Any]:
    """The header of a saved run or of a trajectory."""
    header, _ = read_archive(path, FORMAT, TRAJECTORY)
    return header


def read_archive(path: str | Path, *formats: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and arrays of a saved file, which must be of a given format."""
    try:
        with files.opened(path, limits.STATE_BYTES) as handle, os.fdopen(os.dup(handle), "rb") as stream:
            header, arrays = _unpacked(stream)
    except FileError as error:
        raise FileFormatError(str(error)) from None
    except MemoryError as error:
        raise CapacityError(
            f"{path}: there is not enough memory for its arrays ({error or 'out of memory'})"
        ) from None
    except (*_DAMAGED, OSError) as error:
        raise FileFormatError(f"{path}: not a file saved by dovetail, or damaged: {error}") from error
    if not isinstance(header, dict) or header.get("format") not in formats:
        raise FileFormatError(f"{path}: not in the format {' or '.join(formats)}")
    return header, arrays


def _unpacked(stream: IO[bytes]) -> tuple[Any, dict[str, Array]]:
    """The header and arrays of an archive, whose sizes are looked at before anything is unpacked."""
    with zipfile.ZipFile(stream) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        _check_members(members, os.fstat(stream.fileno()).st_size)
        header = json.loads(bytes(_member(archive, members.pop("header"))))
        return header, {name: _member(archive, info) for name, info in members.items()}


def _check_members(members: Mapping[str, zipfile.ZipInfo], size: int) -> None:
    """Refuse an archive that would grow: dovetail's own are not compressed."""
    if len(members) > limits.ARCHIVE_MEMBERS:
        raise ValueError(f"it has {len(members):,} arrays, the most is {limits.LIMITS['ARCHIVE_MEMBERS']}")
    if members["header"].file_size > limits.HEADER_BYTES:
        raise ValueError(f"its header has more than {limits.LIMITS['HEADER_BYTES']}")
    whole = sum(info.file_size for info in members.values())
    if whole > max(MOST_GROWTH * size, SMALL):
        raise ValueError(f"it has {limits.amount(size)} and would unpack to {limits.amount(whole)}")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    """One array; its own header must agree with the bytes there are, before memory is taken for it."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read:
            raise ValueError(f"{info.filename} has version {version} of the format of arrays")
        shape, fortran, dtype = read[version](stream, max_header_size=_ARRAY_HEADER)
        if dtype.hasobject or dtype.kind not in "biuf":
            raise ValueError(f"{info.filename} holds {dtype}, not numbers")
        count = math.prod(shape)
        if min(shape, default=1) < 0 or count * dtype.itemsize != info.file_size - stream.tell():
            raise ValueError(
                f"{info.filename} should have {count * dtype.itemsize} bytes for its shape {shape}"
            )
        content = stream.read(info.file_size)
    if len(content) != count * dtype.itemsize:
        raise ValueError(f"{info.filename} is cut")
    flat = np.frombuffer(bytearray(content), dtype)
    return flat.reshape(shape[::-1]).transpose() if fortran else flat.reshape(shape)


def load(
    data: Data,
    path: str | Path,
    *,
    implementations: Mapping[str, str] | None = None,
    lock: Callable[[], StageLock] | None = None,
    locked: bool = False,
) -> None:
    """Restore a Data from a file saved by `save`; nothing is changed unless everything fits.

    `implementations` and `lock` say what will continue the run; where that is something else than what the file
    says there is a warning, or an error if the run is `locked`. Values of the Model that were edited since are a
    warning in any case.
    """
    header, arrays = read(path)
    problems = _misfits(data, header, arrays)
    if problems:
        raise ValidationError(f"{path} does not fit this Data", problems)
    lines = _other_implementations(_renamed(header["implementations"], path), implementations or {})
    lines += _other_lock(header, lock, path)
    if lines and locked:
        raise LockError(
            f"{path} was made otherwise than this locked run would continue it:\n"
            + "\n".join(f"  - {line}" for line in lines)
        )
    for line in lines:
        warnings.warn(f"{path}: {line}", ResumeWarning, stacklevel=3)
    edited = _edited_values(data, header["values"])
    if edited:
        warnings.warn(f"{path}: {_told_values(edited)}", ModelValuesWarning, stacklevel=3)
    data.reserve(**_saved_capacities(data, arrays))
    for name, value in arrays.items():
        view = data.field(name)
        if data.specs[name].grows:
            view = view[_filled(data, value)]
        view[...] = value


def _filled(data: Data, value: Array) -> tuple[slice, ...]:
    """The part of a growing field that saved values fill: their length may be less than today's capacity."""
    every = () if data.nworld is None else (slice(None),)
    return (*every, slice(value.shape[len(every)]))


def _saved_capacities(data: Data, arrays: Mapping[str, Array]) -> dict[str, int]:
    """The lengths of the growing fields in a file, by the name of their size."""
    axis = 0 if data.nworld is None else 1
    saved: dict[str, int] = {}
    for name, value in arrays.items():
        spec = data.specs[name]
        if spec.grows:
            size = str(spec.shape[0])
            saved[size] = max(saved.get(size, 0), value.shape[axis])
    return saved


def _misfits(data: Data, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> list[str]:
    problems = []
    for what, saved, here in (
        ("model", header.get("model"), fingerprint(data.model)),
        ("nworld", header.get("nworld"), data.nworld),
        ("precision", header.get("precision"), data.precision),
    ):
        if saved != here:
            problems.append(f"{what} is {saved!r} in the file, {here!r} here")
    problems += [f"state field {name} is missing" for name in data.state if name not in arrays]
    for name, value in arrays.items():
        if name not in data:
            problems.append(f"field {name} is not in this Data")
        elif not _same_shape(data, name, value) or value.dtype != data.field(name).dtype:
            problems.append(
                f"{name} is {value.dtype}{value.shape} in the file, "
                f"{data.field(name).dtype}{data.field(name).shape} here"
            )
    return problems


def _same_shape(data: Data, name: str, value: Array) -> bool:
    """Whether a saved array fits a field; one that grows may have another length."""
    here = data.field(name).shape
    if not data.specs[name].grows or value.ndim != len(here):
        return bool(value.shape == here)
    axis = 0 if data.nworld is None else 1
    return bool(value.shape[:axis] == here[:axis] and value.shape[axis + 1 :] == here[axis + 1 :])


def _other_implementations(saved: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    if not saved or not here:
        return []
    return [
        f"{slot} ran as {saved.get(slot, 'nothing')} and continues as {here.get(slot, 'nothing')}"
        for slot in sorted({*saved, *here})
        if saved.get(slot) != here.get(slot)
    ]


def _renamed(saved: Mapping[str, str], path: str | Path) -> dict[str, str]:
    """What ran, by today's names; each old one is told once."""
    return {slot: deprecation.todays_identity(slot, text, str(path)) for slot, text in saved.items()}


def _other_lock(
    header: Mapping[str, Any], lock: Callable[[], StageLock] | None, path: str | Path
) -> list[str]:
    """What is otherwise than the file's stage lock says, in one line, without what its implementations say."""
    if lock is None or "lock" not in header:
        return []
    from dovetail.lock import StageLock

    was, now = StageLock.from_plain(header["lock"], str(path)), lock()
    both = {s for s in was.stages.keys() & now.stages.keys() if _label(was, s) == _label(now, s)}
    was, now = (attrs.evolve(one, stages={s: one.stages[s] for s in both}) for one in (was, now))
    changes = [*was.changes(now), *was.surroundings(now)]
    return ["; ".join(map(str, changes[:MOST_CHANGES])) + _rest(changes)] if changes else []


def _edited_values(data: Data, saved: Mapping[str, str]) -> list[str]:
    """Fields of the Model that have other values than when the file was written. What every world has for itself is
    in the file, and does not count."""
    if not saved:
        return []
    here = value_digests(data.model)
    own = {name.removeprefix(OF_MODEL) for name in data.specs if name.startswith(OF_MODEL)}
    return [name for name in here if name not in own and saved.get(name, here[name]) != here[name]]


def _told_values(names: Sequence[str]) -> str:
    return (
        f"the Model had other values of {', '.join(names[:MOST_CHANGES])}{_rest(names)} when this was saved; "
        "the run continues with those of today"
    )


def _label(lock: StageLock, slot: str) -> str:
    return lock.stages[slot].implementation


def _rest(changes: Sequence[object]) -> str:
    return f"; and {len(changes) - MOST_CHANGES} more" if len(changes) > MOST_CHANGES else ""

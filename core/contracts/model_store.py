"""Saving and restoring a compiled Model, bit for bit, as one .npz file without pickle.

The file holds every field and a header: format, sizes, names, the stages that loading used, the declarations of the
fields that plugins added, and a digest of all of it, so that a damaged or altered file is refused. A saved model
needs no asset files, no compilation, and none of the plugins that added fields; of those that are installed it gets
the fields it lacks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dovetail import files
from dovetail.contracts.derive import build_model
from dovetail.contracts.fields import Array, FieldSpec, numpy_dtype
from dovetail.contracts.indices import check_indices
from dovetail.contracts.named import KINDS
from dovetail.contracts.plugin_fields import as_plain, from_plain
from dovetail.contracts.sizes import SIZES
from dovetail.contracts.store import pack, read_archive, write_arrays
from dovetail.contracts.types import MODEL_SPECS, Model
from dovetail.errors import FileFormatError, ValidationError

FORMAT = "dovetail-model-1"
"""Changes when files of earlier versions can no longer be read."""


def save(model: Model, path: str | Path, source: str | None = None) -> None:
    """Write a Model to an .npz file, at once or not at all; `source` stands for the place that it came from."""
    header, arrays = packed(model, source)
    write_arrays(files.checked_path(path), {"header": pack(header), **arrays})


def packed(model: Model, source: str | None = None) -> tuple[dict[str, Any], dict[str, Array]]:
    """A Model as a header and arrays, to be written to a file; `source` as for `save`."""
    arrays = {name: np.asarray(view) for name, view in model.fields()}
    header: dict[str, Any] = {
        "format": FORMAT,
        "modelname": model.modelname,
        "source": model.source if source is None else source,
        "sizes": {name: model.sizes[name] for name in _own_sizes()},
        "names": {kind: list(names) for kind, names in model.object_names.items()},
        "stages": dict(model.stages),
        "fields": as_plain(model.own_specs),
    }
    header["digest"] = _digest(header, arrays)
    return header, arrays


def load_model(path: str | Path) -> Model:
    """The Model that `Model.save` wrote."""
    return unpacked(path, *read_archive(path, FORMAT))


def unpacked(path: str | Path, header: Any, arrays: dict[str, Array]) -> Model:
    """The Model of a header and arrays that were read from a file."""
    if not isinstance(header, dict):
        raise FileFormatError(f"{path}: it holds no Model")
    own = _own_specs(path, header)
    problems = _misfits(header, arrays, {**MODEL_SPECS, **own})
    if not problems and header.pop("digest", None) != _digest(header, arrays):
        problems = ["the content does not match its digest: the file was damaged or altered"]
    if problems:
        raise FileFormatError(f"{path}: {'; '.join(problems)}")
    try:
        model = build_model(
            header["sizes"],
            arrays,
            object_names=header["names"],
            modelname=header["modelname"],
            source=header["source"],
            stages=header.get("stages"),
            own={**_installed_specs(), **own}.values(),
            finite=False,  # what may be loaded from MJCF may be saved and loaded again
        )
        check_indices(model)
        return model
    except ValidationError as problem:
        raise FileFormatError(f"{path}: {problem}") from problem


def _own_specs(path: str | Path, header: Mapping[str, Any]) -> dict[str, FieldSpec]:
    """The declarations of plugins' fields in a file; those of earlier versions have none."""
    try:
        return {spec.name: spec for spec in from_plain(header.get("fields", []))}
    except ValueError as problem:
        raise FileFormatError(f"{path}: {problem}") from None


def _installed_specs() -> Mapping[str, FieldSpec]:
    from dovetail.registry import default_registry

    return default_registry().model_fields()


def _own_sizes() -> list[str]:
    return [name for name, size in SIZES.items() if size.owner == "model"]


def _misfits(
    header: Mapping[str, Any], arrays: Mapping[str, Array], specs: Mapping[str, FieldSpec]
) -> list[str]:
    """What is wrong with the parts of a file, before its content is looked at."""
    sizes, names = header.get("sizes"), header.get("names")
    problems = []
    if (
        not isinstance(sizes, dict)
        or set(sizes) != set(_own_sizes())
        or not all(map(_is_int, sizes.values()))
    ):
        problems.append("the sizes are not those of a Model")
    if not isinstance(names, dict) or not all(_is_names(kind, entries) for kind, entries in names.items()):
        problems.append("the names are not those of a Model")
    if not all(isinstance(header.get(key), str) for key in ("modelname", "source")):
        problems.append("the model's own name is missing")
    if not _is_texts(header.get("stages", {})):  # files of earlier versions have none
        problems.append("the stages it was loaded with are not texts by slot")
    missing = [name for name in specs if name not in arrays]
    unknown = [name for name in arrays if name not in specs]
    problems += [f"field {name} is missing" for name in missing[:3]]
    problems += [f"field {name} is unknown" for name in unknown[:3]]
    for name, value in arrays.items():
        if name in specs and value.dtype != numpy_dtype(specs[name].dtype):
            problems.append(f"{name} is {value.dtype}, not {numpy_dtype(specs[name].dtype)}")
    return problems


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62


def _is_names(kind: object, entries: object) -> bool:
    return kind in KINDS and isinstance(entries, list) and all(isinstance(name, str) for name in entries)


def _is_texts(stages: object) -> bool:
    return isinstance(stages, dict) and all(isinstance(text, str) for text in stages.values())


def _digest(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """A hash of everything in the file but itself."""
    digest = hashlib.sha256(json.dumps(dict(header), sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name}{arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()

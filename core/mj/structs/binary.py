"""Models in files: what `mj_saveModel` writes and `MjModel.from_binary_path` reads, in dovetail's own format.

As in MuJoCo, they do not say which file a model came from: equal models have equal bytes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from tempfile import TemporaryDirectory

from dovetail.contracts import model_store
from dovetail.contracts.model_store import load_model
from dovetail.contracts.types import Model
from dovetail.errors import DovetailError
from dovetail.mj.errors import ModelError


def load_binary(filename: str, assets: Mapping[str, bytes] | None = None) -> Model:
    """The Model in a file, or in the bytes that `assets` has under its name."""
    try:
        given = (assets or {}).get(filename)
        return load_model(filename) if given is None else _from_bytes(bytes(given))
    except DovetailError as problem:
        raise ModelError(
            f"{problem}; a binary model is one that mj_saveModel of dovetail.mj wrote, MuJoCo's own .mjb is not read"
        ) from problem


def _from_bytes(content: bytes) -> Model:
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.npz")
        with open(path, "wb") as file:
            file.write(content)
        return load_model(path)


def save_binary(model: Model, filename: str | None, buffer: object = None) -> None:
    """Write a Model to a file, or into a buffer of bytes that is large enough."""
    if filename:
        model_store.save(model, filename, source="")
        return
    content = as_bytes(model)
    target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
    if len(target) < len(content):
        raise ModelError(
            f"the buffer has {len(target)} bytes, the model needs {len(content)}: see mj_sizeModel"
        )
    target[: len(content)] = content


def as_bytes(model: Model) -> bytes:
    """What a file of the model holds."""
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.npz")
        model_store.save(model, path, source="")
        with open(path, "rb") as file:
            return file.read()

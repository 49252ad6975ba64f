"""`dovetail.to_xml`: a Model or an editable spec as MJCF text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail.contracts.choices import Dialect
from dovetail.contracts.types import Model
from dovetail.errors import ArgumentError, shown

if TYPE_CHECKING:
    from dovetail.mj.spec import MjSpec

_DIALECT: Dialect = "mujoco-3.4"


def to_xml(model: Model | MjSpec, *, assets: dict[str, bytes] | None = None) -> str:
    """MJCF text that compiles to the same Model.

    A spec (`dovetail.mj.MjSpec`) is written as it stands. A Model is written from its arrays, with everything that
    the compiler derived, and read again: if the text brings back other numbers, that is a CannotWriteError which
    names them. Images have no place in MJCF; they are put into `assets` as files, if it is given.
    """
    if hasattr(model, "_model") and isinstance(model._model, Model):  # an MjModel of the drop-in
        model = model._model
    if isinstance(model, Model):
        return _from_model(model, assets)
    write: Any = getattr(model, "to_xml", None)
    if write is None:
        raise ArgumentError(f"to_xml takes a Model or an MjSpec, not {shown(model)}")
    return str(write())


def _from_model(model: Model, assets: dict[str, bytes] | None) -> str:
    from dovetail.mjcf.write.whole import check_written

    if assets is not None and not isinstance(assets, dict):
        raise ArgumentError(f"assets is a dictionary that takes files, not {shown(assets)}")
    text, changed = written(model, assets)
    check_written(changed)
    return text


def written(model: Model, assets: dict[str, bytes] | None) -> tuple[str, list[str]]:
    """MJCF text of a Model, and the fields in which reading it brings back other numbers."""
    import warnings

    from dovetail.loading import _loading, _tables, loads
    from dovetail.mjcf.write.whole import differences, model_text

    text = model_text(model, _tables(_loading(None, None, None, _DIALECT, None)), assets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the Model was loaded with the same warnings already
        return text, differences(model, loads(text, assets=assets or {}))

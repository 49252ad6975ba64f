"""MjModel: a compiled model with MuJoCo's attributes, around a dovetail Model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.sizes import SIZES
from dovetail.contracts.types import MODEL_SPECS, Model
from dovetail.errors import DovetailError
from dovetail.mj.errors import ModelError, model_text
from dovetail.mj.structs import fields
from dovetail.mj.structs.named import MODEL_KINDS, Finder, give_methods
from dovetail.mj.structs.origin import Origin
from dovetail.mj.structs.parts import MjOption, MjStatistic, MjVisual, OfModel

if TYPE_CHECKING:
    from dovetail.planning.plan import Plan

_SIZES = tuple(name for name, size in SIZES.items() if size.owner == "model")
_TEXTS = ("names", "paths", "text_data")
"""Bytes that are shown as such."""


class MjModel:
    """A compiled model. Its arrays are views of the memory of a dovetail Model, which is `_model`."""

    _model: Model
    opt: MjOption
    stat: MjStatistic
    vis: MjVisual
    _size_fields = _SIZES
    _all_fields = (*_SIZES, *filter(fields.is_mujocos, MODEL_SPECS))
    __slots__ = (
        "__weakref__",
        "_finder",
        "_model",
        "_opt",
        "_origin",
        "_plans",
        "_plugin_attr",
        "_stat",
        "_texts",
        "_vis",
    )

    if TYPE_CHECKING:  # fields are put on the class below
        _finder: Finder
        _opt: MjOption
        _stat: MjStatistic
        _vis: MjVisual
        _texts: dict[str, bytes]
        _plugin_attr: Any
        _plans: list[Plan]
        _origin: Origin | None

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, *given: Any, **named: Any) -> None:
        raise TypeError(
            "an MjModel is not made by calling it: use MjModel.from_xml_path, from_xml_string or from_binary_path"
        )

    @classmethod
    def of(cls, model: Model, origin: Origin | None = None) -> MjModel:
        """Around a Model, whose memory it shows; `origin` is what it was loaded from."""
        made = cls.__new__(cls)
        made._model = model
        made._origin = origin
        made._finder = Finder(model, model, MODEL_KINDS, "Model")
        made._opt = MjOption.over(OfModel(model, "opt."))
        made._stat = MjStatistic.over(OfModel(model, "stat."))
        made._vis = MjVisual(model)
        made._plugin_attr = np.asarray(model.field("plugin_attr")).view(np.int8)
        made._texts = {}
        made._plans = []
        return made

    # ---- loading

    @classmethod
    def from_xml_string(cls, xml: str | bytes, assets: Mapping[str, bytes] | None = None) -> MjModel:
        """A model from MJCF text, and the files that it names."""
        from dovetail.loading import loads

        _check_assets(assets)
        try:
            return cls.of(loads(xml, assets=assets), Origin(xml, is_path=False, assets=assets))
        except DovetailError as problem:
            raise ModelError(model_text(problem)) from problem

    @classmethod
    def from_xml_path(
        cls, filename: str | os.PathLike[str], assets: Mapping[str, bytes] | None = None
    ) -> MjModel:
        """A model from an MJCF or URDF file; files in `assets` go before those on the disk."""
        from dovetail.loading import load

        _check_assets(assets)
        path = Path(os.fspath(filename))
        try:
            return cls.of(load(path, assets=assets), Origin(path.absolute(), is_path=True, assets=assets))
        except DovetailError as problem:
            raise ModelError(model_text(problem)) from problem

    @classmethod
    def from_binary_path(
        cls, filename: str | os.PathLike[str], assets: Mapping[str, bytes] | None = None
    ) -> MjModel:
        """A model that `mj_saveModel` wrote, in dovetail's own format."""
        from dovetail.mj.structs.binary import load_binary

        return cls.of(load_binary(os.fspath(filename), assets))

    # ---- parts

    @property
    def names(self) -> bytes:
        """All names one after the other, each ended by a zero."""
        return self._text("names")

    @property
    def paths(self) -> bytes:
        """Paths of asset files one after the other, each ended by a zero."""
        return self._text("paths")

    @property
    def text_data(self) -> bytes:
        """Custom texts one after the other, each ended by a zero."""
        return self._text("text_data")

    def _text(self, name: str) -> bytes:
        if name not in self._texts:
            self._texts[name] = np.asarray(self._model.field(name)).tobytes()
        return self._texts[name]

    @property
    def plugin_attr(self) -> Any:
        """Configuration of engine plugins, as bytes."""
        return self._plugin_attr

    @property
    def signature(self) -> int:
        """A number that models of the same structure share."""
        from dovetail.contracts.store import fingerprint

        return int(fingerprint(self._model), 16)

    @property
    def _sizes(self) -> Any:
        sizes = np.array([getattr(self, name) for name in _SIZES], np.int64)
        sizes.flags.writeable = False
        return sizes

    @property
    def _address(self) -> int:
        return id(self)

    def bind(self, specs: Any) -> Any:
        """What it has of elements of the spec that it was compiled from."""
        from dovetail.mj.spec.binding import bind

        return bind(self, specs)

    bind_scalar = bind

    # ---- copies

    def __copy__(self) -> MjModel:
        return MjModel.of(self._model.copy(), self._origin)

    def __deepcopy__(self, memo: dict[int, Any]) -> MjModel:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return MjModel.of, (self._model,)


def _check_assets(assets: Mapping[str, bytes] | None) -> None:
    """MuJoCo knows assets by the last part of their names, which therefore must differ."""
    seen: set[str] = set()
    for name in assets or ():
        last = os.path.basename(name)
        if last in seen:
            raise ModelError(f"Repeated file name in assets: {last}; names must differ after the last slash")
        seen.add(last)


for _name, _attribute in fields.attributes(MODEL_SPECS, "_model").items():
    if _name not in _TEXTS and _name != "plugin_attr":
        setattr(MjModel, _name, _attribute)
for _name in _SIZES:
    setattr(MjModel, _name, fields.fixed("_model", _name))
for _name in ("opt", "stat", "vis"):
    setattr(MjModel, _name, property(attrgetter(f"_{_name}")))
give_methods(MjModel, MODEL_KINDS)

"""MjData: the state of a simulation with MuJoCo's attributes, around a dovetail Data."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.derive import make_data
from dovetail.contracts.types import DATA_SPECS, Data, Model
from dovetail.mj.structs import fields
from dovetail.mj.structs.model import MjModel
from dovetail.mj.structs.named import DATA_KINDS, Finder, give_methods
from dovetail.mj.structs.parts import (
    Contacts,
    SolverStats,
    _MjContactList,
    _MjSolverStatList,
    _MjTimerStatList,
    _MjWarningStatList,
    fresh_timers,
    fresh_warnings,
)
from dovetail.mj.structs.shapes import SHAPES

_PLAIN = (
    "maxuse_arena",
    "maxuse_con",
    "maxuse_efc",
    "maxuse_stack",
    "parena",
    "pbase",
    "pstack",
    "threadpool",
)
"""Numbers of MuJoCo's own memory, which mean nothing here: they can be read and set."""


class MjData:
    """State and everything computed from it. Its arrays are views of the memory of a dovetail Data, which is `_data`.

    `_ready` is a step that is kept ready (see `running`).
    """

    _data: Data
    _ready: Any
    contact: _MjContactList
    warning: _MjWarningStatList
    timer: _MjTimerStatList
    solver: _MjSolverStatList
    _all_fields = ("narena", "nbuffer", "nplugin", *_PLAIN, *filter(fields.is_mujocos, DATA_SPECS))
    __slots__ = (
        "__weakref__",
        "_contact",
        "_data",
        "_finder",
        "_lasting",
        "_model",
        "_others",
        "_ready",
        "_solver",
        "_timer",
        "_warning",
        "maxuse_threadstack",
        *_PLAIN,
    )

    if TYPE_CHECKING:  # fields are put on the class below
        _others: dict[int, Data]
        _lasting: dict[str, Any]

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, model: MjModel) -> None:
        if not isinstance(model, MjModel):
            raise TypeError(f"MjData is made of an MjModel, not of {model!r}")
        self._take(model, make_data(model._model))

    def _take(self, model: MjModel, data: Data) -> None:
        self._model, self._data = model, data
        self._finder = Finder(data, data.model, DATA_KINDS, "Data")
        self._contact = _MjContactList(Contacts(data))
        self._solver = _MjSolverStatList(SolverStats(data))
        self._warning, self._timer = fresh_warnings(), fresh_timers()
        self._ready = None
        self._others = {}
        self._lasting = {
            "plugin": np.array(data.model.plugin),
            "plugin_data": np.zeros(data.model.nplugin, np.uint64),
        }
        self.maxuse_threadstack = np.zeros(128, np.uint64)
        for name in _PLAIN:
            setattr(self, name, 0)

    @classmethod
    def of(cls, model: MjModel, data: Data) -> MjData:
        """Around a Data of the model's, whose memory it shows."""
        made = cls.__new__(cls)
        made._take(model, data)
        return made

    @property
    def model(self) -> MjModel:
        """The model it was made of."""
        return self._model

    def seen_by(self, model: MjModel) -> Data:
        """The Data as one of another model of the same sizes, which MuJoCo's functions accept; same memory."""
        if model is self._model or model._model is self._data.model:
            return self._data
        return self._with(model._model)

    def _with(self, model: Model) -> Data:
        known = self._others.get(id(model))
        if known is None or known.model is not model:
            if dict(model.sizes) != dict(self._data.model.sizes):
                raise ValueError("the model and the data do not belong together: their sizes differ")
            own = self._data
            known = Data(own.arena, own.specs, model, own._sizes, nworld=None, precision=own.precision)
            self._others = {id(model): known}
        return known

    @property
    def narena(self) -> int:
        """Bytes of MuJoCo's arena, as the model says."""
        return int(self._data.model.narena)

    @property
    def nbuffer(self) -> int:
        """Bytes of memory."""
        return int(self._data.arena.nbytes)

    @property
    def nplugin(self) -> int:
        """Number of engine plugins."""
        return int(self._data.model.nplugin)

    @property
    def signature(self) -> int:
        """That of its model."""
        return self._model.signature

    @property
    def _address(self) -> int:
        return id(self)

    def bind(self, specs: Any) -> Any:
        """What it has of elements of the spec that its model was compiled from."""
        from dovetail.mj.spec.binding import bind

        return bind(self, specs)

    bind_scalar = bind

    # ---- copies

    def _plain_state(self) -> tuple[Any, ...]:
        """What it has besides the Data."""
        return (
            self._warning.__copy__(),
            self._timer.__copy__(),
            {name: getattr(self, name) for name in (*_PLAIN,)},
            np.array(self.maxuse_threadstack),
        )

    def _restore(self, state: tuple[Any, ...]) -> None:
        self._warning, self._timer, numbers, self.maxuse_threadstack = state
        for name, value in numbers.items():
            setattr(self, name, value)

    def __copy__(self) -> MjData:
        return _rebuilt(self._model, self._data.copy(), self._plain_state())

    def __deepcopy__(self, memo: dict[int, Any]) -> MjData:
        model = memo.get(id(self._model))
        if model is None:
            model = memo[id(self._model)] = self._model.__copy__()
        return _rebuilt(model, self._data.copy(model._model), self._plain_state())

    def __reduce__(self) -> Any:
        return _rebuilt, (self._model, self._data, self._plain_state())


def _rebuilt(model: MjModel, data: Data, state: tuple[Any, ...]) -> MjData:
    made = MjData.of(model, data)
    made._restore(state)
    return made


for _name, _attribute in {**fields.attributes(DATA_SPECS, "_data"), **SHAPES}.items():
    setattr(MjData, _name, _attribute)
for _name in ("contact", "warning", "timer", "solver"):
    setattr(MjData, _name, property(attrgetter(f"_{_name}")))
for _name in ("plugin", "plugin_data"):  # of engine plugins by instance; there are no pointers here
    setattr(MjData, _name, fields.own(_name))
give_methods(MjData, DATA_KINDS)

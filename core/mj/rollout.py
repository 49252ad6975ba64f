"""Trajectories from many starts with given controls: `mujoco.rollout` on dovetail.

    from dovetail.mj import rollout
    state, sensordata = rollout.rollout(model, data, initial_states, controls)

Shapes, defaults and errors are MuJoCo's. Threads take rollouts from a list, each with an MjData of its own.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from dovetail.contracts.derive import initial_values
from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.errors import ArgumentError, shown
from dovetail.mj.enums import ENUMS
from dovetail.mj.functions.engine import BAD_FIELDS, engine_of
from dovetail.mj.functions.states import PARTS, read_state, state_size
from dovetail.mj.functions.stepping import mj_step
from dovetail.mj.structs import MjData, MjModel

__all__ = ["Rollout", "rollout", "shutdown_persistent_pool"]

Models: TypeAlias = MjModel | Sequence[MjModel]
Datas: TypeAlias = MjData | Sequence[MjData]

FULLPHYSICS = int(ENUMS["mjtState"].mjSTATE_FULLPHYSICS)
CTRL = int(ENUMS["mjtState"].mjSTATE_CTRL)
USER = int(ENUMS["mjtState"].mjSTATE_USER)
_INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat", "userdata")


class Rollout:
    """Threads that roll out; with `nthread` 0 or None the caller does it alone. Used with `with`, or closed."""

    def __init__(self, *, nthread: int | None = None) -> None:
        self.nthread = nthread or 0
        self._pool = ThreadPoolExecutor(self.nthread) if self.nthread else None
        self._open = True

    def __enter__(self) -> Rollout:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
        self._pool, self._open = None, False

    def rollout(
        self,
        model: Models,
        data: Datas,
        initial_state: Any,
        control: Any = None,
        *,
        control_spec: int = CTRL,
        skip_checks: bool = False,
        nstep: int | None = None,
        initial_warmstart: Any = None,
        state: Any = None,
        sensordata: Any = None,
        chunk_size: int | None = None,
    ) -> tuple[Array, Array]:
        """States (nbatch, nstep, nstate) and sensors (nbatch, nstep, nsensordata) of trajectories.

        `model`: one, or one for each rollout, of the same sizes; `data`: one, or one for each thread. `initial_state`
        (nbatch, nstate), `control` (nbatch, nstep, ncontrol) with the parts that `control_spec` names (mjtState),
        `initial_warmstart` (nbatch, nv): a first axis that is missing or 1 is repeated, as is one step of controls.
        Results go into `state` and `sensordata` if they are given. With `skip_checks` all arrays must be there in
        full. A trajectory that goes bad stays where it was.
        """
        if not self._open:
            raise RuntimeError("rollout requested after thread pool shutdown")
        if not skip_checks:
            made = _Request(model, data, control_spec, nstep, chunk_size)
            return self._run(*made.filled(initial_state, control, initial_warmstart, state, sensordata))
        models = list(model) if not isinstance(model, MjModel) else [model]
        datas = list(data) if not isinstance(data, MjData) else [data]
        job = _Job(
            models, nstep or 1, control_spec, initial_state, initial_warmstart, control, state, sensordata
        )
        return self._run(job, datas, chunk_size)

    def _run(self, job: _Job, datas: list[MjData], chunk_size: int | None) -> tuple[Array, Array]:
        _check_datas(datas, self.nthread)
        if self._pool is None:
            job.run(datas[0], range(job.nbatch))
            return job.state, job.sensordata
        size = chunk_size or max(1, job.nbatch // (10 * self.nthread))
        chunks = iter([range(i, min(i + size, job.nbatch)) for i in range(0, job.nbatch, size)])

        def work(data: MjData) -> None:
            for chunk in chunks:  # the threads share it; `next` of a list's iterator is one instruction
                job.run(data, chunk)

        for done in [self._pool.submit(work, data) for data in datas]:
            done.result()
        return job.state, job.sensordata


def _check_datas(datas: list[MjData], nthread: int) -> None:
    if not datas:
        raise ValueError("The list of data instances is empty")
    if nthread == 0 and len(datas) > 1:
        raise ValueError("More than one data instance passed but rollout is configured to run on main thread")
    if nthread and len(datas) != nthread:
        raise ValueError(f"Length of data: {len(datas)} not equal to nthread: {nthread}")


class _Job:
    """Rollouts with all arrays in full."""

    def __init__(
        self,
        models: list[MjModel],
        nstep: int,
        control_spec: int,
        initial_state: Any,
        initial_warmstart: Any,
        control: Any,
        state: Any,
        sensordata: Any,
    ) -> None:
        self.models, self.nstep = models, nstep
        self.initial_state, self.warmstart, self.control = initial_state, initial_warmstart, control
        self.state, self.sensordata = state, sensordata
        self.nbatch = len(initial_state)
        self._control_parts = [part for bit, part in enumerate(PARTS) if control_spec >> bit & 1]
        self._state_parts = [part for bit, part in enumerate(PARTS) if FULLPHYSICS >> bit & 1]

    def run(self, d: MjData, which: range) -> None:
        """Some of the rollouts, one after the other."""
        for number in which:
            self._one(self.models[number if len(self.models) > 1 else 0], d, number)

    def _one(self, m: MjModel, d: MjData, number: int) -> None:
        data = engine_of(m, d).data
        self._start(m, d, data, number)
        state = None if self.state is None else self.state[number]
        sensors = None if self.sensordata is None else self.sensordata[number]
        views = [data.field(part).reshape(-1) for part in self._state_parts]
        places, start = [], 0
        for view in views:
            places.append(slice(start, start + len(view)))
            start += len(view)
        bad = d.warning.number
        for step in range(self.nstep):
            if any(bad[kind] for kind in BAD_FIELDS.values()):
                self._fill(state, sensors, step, views, data)
                return
            if self.control is not None:
                read_state(data, self.control[number, step], self._control_parts)
            mj_step(m, d)
            if state is not None:
                for place, view in zip(places, views, strict=True):
                    state[step, place] = view
            if sensors is not None:
                sensors[step] = data.sensordata

    def _start(self, m: MjModel, d: MjData, data: Data, number: int) -> None:
        """The start of a rollout, on which nothing that was there before has an influence."""
        for name in _INPUTS:
            if name in self._control_parts and self.control is not None:
                continue
            view = data.field(name)
            view[...] = initial_values(m._model, DATA_SPECS[name])
        read_state(data, self.initial_state[number], self._state_parts)
        data.qacc_warmstart[...] = 0.0 if self.warmstart is None else self.warmstart[number]
        d.warning.number[...] = 0

    def _fill(self, state: Any, sensors: Any, step: int, views: list[Array], data: Data) -> None:
        """The rest of a trajectory that went bad."""
        if state is not None:
            state[step:] = np.concatenate(views)
        if sensors is not None:
            sensors[step:] = data.sensordata


class _Request:
    """What was asked for, checked and completed."""

    def __init__(
        self, model: Models, data: Datas, control_spec: int, nstep: int | None, chunk_size: int | None
    ) -> None:
        self.models = [model] if isinstance(model, MjModel) else list(model)
        self.one_model = isinstance(model, MjModel)
        self.datas = [data] if isinstance(data, MjData) else list(data)
        if int(control_spec) & ~USER:
            raise ValueError("control_spec can only contain bits in mjSTATE_USER")
        if nstep and not isinstance(nstep, int):
            raise ValueError("nstep must be an integer")
        if chunk_size and not isinstance(chunk_size, int):
            raise ValueError("chunk_size must be an integer")
        self.spec, self.nstep, self.chunk_size = int(control_spec), nstep, chunk_size

    def filled(
        self, initial_state: Any, control: Any, warmstart: Any, state: Any, sensordata: Any
    ) -> tuple[_Job, list[MjData], int | None]:
        """A job with all arrays in full."""
        starts = {"initial_state": initial_state, "initial_warmstart": warmstart}
        paths = {"control": control, "state": state, "sensordata": sensordata}
        for name, value in {**starts, **paths}.items():
            if value is not None and not isinstance(value, np.ndarray | float):
                raise ValueError(f"{name} must be a numpy array or float")
        flat = {name: _with_axes(name, value, 2) for name, value in starts.items()}
        deep = {name: _with_axes(name, value, 3) for name, value in paths.items()}
        nbatch = _inferred(0, 1, {**flat, **deep})
        if not self.one_model and nbatch == 1:
            nbatch = len(self.models)
        if len(self.models) > 1 and len(self.models) != nbatch:
            raise ValueError(f"nbatch inferred as {nbatch} but model is length {len(self.models)}")
        nstep = _inferred(1, self.nstep or 1, deep)
        nstate, ncontrol, nv, nsensordata = self._sizes()
        for name, size in (("initial_state", nstate), ("initial_warmstart", nv)):
            _check_last(name, flat[name], size)
        for name, size in (("state", nstate), ("control", ncontrol), ("sensordata", nsensordata)):
            _check_last(name, deep[name], size)
        job = _Job(
            self.models,
            nstep,
            self.spec,
            _repeated(flat["initial_state"], nbatch),
            _repeated(flat["initial_warmstart"], nbatch),
            _repeated(deep["control"], nbatch, nstep),
            np.empty((nbatch, nstep, nstate)) if deep["state"] is None else deep["state"],
            np.empty((nbatch, nstep, nsensordata)) if deep["sensordata"] is None else deep["sensordata"],
        )
        return job, self.datas, self.chunk_size

    def _sizes(self) -> tuple[int, int, int, int]:
        """Sizes of state, control, velocities and sensors, which all models share."""
        found = [
            (state_size(m._model, FULLPHYSICS), state_size(m._model, self.spec), m.nv, m.nsensordata)
            for m in self.models
        ]
        if any(sizes != found[0] for sizes in found):
            raise ValueError("models are not compatible")
        return found[0]


def _with_axes(name: str, value: Any, count: int) -> Array | None:
    """An array with so many axes, new ones in front."""
    if value is None:
        return None
    if np.ndim(value) > count:
        raise ValueError(f"{name} can have at most {count} dimensions")
    if np.asarray(value).dtype.kind not in "biuf":
        raise ArgumentError(f"{name} takes numbers, not {shown(value)}")
    array: Array = np.ascontiguousarray(value, dtype=float)
    return array.reshape((1,) * (count - np.ndim(value)) + np.shape(value))


def _inferred(axis: int, known: int, arrays: dict[str, Array | None]) -> int:
    """The length of an axis that all arrays share; 1 may be any."""
    for name, array in arrays.items():
        if array is None or array.shape[axis] in (known, 1):
            continue
        if known != 1:
            raise ValueError(f"dimension {axis} inferred as {known} but {name} has {array.shape[axis]}")
        known = array.shape[axis]
    return known


def _check_last(name: str, array: Array | None, size: int) -> None:
    if array is not None and array.shape[-1] != size:
        raise ValueError(f"trailing dimension of {name} must be {size}, got {array.shape[-1]}")


def _repeated(array: Array | None, *lengths: int) -> Array | None:
    """Repeat axes of length 1."""
    return None if array is None else np.broadcast_to(array, (*lengths, *array.shape[len(lengths) :]))


_persistent: Rollout | None = None


def shutdown_persistent_pool() -> None:
    """End the threads that `rollout(..., persistent_pool=True)` keeps; done at the end of the program anyhow."""
    global _persistent
    if _persistent is not None:
        _persistent.close()
    _persistent = None


atexit.register(shutdown_persistent_pool)


def rollout(
    model: Models,
    data: Datas,
    initial_state: Any,
    control: Any = None,
    *,
    control_spec: int = CTRL,
    skip_checks: bool = False,
    nstep: int | None = None,
    initial_warmstart: Any = None,
    state: Any = None,
    sensordata: Any = None,
    chunk_size: int | None = None,
    persistent_pool: bool = False,
) -> tuple[Array, Array]:
    """States and sensors of trajectories (see `Rollout.rollout`), with a thread for each MjData if there are several;
    `persistent_pool` keeps the threads for the next call."""
    global _persistent
    nthread = len(data) if not isinstance(data, MjData) and len(data) > 1 else 0
    if persistent_pool:
        if _persistent is not None and _persistent.nthread != nthread:
            shutdown_persistent_pool()
        _persistent = _persistent or Rollout(nthread=nthread)
    used = _persistent if persistent_pool and _persistent is not None else Rollout(nthread=nthread)
    try:
        return used.rollout(
            model,
            data,
            initial_state,
            control,
            control_spec=control_spec,
            skip_checks=skip_checks,
            nstep=nstep,
            initial_warmstart=initial_warmstart,
            state=state,
            sensordata=sensordata,
            chunk_size=chunk_size,
        )
    finally:
        if not persistent_pool:
            used.close()

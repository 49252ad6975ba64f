"""mj_step, mj_forward, mj_inverse: whole steps and evaluations, their halves, integrators and checks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.bad_states import BEFORE_INTEGRATION, BEFORE_STEP
from dovetail.contracts.enums import Integrator
from dovetail.mj import callbacks
from dovetail.mj.callbacks import CURRENT
from dovetail.mj.functions import with_callbacks as staged
from dovetail.mj.functions.binding import function
from dovetail.mj.functions.engine import Engine, engine_of
from dovetail.plugins.queries.inverse_dynamics import inverse_with

if TYPE_CHECKING:
    from dovetail.mj.structs import MjData, MjModel

STEP, FORWARD, INVERSE = 0, 1, 2
"""mjtTimer."""


def mj_step(m: MjModel, d: MjData, nstep: int = 1) -> None:
    """mj_step(m: mujoco._structs.MjModel, d: mujoco._structs.MjData, nstep: typing.SupportsInt = 1) -> None

    Advance the simulation by a step. Optionally, repeat nstep times.
    """
    if CURRENT.any:
        _step_with_callbacks(m, d, nstep)
        return
    begin = perf_counter()
    try:
        engine: Engine = d._ready
        if engine.model is not m._model:
            engine = engine_of(m, d)
    except AttributeError:
        engine = _checked_engine(m, d)
    engine.step(nstep if type(nstep) is int else _whole(nstep))
    engine.count_step(nstep, perf_counter() - begin)


def _whole(nstep: Any) -> int:
    if isinstance(nstep, float | np.floating):
        raise TypeError(
            f"mj_step(): incompatible function arguments: nstep should be a whole number, not {nstep!r}"
        )
    return int(nstep)


def _checked_engine(m: Any, d: Any) -> Engine:
    """The engine of a Data that has none yet; a TypeError if it is none."""
    return _engine_of_arguments(m, d)


@function("m: m, d: d")
def _engine_of_arguments(m: MjModel, d: MjData) -> Engine:
    return engine_of(m, d)


_engine_of_arguments.__name__ = "mj_step"


@contextmanager
def _timed(m: MjModel, d: MjData, which: int, times: int = 1) -> Iterator[None]:
    """Count and time an evaluation, by the clock of the user's if there is one."""
    own = CURRENT.time is not None
    begin = callbacks.now() if own else perf_counter()
    yield
    took = callbacks.now() - begin if own else perf_counter() - begin
    engine_of(m, d).count(which, times, took)


def _step_with_callbacks(m: MjModel, d: MjData, nstep: int) -> None:
    engine = _checked_engine(m, d)
    for _ in range(_whole(nstep)):
        with _timed(m, d, STEP):
            if not CURRENT.inside and CURRENT.control is not None and _is_simple(engine):
                engine.check(BEFORE_STEP)
                engine.first_half()
                staged.control(m, d)
                engine.step(1)
            elif CURRENT.inside or CURRENT.control is not None:
                _staged_step(m, d)
            else:
                engine.step(1)


def _is_simple(engine: Engine) -> bool:
    """Whether a step evaluates once, so that controls are asked for once."""
    return int(engine.model.opt.integrator) != Integrator.RK4


def _staged_step(m: MjModel, d: MjData) -> None:
    """A step on the reference, with callbacks."""
    engine = engine_of(m, d)
    engine.data.arena.late.settle()
    engine.forget()
    engine.check(BEFORE_STEP)
    staged.forward(m, d)
    if not engine.check(BEFORE_INTEGRATION) and engine.resets:
        staged.forward(m, d)
    _integrate(m, d)


def _integrate(m: MjModel, d: MjData) -> None:
    """Move the state; an integrator that evaluates more than once has callbacks each time."""
    engine = engine_of(m, d)
    stages = engine.stages
    for evaluation in range(stages.evaluations):
        if evaluation:
            staged.forward(m, d, skipsensor=True)
        stages.run(engine.data, ["integrate"], evaluation)


@function("m: m, d: d")
def mj_forward(m: MjModel, d: MjData) -> None:
    """Compute everything that follows from the state, without moving it."""
    if CURRENT.any:
        with _timed(m, d, FORWARD):
            if CURRENT.inside or CURRENT.control is not None:
                staged.forward(m, d)
            else:
                engine_of(m, d).forward()
        return
    begin = perf_counter()
    engine = engine_of(m, d)
    engine.forward()
    engine.count(FORWARD, 1, perf_counter() - begin)


@function("m: m, d: d, skipstage: int, skipsensor: int")
def mj_forwardSkip(m: MjModel, d: MjData, skipstage: int, skipsensor: int) -> None:
    """The same without the stages up to `skipstage`, whose results are still good, and without sensors."""
    if skipstage == staged.NONE and not skipsensor:
        mj_forward(m, d)
    else:
        staged.forward(m, d, skipstage, bool(skipsensor))


@function("m: m, d: d")
def mj_step1(m: MjModel, d: MjData) -> None:
    """The first half of a step: what follows from positions and velocities. Then controls and forces may be set."""
    engine = engine_of(m, d)
    engine.check(BEFORE_STEP)
    if CURRENT.inside or not engine.may_take_steps():
        engine.data.arena.late.settle()
        engine.forget()
        staged.first_half(m, d)
    else:
        engine.first_half()
        staged.control(m, d)


@function("m: m, d: d")
def mj_step2(m: MjModel, d: MjData) -> None:
    """The second half of a step: forces, accelerations, and the move. RK4 has no halves; Euler's move is taken."""
    engine = engine_of(m, d)
    if not CURRENT.inside and engine.is_halfway():
        engine.second_half()
        return
    engine.data.arena.late.settle()
    engine.forget()
    staged.second_half(m, d)
    if not engine.check(BEFORE_INTEGRATION) and engine.resets:
        staged.forward(m, d)
    kinds = {Integrator.IMPLICIT: "implicit", Integrator.IMPLICITFAST: "implicitfast"}
    engine.integrate(kinds.get(Integrator(int(engine.model.opt.integrator)), "euler"))


@function("m: m, d: d")
def mj_inverse(m: MjModel, d: MjData) -> None:
    """The forces that give the accelerations in d.qacc."""
    with _timed(m, d, INVERSE):
        _inverse(m, d, staged.NONE, skipsensor=False)


@function("m: m, d: d, skipstage: int, skipsensor: int")
def mj_inverseSkip(m: MjModel, d: MjData, skipstage: int, skipsensor: int) -> None:
    """The same without the stages up to `skipstage`, whose results are still good, and without sensors."""
    _inverse(m, d, skipstage, skipsensor=bool(skipsensor))


def _inverse(m: MjModel, d: MjData, skipstage: int, *, skipsensor: bool) -> None:
    engine = engine_of(m, d)
    data = engine.data
    data.arena.late.settle()
    engine.forget()
    if skipstage < staged.POS:
        staged.position(m, d)
        if not skipsensor:
            staged.sensors(m, d, staged.POS)
    if skipstage < staged.VEL:
        staged.velocity(m, d)
        if not skipsensor:
            staged.sensors(m, d, staged.VEL)
        staged.energy(m, d)
    inverse_with(engine.plan(backend="numpy"), data, (), observe=False)
    if not skipsensor:
        staged.sensors(m, d, staged.ACC)


# ---- integrators --------------------------------------------------------------------------------------------------


@function("m: m, d: d")
def mj_Euler(m: MjModel, d: MjData) -> None:
    """Move the state by Euler's method, semi-implicit: positions go with the new velocities."""
    engine_of(m, d).integrate("euler")


@function("m: m, d: d")
def mj_implicit(m: MjModel, d: MjData) -> None:
    """Move the state, implicit in velocities; `implicitfast` if the model's integrator is that one."""
    from dovetail.mj.errors import FatalError

    engine = engine_of(m, d)
    names = {Integrator.IMPLICIT: "implicit", Integrator.IMPLICITFAST: "implicitfast"}
    chosen = names.get(Integrator(int(engine.model.opt.integrator)))
    if chosen is None:
        raise FatalError("mj_implicit: integrator must be implicit or implicitfast")
    engine.integrate(chosen)


@function("m: m, d: d, N: int")
def mj_RungeKutta(m: MjModel, d: MjData, N: int) -> None:
    """Move the state by Runge and Kutta's method of fourth order; N must be 4."""
    from dovetail.mj.errors import FatalError

    if N != 4:
        raise FatalError("mj_RungeKutta: only N=4 is implemented")
    engine = engine_of(m, d)
    stages = engine.with_integrator("rk4")
    for evaluation in range(stages.evaluations):
        if evaluation:
            staged.forward(m, d, skipsensor=True)
        stages.run(engine.data, ["integrate"], evaluation)


# ---- checks -------------------------------------------------------------------------------------------------------


@function("m: m, d: d")
def mj_checkPos(m: MjModel, d: MjData) -> None:
    """Reset if a position is broken."""
    engine_of(m, d).check(("qpos",))


@function("m: m, d: d")
def mj_checkVel(m: MjModel, d: MjData) -> None:
    """Reset if a velocity is broken."""
    engine_of(m, d).check(("qvel",))


@function("m: m, d: d")
def mj_checkAcc(m: MjModel, d: MjData) -> None:
    """Reset if an acceleration is broken, and evaluate again."""
    engine = engine_of(m, d)
    if not engine.check(BEFORE_INTEGRATION) and engine.resets:
        mj_forward(m, d)


@function("m: m, d: d")
def mj_compareFwdInv(m: MjModel, d: MjData) -> None:
    """How far inverse dynamics is from what forward dynamics found: into d.solver_fwdinv."""
    from dovetail.plugins.inverse.newton_euler_numpy import inverse

    engine = engine_of(m, d)
    inverse(engine.model, engine.data)


@function("")
def mj_resetCallbacks() -> None:
    """Remove all callbacks."""
    callbacks.reset()


# ---- room ---------------------------------------------------------------------------------------------------------


@function("d: d, ncon: int, nefc: int, nJ: int = -1")
def _realloc_con_efc(d: MjData, ncon: int, nefc: int, nJ: int) -> None:
    """Have so many contacts, constraint rows and entries of their Jacobian, all zero; what was there is gone."""
    from dovetail.mj.errors import FatalError

    data = d._data
    data.arena.late.forget()
    entries = nefc * int(data.model.nv) if nJ < 0 else nJ
    data.ncon = data.nefc = data.nJ = 0
    bytes_wanted = 8 * (90 * ncon + 20 * nefc + 2 * entries)
    if bytes_wanted > max(d.narena, 1 << 24):
        raise FatalError(
            f'Insufficient arena memory, currently allocated memory="{_in_units(d.narena)}". '
            f'Increase using <size memory="X"/>.'
        )
    data.reserve(ncon_max=ncon, nefc_max=nefc, nJ_max=entries)
    for name, view in data.fields():
        if data.specs[name].grows:
            view[...] = 0
    data.ncon, data.nefc, data.nJ = ncon, nefc, entries


@function("m: m, d: d, con: MjContact", "int")
def mj_addContact(m: MjModel, d: MjData, con: Any) -> int:
    """Add a contact to the list; 0, for there is always room."""
    data = engine_of(m, d).data
    data.arena.late.settle()
    number = int(data.ncon)
    data.reserve(ncon_max=number + 1)
    data.ncon = number + 1
    d.contact[number] = con
    return 0


def _in_units(nbytes: int) -> str:
    from dovetail.mj.functions.numbers import mju_writeNumBytes

    return str(mju_writeNumBytes(nbytes))


__all__ = ["_realloc_con_efc"]
__all__ += [name for name in globals() if name.startswith("mj_")]

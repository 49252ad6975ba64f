"""What must hold of a stage's results whoever computed them: identities, checked on the Data it left.

A table by stage. Each function takes one world's Model and Data after the stage ran, and gives quantities with their
errors; an error is relative to the size of what is compared. `MOTIONS` are of whole runs: simple cases whose energy,
momentum or place of rest is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.testing.measured import Measured

Found = Iterator[tuple[str, float, float]]
"""Quantity, error, tolerance."""

EXACT, SOLVED = 1e-9, 1e-4
"""Tolerances: of identities in double precision, and of what an iteration approaches."""


def _relative(difference: Any, *scales: Any) -> float:
    size = max([1e-3, *(float(np.abs(s).max(initial=0.0)) for s in scales)])
    return float(np.abs(difference).max(initial=0.0)) / size


def sparse_rows(model: Any, values: Array) -> Array:
    """A matrix (nv, nv) from entries kept by rows as the mass matrix is: the lower triangle."""
    matrix = np.zeros((model.nv, model.nv))
    for row, (start, count) in enumerate(zip(model.M_rowadr, model.M_rownnz, strict=True)):
        matrix[row, model.M_colind[start : start + count]] = values[start : start + count]
    return matrix


def mass_matrix_of(model: Any, data: Any) -> Array:
    lower = sparse_rows(model, np.asarray(data.M))
    return lower + np.tril(lower, -1).T


def positive(model: Any, data: Any) -> Found:
    """The mass matrix is positive definite."""
    if model.nv:
        least, most = np.linalg.eigvalsh(mass_matrix_of(model, data))[[0, -1]]
        yield "M is positive definite", max(0.0, -float(least / max(most, 1e-12))), 0.0


def factored(model: Any, data: Any) -> Found:
    """LᵀDL = M."""
    if model.nv:
        entries = sparse_rows(model, np.asarray(data.qLD))
        unit = np.tril(entries, -1) + np.eye(model.nv)
        product = unit.T @ np.diag(np.diag(entries)) @ unit
        mass = mass_matrix_of(model, data)
        yield "LᵀDL − M", _relative(product - mass, mass), EXACT


def solved_smooth(model: Any, data: Any) -> Found:
    """M qacc_smooth = qfrc_smooth."""
    if model.nv:
        force = mass_matrix_of(model, data) @ np.asarray(data.qacc_smooth)
        yield (
            "M qacc_smooth − qfrc_smooth",
            _relative(force - data.qfrc_smooth, data.qfrc_smooth, force),
            EXACT,
        )


def stationary(model: Any, data: Any) -> Found:
    """The gradient of the solver's cost is zero: M qacc = qfrc_smooth + qfrc_constraint."""
    if model.nv:
        force = mass_matrix_of(model, data) @ np.asarray(data.qacc)
        left = force - data.qfrc_smooth - data.qfrc_constraint
        yield "M qacc − qfrc_smooth − qfrc_constraint", _relative(left, data.qfrc_smooth, force), SOLVED


def rotations(model: Any, data: Any) -> Found:
    """Quaternions have length one, matrices are rotations."""
    yield "|xquat| − 1", _relative(np.linalg.norm(data.xquat, axis=1) - 1.0), EXACT
    frames = np.asarray(data.xmat).reshape(-1, 3, 3)
    yield "xmat xmatᵀ − 1", _relative(frames @ frames.transpose(0, 2, 1) - np.eye(3)), EXACT


def contact_frames(model: Any, data: Any) -> Found:
    """Contact normals have length one, and nothing touches that is further than its margin."""
    count = int(data.ncon)
    if count:
        normals = np.asarray(data.contact.frame[:count]).reshape(count, 9)[:, :3]
        yield "|contact normal| − 1", _relative(np.linalg.norm(normals, axis=1) - 1.0), EXACT


def dissipates(model: Any, data: Any) -> Found:
    """Dampers take energy out: qfrc_damper · qvel ≤ 0."""
    power = float(np.asarray(data.qfrc_damper) @ np.asarray(data.qvel))
    scale = float(np.abs(np.asarray(data.qfrc_damper) * np.asarray(data.qvel)).sum()) or 1.0
    yield "qfrc_damper · qvel ≤ 0", max(0.0, power / scale), EXACT


AFTER: Mapping[str, tuple[tuple[str, ...], Callable[[Any, Any], Found]]] = {
    "kinematics": (("xquat", "xmat"), rotations),
    "mass_matrix": (("M",), positive),
    "factor_mass": (("qLD",), factored),
    "narrowphase": (("contact.frame",), contact_frames),
    "passive_force:damper": (("qfrc_damper",), dissipates),
    "smooth_acceleration": (("qacc_smooth",), solved_smooth),
    "solve_constraints": (("qacc", "qfrc_constraint"), stationary),
}
"""By stage or row: the fields it must leave in Data for that, and what must hold of them."""


# ---- whole runs

FLOATING = """
<mujoco model="floating">
  <option timestep="0.002" gravity="0 0 0"><flag constraint="disable" energy="enable"/></option>
  <worldbody>
    <body><freejoint/><geom type="box" size=".1 .2 .3" mass="2"/>
      <body pos=".2 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .4 0 0" mass="1"/></body>
    </body>
  </worldbody>
</mujoco>
"""

SWING = """
<mujoco model="swing">
  <option timestep="0.001"><flag constraint="disable" energy="enable"/></option>
  <worldbody><body pos="0 0 1"><joint axis="0 1 0"/><geom size=".1" pos=".5 0 0" mass="1"/></body></worldbody>
</mujoco>
"""

DROPPED = """
<mujoco model="dropped">
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 .11"><freejoint/><geom size=".1" mass="1"/></body>
  </worldbody>
</mujoco>
"""

DRIFT = 1e-2
"""Largest change of energy, relative to its size, and of the velocity of a centre of mass, in a second or less."""
DEEPEST = 2e-3
"""Metres that a ball of 1 kg may sink into the floor with MuJoCo's default softness."""


def conserved_momentum(simulate: Callable[[str], Any]) -> Found:
    """Without forces from outside, the common centre of mass moves uniformly."""
    sim = simulate(FLOATING)
    sim.data.qvel[:] = [0.3, -0.2, 0.1, 1.0, 2.0, -1.0, 3.0]
    places = []
    for _ in range(3):
        sim.forward()
        places.append(np.array(sim.data.subtree_com[0]))
        sim.step(100)
    first, second = np.diff(places, axis=0)
    yield "centre of mass moves uniformly", _relative(second - first, first), DRIFT


def conserved_energy(simulate: Callable[[str], Any]) -> Found:
    """A frictionless pendulum keeps its energy."""
    sim = simulate(SWING)
    energies = []
    for _ in range(6):
        sim.forward()
        energies.append(float(np.sum(sim.data.energy)))
        sim.step(100)
    turned = 9.81 * 0.5  # J, from level to the lowest point
    yield "energy of a pendulum", float(np.ptp(energies)) / turned, DRIFT


def no_penetration(simulate: Callable[[str], Any]) -> Found:
    """A ball that is dropped on a floor lies on it, not in it."""
    sim = simulate(DROPPED)
    sim.step(500)
    yield "ball sinks into the floor (m)", max(0.0, 0.1 - float(sim.data.qpos[2])), DEEPEST
    yield "ball hovers over the floor (m)", max(0.0, float(sim.data.qpos[2]) - 0.1), DEEPEST


MOTIONS: Mapping[str, tuple[Callable[[Callable[[str], Any]], Found], ...]] = {
    "integrate": (conserved_momentum, conserved_energy),
    "solve_constraints": (no_penetration,),
    "narrowphase": (no_penetration,),
    "collide_pair:plane-sphere": (no_penetration,),
}
"""By stage or row: what runs with it are to show."""


def of_results(slot: str, leaves: frozenset[str], model: Any, data: Any) -> list[Measured]:
    """What holds of a world that a slot has just filled; empty if nothing is known of it."""
    fields, holds = AFTER.get(slot, ((), None))
    if holds is None or not leaves.issuperset(fields):
        return []
    return [Measured(model.modelname, *found) for found in holds(model, data)]


def of_motions(slot: str, simulate: Callable[[str], Any]) -> list[Measured]:
    """What holds of whole runs with an implementation of a slot."""
    return [
        Measured(show.__name__.replace("_", " "), *found)
        for show in MOTIONS.get(slot, ())
        for found in show(simulate)
    ]

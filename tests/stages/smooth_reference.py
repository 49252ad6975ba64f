"""Running the reference stages on MuJoCo's own model and data, for tests of one stage or of whole steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from dovetail.plugins.actuation.gain_bias_numpy import actuation
from dovetail.plugins.bias_force.rne_numpy import bias_force
from dovetail.plugins.com_position.tree_numpy import com_position
from dovetail.plugins.com_velocity.tree_numpy import com_velocity
from dovetail.plugins.energy.mechanical_numpy import energy
from dovetail.plugins.factor_mass.ldl_numpy import factor_mass
from dovetail.plugins.integrate import euler_numpy, rk4_numpy
from dovetail.plugins.kinematics.tree_numpy import kinematics
from dovetail.plugins.mass_matrix.crb_numpy import mass_matrix
from dovetail.plugins.passive_force.damper_joint_numpy import damper
from dovetail.plugins.passive_force.spring_joint_numpy import spring
from dovetail.plugins.smooth_acceleration.mass_solve_numpy import smooth_acceleration
from dovetail.plugins.solve_constraints.unconstrained_numpy import solve_constraints
from dovetail.plugins.transmission.moment_arms_numpy import transmission
from dovetail.plugins.transmission_velocity.moment_product_numpy import transmission_velocity
from dovetail.registry import build_registry

_TABLES = ("actuator_gain", "actuator_bias", "actuator_dynamics", "actuator_plugin")
PARTS: dict[str, dict[str, Callable[..., Any]]] = {table: {} for table in _TABLES}
for _record in build_registry(third_party=False).implementations:
    if _record.stage in PARTS and _record.backend == "numpy":
        PARTS[_record.stage][str(_record.key)] = _record.load()


def passive(model: Any, data: Any) -> None:
    """The two joint rows of passive_force, after the zeroing that the plan does."""
    data.qfrc_passive[:] = 0.0
    spring(model, data)
    damper(model, data)


STAGES: dict[str, tuple[Callable[[Any, Any], None], tuple[str, ...]]] = {
    "kinematics": (
        kinematics,
        (
            *("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis"),
            *("geom_xpos", "geom_xmat", "site_xpos", "site_xmat"),
        ),
    ),
    "com_position": (com_position, ("subtree_com", "cinert", "cdof")),
    "mass_matrix": (mass_matrix, ("crb", "M", "qM")),
    "factor_mass": (factor_mass, ("qLD", "qLDiagInv")),
    "transmission": (
        transmission,
        ("actuator_length", "moment_rownnz", "moment_rowadr", "moment_colind", "actuator_moment"),
    ),
    "transmission_velocity": (transmission_velocity, ("actuator_velocity",)),
    "com_velocity": (com_velocity, ("cvel", "cdof_dot")),
    "passive_force": (passive, ("qfrc_spring", "qfrc_damper", "qfrc_passive")),
    "bias_force": (bias_force, ("qfrc_bias",)),
    "actuation": (
        lambda model, data: actuation(model, data, PARTS),
        ("act_dot", "actuator_force", "qfrc_actuator"),
    ),
    "smooth_acceleration": (smooth_acceleration, ("qfrc_smooth", "qacc_smooth")),
    "solve_constraints": (solve_constraints, ("qacc", "qfrc_constraint")),
    "energy": (energy, ("energy",)),
}
"""The stages of an unconstrained forward evaluation in order: function, fields written."""


def load(xml: str) -> Any:
    """A compiled model; the reference stages run on MuJoCo's as on dovetail's."""
    return mujoco.MjModel.from_xml_string(xml)


def data_with(model: Any, state: dict[str, NDArray[Any]]) -> Any:
    """Fresh data in the given state."""
    data = mujoco.MjData(model)
    for name, value in state.items():
        getattr(data, name)[:] = value
    return data


def forward(model: Any, data: Any) -> None:
    """All stages on `data`, every output first spoilt so that one left unwritten shows."""
    for stage, outputs in STAGES.values():
        for name in outputs:
            spoil(getattr(data, name))
        stage(model, data)


def spoil(field: NDArray[Any]) -> None:
    field[...] = np.nan if field.dtype.kind == "f" else -1


class WithExtra:
    """Data with the `extra` fields that rk4 declares."""

    def __init__(self, model: Any, data: Any) -> None:
        extra = {f"rk4:{name}": np.zeros(model.nv) for name in ("qvel0", "qvel", "qacc")}
        extra |= {f"rk4:{name}": np.zeros(model.na) for name in ("act0", "act_dot")}
        extra |= {"rk4:qpos0": np.zeros(model.nq), "rk4:time0": np.zeros(1)}
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "extra", extra)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.data, name, value)


INTEGRATORS = {
    int(mujoco.mjtIntegrator.mjINT_EULER): (euler_numpy.integrate, 1),
    int(mujoco.mjtIntegrator.mjINT_RK4): (rk4_numpy.integrate, 4),
}


def step(model: Any, data: Any) -> None:
    """One time step with the integrator the model asks for; `data` has `extra`."""
    integrate, evaluations = INTEGRATORS[int(model.opt.integrator)]
    for evaluation in range(evaluations):
        for stage, _ in STAGES.values():
            stage(model, data)
        integrate(model, data, evaluation)


def worst_error(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    """Largest difference, relative to the field's largest value, or absolute where that is below 1."""
    if not np.size(theirs):
        return 0.0
    scale = max(1.0, float(np.max(np.abs(theirs))))
    error = np.max(np.abs(np.asarray(ours) - theirs)) / scale
    return float(error) if np.isfinite(error) else np.inf

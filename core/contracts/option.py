"""Simulation options (`model.opt`, mjOption) and model statistics (`model.stat`, mjStatistic).

`init` is MuJoCo's default: what `<option>` leaves unsaid. MJCF attributes have the same names, except the
flags (`<option><flag>`), which are bits of `disableflags` and `enableflags`.
"""

from __future__ import annotations

from dovetail.contracts.enums import Jacobian, Solver
from dovetail.contracts.fields import Array, array, entity, scalar


@entity
class Option:
    """Physics and algorithm settings."""

    timestep: float = scalar(dtype="float64", unit="s", init=0.002, doc="Length of one step.")
    impratio: float = scalar(
        dtype="float64",
        unit="1",
        init=1.0,
        doc="Impedance of friction relative to the contact normal, for elliptic cones; larger slips less.",
    )
    tolerance: float = scalar(
        dtype="float64",
        unit="1",
        init=1e-8,
        doc="The main solver stops when cost or gradient falls below this.",
    )
    ls_tolerance: float = scalar(
        dtype="float64", unit="1", init=0.01, doc="Relative accuracy of the line search in Newton and CG."
    )
    noslip_tolerance: float = scalar(
        dtype="float64",
        unit="1",
        init=1e-6,
        doc="The no-slip pass stops when its improvement falls below this.",
    )
    ccd_tolerance: float = scalar(
        dtype="float64", unit="m", init=1e-6, doc="Accuracy of distance and penetration of convex shapes."
    )
    sleep_tolerance: float = scalar(
        dtype="float64",
        unit="m/s",
        init=1e-4,
        doc="A tree slower than this, per dof length, may fall asleep.",
    )
    gravity: Array = array(
        3,
        dtype="float64",
        unit="m/s^2",
        init=(0.0, 0.0, -9.81),
        doc="Gravitational acceleration, world frame.",
    )
    wind: Array = array(
        3,
        dtype="float64",
        unit="m/s",
        doc="Velocity of the surrounding medium, world frame; fluid forces use it.",
    )
    magnetic: Array = array(
        3,
        dtype="float64",
        unit="T",
        init=(0.0, -0.5, 0.0),
        doc="Magnetic flux in the world frame, read by magnetometers.",
    )
    density: float = scalar(
        dtype="float64", unit="kg/m^3", doc="Density of the medium; 0 means no lift or drag."
    )
    viscosity: float = scalar(dtype="float64", unit="Pa s", doc="Viscosity of the medium; 0 means none.")
    o_margin: float = scalar(
        dtype="float64", unit="m", doc="Margin of every contact while the override flag is on."
    )
    o_solref: Array = array(
        2, dtype="float64", init=(0.02, 1.0), doc="Solver reference of every contact under override."
    )
    o_solimp: Array = array(
        5,
        dtype="float64",
        init=(0.9, 0.95, 0.001, 0.5, 2.0),
        doc="Solver impedance of every contact under override.",
    )
    o_friction: Array = array(
        5,
        dtype="float64",
        init=(1.0, 1.0, 0.005, 0.0001, 0.0001),
        doc="Friction of every contact under override: tangents 1 and 2, spin, rolls 1 and 2.",
    )
    integrator: int = scalar(dtype="int32", doc="How a step advances the state (enums.Integrator).")
    cone: int = scalar(dtype="int32", doc="Shape of the friction cone (enums.Cone).")
    jacobian: int = scalar(
        dtype="int32",
        init=int(Jacobian.AUTO),
        doc="Storage of the constraint Jacobian (enums.Jacobian).",
    )
    solver: int = scalar(dtype="int32", init=int(Solver.NEWTON), doc="Constraint solver (enums.Solver).")
    iterations: int = scalar(dtype="int32", init=100, doc="Most iterations of the main solver.")
    ls_iterations: int = scalar(
        dtype="int32", init=50, doc="Most line search steps per Newton or CG iteration."
    )
    noslip_iterations: int = scalar(dtype="int32", doc="Most iterations of the no-slip pass; 0 skips it.")
    ccd_iterations: int = scalar(dtype="int32", init=35, doc="Most iterations of convex collision.")
    disableflags: int = scalar(
        dtype="int32", doc="Standard features switched off (bits of enums.DisableBit)."
    )
    enableflags: int = scalar(dtype="int32", doc="Optional features switched on (bits of enums.EnableBit).")
    disableactuator: int = scalar(
        dtype="int32", doc="Actuator groups switched off: bit g stands for group g."
    )
    sdf_initpoints: int = scalar(
        dtype="int32", init=40, doc="Starting points of the contact search on signed distance fields."
    )
    sdf_iterations: int = scalar(
        dtype="int32", init=10, doc="Most descent steps per starting point on signed distance fields."
    )


@entity
class Statistic:
    """Typical magnitudes of the model at qpos0; solvers scale by them, viewers size things by them."""

    meaninertia: float = scalar(
        dtype="float64", init=1.0, doc="Mean of the mass matrix diagonal; the solver's cost is scaled by it."
    )
    meanmass: float = scalar(
        dtype="float64", unit="kg", init=1.0, doc="Mean mass of the bodies, the world excepted."
    )
    meansize: float = scalar(
        dtype="float64", unit="m", init=0.2, doc="Mean size of the bodies, the world excepted."
    )
    extent: float = scalar(
        dtype="float64", unit="m", init=2.0, doc="Longest side of the box around the model."
    )
    center: Array = array(
        3, dtype="float64", unit="m", doc="Middle of the box around the model, world frame."
    )

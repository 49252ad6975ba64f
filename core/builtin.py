"""The plugins that come with dovetail, in the order they register; they have no path that others lack."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

STAGES = (
    "load_mesh",
    "mesh_inertia",
    "geom_inertia",
    "flex_build",
    "finalize_model",
    "kinematics",
    "com_position",
    "camera_light",
    "tendon",
    "mass_matrix",
    "factor_mass",
    "transmission",
    "transmission_velocity",
    "com_velocity",
    "passive_force",
    "bias_force",
    "actuation",
    "actuator_dynamics",
    "actuator_gain",
    "actuator_bias",
    "smooth_acceleration",
    "solve_constraints",
    "energy",
    "integrate",
)
BACKENDS = ("numpy", "taichi")


def plugins() -> Iterator[tuple[str, object]]:
    """Name and module of each built-in plugin."""
    for backend in BACKENDS:
        yield f"backends.{backend}", importlib.import_module(f"dovetail.backends.{backend}.plugin")
    for stage in STAGES:
        yield stage, importlib.import_module(f"dovetail.plugins.{stage}")

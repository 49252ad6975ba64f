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
    "length_range",
    "kinematics",
    "com_position",
    "camera_light",
    "tendon",
    "mass_matrix",
    "factor_mass",
    "broadphase",
    "narrowphase",
    "collide_pair",
    "sdf_shape",
    "contact_params",
    "combine_friction",
    "resolve_priority",
    "mix_solver",
    "combine_margin",
    "constraint_rows",
    "islands",
    "transmission",
    "transmission_velocity",
    "com_velocity",
    "passive_force",
    "constraint_reference",
    "bias_force",
    "actuation",
    "actuator_dynamics",
    "actuator_gain",
    "actuator_bias",
    "actuator_plugin",
    "smooth_acceleration",
    "solve_constraints",
    "noslip",
    "subtree_velocity",
    "body_forces",
    "sensor",
    "energy",
    "inverse",
    "sleep",
    "integrate",
    "derivative",
)
BACKENDS = ("numpy", "taichi")
RULES = ("model_rules",)
"""What states features; before the stages, whose records name them."""


def plugins() -> Iterator[tuple[str, object]]:
    """Name and module of each built-in plugin."""
    for backend in BACKENDS:
        yield f"backends.{backend}", importlib.import_module(f"dovetail.backends.{backend}.plugin")
    for rules in RULES:
        yield rules, importlib.import_module(f"dovetail.plugins.{rules}")
    for stage in STAGES:
        yield stage, importlib.import_module(f"dovetail.plugins.{stage}")

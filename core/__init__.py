"""dovetail: a physics engine whose every stage is a plugin.

    import dovetail
    model = dovetail.load("humanoid.xml")
    sim = dovetail.Simulation(model, nworld=1024)
    sim.step(100)
    sim.data.qpos

Names are imported when first used, so that `import dovetail` and the command line stay quick.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Config": "dovetail.config",
    "Data": "dovetail.contracts.types",
    "DovetailDeprecationWarning": "dovetail.deprecation",
    "DovetailError": "dovetail.errors",
    "Film": "dovetail.films.film",
    "Implementation": "dovetail.implementation",
    "MJCFError": "dovetail.errors",
    "Model": "dovetail.contracts.types",
    "NanGuard": "dovetail.planning.wrappers",
    "Plan": "dovetail.planning.plan",
    "Profiler": "dovetail.planning.wrappers",
    "Renderer": "dovetail.rendering.renderer",
    "Simulation": "dovetail.simulation",
    "StageLock": "dovetail.lock",
    "angmom_matrix": "dovetail.plugins.queries.jacobian",
    "apply_ft": "dovetail.plugins.queries.jacobian",
    "builtin_models": "dovetail.simulation",
    "compile_plan": "dovetail.planning.planner",
    "contact_force": "dovetail.plugins.queries.contact_force",
    "dense_jacobian": "dovetail.plugins.queries.dense",
    "differentiate_pos": "dovetail.plugins.queries.positions",
    "forward": "dovetail.simulation",
    "full_mass_matrix": "dovetail.simulation",
    "geom_distance": "dovetail.plugins.shared.geometry.distance_numpy",
    "integrate_pos": "dovetail.plugins.queries.positions",
    "inverse": "dovetail.plugins.queries.inverse_dynamics",
    "inverse_fd": "dovetail.plugins.queries.finite_difference",
    "jac_body": "dovetail.plugins.queries.jacobian",
    "jac_body_com": "dovetail.plugins.queries.jacobian",
    "jac_dot": "dovetail.plugins.queries.jacobian",
    "jac_flex_vertex": "dovetail.plugins.queries.jacobian",
    "jac_geom": "dovetail.plugins.queries.jacobian",
    "jac_point": "dovetail.plugins.queries.jacobian",
    "jac_site": "dovetail.plugins.queries.jacobian",
    "jac_subtree_com": "dovetail.plugins.queries.jacobian",
    "load": "dovetail.simulation",
    "load_model": "dovetail.contracts.model_store",
    "loads": "dovetail.simulation",
    "make_data": "dovetail.contracts.derive",
    "mul_m": "dovetail.plugins.queries.jacobian",
    "multi_ray": "dovetail.plugins.shared.geometry.ray_numpy",
    "object_acceleration": "dovetail.plugins.shared.motion_numpy",
    "object_velocity": "dovetail.plugins.shared.motion_numpy",
    "ray": "dovetail.plugins.shared.geometry.ray_numpy",
    "render": "dovetail.rendering.renderer",
    "reset": "dovetail.contracts.derive",
    "set_constants": "dovetail.simulation",
    "solve_m": "dovetail.plugins.queries.jacobian",
    "step": "dovetail.simulation",
    "to_xml": "dovetail.as_mjcf",
    "touches": "dovetail.implementation",
    "transition_fd": "dovetail.plugins.queries.finite_difference",
    "validate": "dovetail.contracts.derive",
}

_PACKAGES = ("mj", "viewer", "visual")
"""What stands on top of the engine; `dovetail.viewer` needs no import of its own."""

__all__ = sorted([*_PUBLIC, "__version__"])

if TYPE_CHECKING:
    from dovetail import mj as mj
    from dovetail import viewer as viewer
    from dovetail import visual as visual
    from dovetail.as_mjcf import to_xml as to_xml
    from dovetail.config import Config as Config
    from dovetail.contracts.derive import make_data as make_data
    from dovetail.contracts.derive import reset as reset
    from dovetail.contracts.derive import validate as validate
    from dovetail.contracts.model_store import load_model as load_model
    from dovetail.contracts.types import Data as Data
    from dovetail.contracts.types import Model as Model
    from dovetail.deprecation import DovetailDeprecationWarning as DovetailDeprecationWarning
    from dovetail.errors import DovetailError as DovetailError
    from dovetail.errors import MJCFError as MJCFError
    from dovetail.films.film import Film as Film
    from dovetail.implementation import Implementation as Implementation
    from dovetail.implementation import touches as touches
    from dovetail.lock import StageLock as StageLock
    from dovetail.planning.plan import Plan as Plan
    from dovetail.planning.planner import compile_plan as compile_plan
    from dovetail.planning.wrappers import NanGuard as NanGuard
    from dovetail.planning.wrappers import Profiler as Profiler
    from dovetail.plugins.queries.contact_force import contact_force as contact_force
    from dovetail.plugins.queries.dense import dense_jacobian as dense_jacobian
    from dovetail.plugins.queries.finite_difference import inverse_fd as inverse_fd
    from dovetail.plugins.queries.finite_difference import transition_fd as transition_fd
    from dovetail.plugins.queries.inverse_dynamics import inverse as inverse
    from dovetail.plugins.queries.jacobian import angmom_matrix as angmom_matrix
    from dovetail.plugins.queries.jacobian import apply_ft as apply_ft
    from dovetail.plugins.queries.jacobian import jac_body as jac_body
    from dovetail.plugins.queries.jacobian import jac_body_com as jac_body_com
    from dovetail.plugins.queries.jacobian import jac_dot as jac_dot
    from dovetail.plugins.queries.jacobian import jac_flex_vertex as jac_flex_vertex
    from dovetail.plugins.queries.jacobian import jac_geom as jac_geom
    from dovetail.plugins.queries.jacobian import jac_point as jac_point
    from dovetail.plugins.queries.jacobian import jac_site as jac_site
    from dovetail.plugins.queries.jacobian import jac_subtree_com as jac_subtree_com
    from dovetail.plugins.queries.jacobian import mul_m as mul_m
    from dovetail.plugins.queries.jacobian import solve_m as solve_m
    from dovetail.plugins.queries.positions import differentiate_pos as differentiate_pos
    from dovetail.plugins.queries.positions import integrate_pos as integrate_pos
    from dovetail.plugins.shared.geometry.distance_numpy import geom_distance as geom_distance
    from dovetail.plugins.shared.geometry.ray_numpy import multi_ray as multi_ray
    from dovetail.plugins.shared.geometry.ray_numpy import ray as ray
    from dovetail.plugins.shared.motion_numpy import object_acceleration as object_acceleration
    from dovetail.plugins.shared.motion_numpy import object_velocity as object_velocity
    from dovetail.rendering.renderer import Renderer as Renderer
    from dovetail.rendering.renderer import render as render
    from dovetail.simulation import Simulation as Simulation
    from dovetail.simulation import builtin_models as builtin_models
    from dovetail.simulation import forward as forward
    from dovetail.simulation import full_mass_matrix as full_mass_matrix
    from dovetail.simulation import load as load
    from dovetail.simulation import loads as loads
    from dovetail.simulation import set_constants as set_constants
    from dovetail.simulation import step as step


def _first_use(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"dovetail.{name}")
    module = _PUBLIC.get(name)
    if module is None:
        from dovetail.deprecation import renamed_attribute

        return renamed_attribute("dovetail", name)
    value = getattr(importlib.import_module(module), name)
    if module.startswith("dovetail.plugins."):  # every question to a Model and Data
        from dovetail.questions import checked

        value = checked(value)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # checkers know the names from above, and report others
    __getattr__ = _first_use


class _MovedModules:
    """Asked last, for modules that nobody else finds: those that have another name now."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> Any:
        if not name.startswith("dovetail."):
            return None
        from dovetail.deprecation import moved_module

        return moved_module(name)


sys.meta_path.append(_MovedModules)


def __dir__() -> list[str]:
    return __all__

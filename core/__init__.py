"""dovetail: a physics engine whose every stage is a plugin.

    import dovetail
    model = dovetail.load("humanoid.xml")
    sim = dovetail.Simulation(model, nworld=1024, backend="taichi")
    sim.step(100)
    sim.data.qpos

Names are imported when first used, so that `import dovetail` and the command line stay quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Config": "dovetail.config",
    "Data": "dovetail.contracts.types",
    "DovetailError": "dovetail.errors",
    "Implementation": "dovetail.implementation",
    "MJCFError": "dovetail.errors",
    "Model": "dovetail.contracts.types",
    "NanGuard": "dovetail.wrappers",
    "Plan": "dovetail.plan",
    "Profiler": "dovetail.wrappers",
    "Simulation": "dovetail.simulation",
    "builtin_models": "dovetail.simulation",
    "compile_plan": "dovetail.planner",
    "forward": "dovetail.simulation",
    "full_mass_matrix": "dovetail.simulation",
    "load": "dovetail.simulation",
    "load_model": "dovetail.contracts.model_store",
    "loads": "dovetail.simulation",
    "make_data": "dovetail.contracts.derive",
    "reset": "dovetail.contracts.derive",
    "set_constants": "dovetail.simulation",
    "step": "dovetail.simulation",
    "validate": "dovetail.contracts.derive",
}

__all__ = sorted([*_PUBLIC, "__version__"])

if TYPE_CHECKING:
    from dovetail.config import Config as Config
    from dovetail.contracts.derive import make_data as make_data
    from dovetail.contracts.derive import reset as reset
    from dovetail.contracts.derive import validate as validate
    from dovetail.contracts.model_store import load_model as load_model
    from dovetail.contracts.types import Data as Data
    from dovetail.contracts.types import Model as Model
    from dovetail.errors import DovetailError as DovetailError
    from dovetail.errors import MJCFError as MJCFError
    from dovetail.implementation import Implementation as Implementation
    from dovetail.plan import Plan as Plan
    from dovetail.planner import compile_plan as compile_plan
    from dovetail.simulation import Simulation as Simulation
    from dovetail.simulation import builtin_models as builtin_models
    from dovetail.simulation import forward as forward
    from dovetail.simulation import full_mass_matrix as full_mass_matrix
    from dovetail.simulation import load as load
    from dovetail.simulation import loads as loads
    from dovetail.simulation import set_constants as set_constants
    from dovetail.simulation import step as step
    from dovetail.wrappers import NanGuard as NanGuard
    from dovetail.wrappers import Profiler as Profiler


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'dovetail' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

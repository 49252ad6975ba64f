"""Arguments that mean nothing, for every parameter of every public call.

A sweep gives one parameter all values of a list; each must be refused with an error of dovetail's, unless the sweep
says that it means something.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .case import NO_TAICHI, Table

CASES = Table("argument")


BAD: dict[str, Any] = {
    "None": None,
    "True": True,
    "-1": -1,
    "0": 0,
    "1": 1,
    "1.5": 1.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "10**30": 10**30,
    "-10**30": -(10**30),
    "''": "",
    "NUL": "\0",
    "word": "no such thing",
    "long": "x" * 1_000_000,
    "surrogate": "\ud800",
    "bytes": b"\xff",
    "[]": [],
    "[None]": [None],
    "[1.5]": [1.5],
    "[-1]": [-1],
    "ragged": [[1], [1, 2]],
    "{}": {},
    "{1: 2}": {1: 2},
    "object": object(),
    "function": len,
    "type": int,
    "empty array": np.zeros(0),
    "NaN array": np.full(3, np.nan),
    "text array": np.array(["a", "b", "c"]),
    "object array": np.array([None, 1, "a"], dtype=object),
    "large array": np.zeros((7, 7, 7)),
    "complex": 1j,
}


def sweep(name: str, make: Callable[[], Callable[[Any], Any]], fine: Iterable[str] = ()) -> None:
    """Try every value; `fine` are those that may pass."""
    allowed = set(fine)
    assert allowed <= BAD.keys(), allowed - BAD.keys()

    def build(folder: Path) -> Callable[[], Any]:
        return functools.partial(_try_all, make(), allowed)

    CASES.add(name, "", "", build)


def _try_all(call: Callable[[Any], Any], allowed: set[str]) -> None:
    from dovetail.errors import DovetailError

    problems = []
    for label, value in BAD.items():
        try:
            call(value)
        except DovetailError:
            continue
        except Exception as problem:
            problems.append(f"{label} → {type(problem).__name__}: {str(problem)[:60]}")
        else:
            if label not in allowed:
                problems.append(f"{label} passes")
    if problems:
        raise AssertionError("; ".join(problems))


MODEL = """<mujoco><worldbody><geom type='plane' size='1 1 1'/>
<body name='b' pos='0 0 .05'><freejoint name='j'/><geom name='g' size='.1'/><site name='s'/></body></worldbody>
<actuator><motor name='m' joint='j'/></actuator><keyframe><key name='home'/></keyframe></mujoco>"""


@functools.cache
def _model() -> Any:
    import dovetail

    return dovetail.loads(MODEL)


@functools.cache
def _sim(**options: Any) -> Any:
    import dovetail

    sim = dovetail.Simulation(_model(), **options)
    sim.forward()
    return sim


def _keyword(function: str, name: str, *first: Callable[[], Any]) -> Callable[[], Callable[[Any], Any]]:
    """A call of dovetail's with a value for one keyword."""

    def make() -> Callable[[Any], Any]:
        import dovetail

        entry, given = getattr(dovetail, function), [one() for one in first]
        return lambda value: entry(*given, **{name: value})

    return make


def prepare() -> None:
    """What many cases need, made once before they are forked off."""
    import dovetail.compare.ab

    for options in ({}, {"keep": "all"}, {"nworld": 2}, {"nworld": 3}):
        _sim(**options)
    dovetail.compare.ab.default_registry()


# loading

sweep("loads(xml)", lambda: __import__("dovetail").loads)
sweep("load(path)", lambda: __import__("dovetail").load)
sweep("load_model(path)", lambda: __import__("dovetail").load_model)
LOADING = {
    "assets": ("None", "{}"),
    "asset_root": ("None",),
    "dialect": (),
    "registry": ("None",),
    "stages": ("None", "{}"),
    "config": ("None",),
}
for parameter, fine in LOADING.items():
    sweep(f"loads({parameter}=)", _keyword("loads", parameter, lambda: "<mujoco/>"), fine)
    if parameter != "assets":
        sweep(
            f"load({parameter}=)",
            _keyword("load", parameter, lambda: "humanoid"),
            (*fine, *(BAD if parameter == "asset_root" else ())),
        )
sweep("set_constants(model)", lambda: __import__("dovetail").set_constants)
sweep("set_constants(registry=)", _keyword("set_constants", "registry", _model), ("None",))
sweep("set_constants(stages=)", _keyword("set_constants", "stages", _model), ("None", "{}"))
sweep("set_constants(config=)", _keyword("set_constants", "config", _model), ("None",))

# simulations

SIMULATION = {
    "nworld": ("None", "1"),
    "backend": ("None",),
    "precision": ("None",),
    "threads": ("None", "1"),
    "stages": ("None", "{}"),
    "keep": ("None", "[]", "empty array"),
    "lanes": ("None", "1"),
    "runtime": ("None",),
    "arch": ("None",),
    "on_nan": ("None",),
    "plugins": ("None", "[]", "empty array"),
    "per_world": ("[]", "empty array"),
    "wrap": ("[]", "{}", "empty array"),
    "missing": (),
    "max_bytes": ("10**30",),
    "config": ("None",),
}
sweep("Simulation(model)", lambda: __import__("dovetail").Simulation)
for parameter, fine in SIMULATION.items():
    sweep(f"Simulation({parameter}=)", _keyword("Simulation", parameter, _model), fine)
sweep(
    "Simulation(nworld=2, per_world=)",
    lambda: lambda value: __import__("dovetail").Simulation(_model(), 2, per_world=value),
    ("[]", "empty array"),
)
sweep("Simulation.step(nstep)", lambda: _sim().step, ("0", "1"))
sweep("Simulation.step(nstep) of a batch", lambda: _sim(nworld=2).step, ("0", "1"))
sweep("Simulation.reset(keyframe)", lambda: _sim().reset, ("None", "0", "-1"))
sweep(
    "Simulation.reset(worlds=)",
    lambda: (lambda sim: lambda value: sim.reset(worlds=value))(_sim(nworld=3)),
    ("None", "[]", "empty array"),
)
sweep(
    "Simulation.set_constants(worlds)",
    lambda: _sim(nworld=3, per_world="body_mass").set_constants,
    ("None", "[]", "empty array"),
)
sweep("Simulation.save(path)", lambda: _sim().save, ("word",))
sweep(
    "Simulation.save(fields=)",
    lambda: (lambda sim: lambda value: sim.save("a.npz", fields=value))(_sim()),
    ("[]", "empty array"),
)
sweep("Simulation.load(path)", lambda: _sim().load)
sweep(
    "step(model, …)", lambda: (lambda sim: lambda value: __import__("dovetail").step(value, sim.data))(_sim())
)
sweep(
    "step(…, data)", lambda: (lambda sim: lambda value: __import__("dovetail").step(sim.model, value))(_sim())
)
sweep(
    "step(nstep)",
    lambda: (lambda sim: lambda value: __import__("dovetail").step(sim.model, sim.data, value))(_sim()),
    ("0", "1"),
)
sweep(
    "forward(model, …)",
    lambda: (lambda sim: lambda value: __import__("dovetail").forward(value, sim.data))(_sim()),
)
sweep(
    "forward(…, data)",
    lambda: (lambda sim: lambda value: __import__("dovetail").forward(sim.model, value))(_sim()),
)

# plans

PLAN = {
    "config": ("None",),
    "nworld": ("None", "1"),
    "wrappers": ("[]", "{}", "empty array"),
    "missing": (),
    "registry": ("None",),
    "per_world": ("[]", "empty array"),
}
sweep("compile_plan(model)", lambda: __import__("dovetail").compile_plan)
for parameter, fine in PLAN.items():
    sweep(f"compile_plan({parameter}=)", _keyword("compile_plan", parameter, _model), fine)
sweep("Plan.step(data)", lambda: _sim().plan.step)
sweep(
    "Plan.step(nstep)", lambda: (lambda sim: lambda value: sim.plan.step(sim.data, value))(_sim()), ("0", "1")
)
sweep("Plan.forward(data)", lambda: _sim().plan.forward)
sweep("Plan.make_data(max_bytes)", lambda: _sim().plan.make_data, ("10**30",))
sweep("Config.of_file(path)", lambda: __import__("dovetail").Config.of_file)
sweep("Config.discover(directory)", lambda: __import__("dovetail").Config.discover, ("None", "word", "long"))
sweep("Config.of_call(stages)", lambda: __import__("dovetail").Config.of_call, ("None", "{}"))

# data

DATA = {
    "nworld": ("None", "1"),
    "precision": (),
    "keep": ("[]", "empty array"),
    "lanes": ("1",),
    "capacity": ("None", "{}"),
    "max_bytes": ("10**30",),
}
sweep("make_data(model)", lambda: __import__("dovetail").make_data)
for parameter, fine in DATA.items():
    sweep(f"make_data({parameter}=)", _keyword("make_data", parameter, _model), fine)
sweep(
    "reset(model, …)",
    lambda: (lambda sim: lambda value: __import__("dovetail").reset(value, sim.data))(_sim()),
)
sweep(
    "reset(…, data)",
    lambda: (lambda sim: lambda value: __import__("dovetail").reset(sim.model, value))(_sim()),
)
sweep("validate(data)", lambda: __import__("dovetail").validate)
sweep(
    "validate(fields=)",
    lambda: (lambda sim: lambda value: __import__("dovetail").validate(sim.data, value))(_sim()),
    ("None", "[]", "empty array"),
)
sweep("Data.world(index)", lambda: _sim(nworld=2).data.world, ("0", "1"))
sweep(
    "Data.reserve(ncon_max=)",
    lambda: (lambda sim: lambda value: sim.data.reserve(ncon_max=value))(_sim()),
    ("0", "1"),
)
sweep("Data.field(name)", lambda: _sim().data.field)
sweep("Data.copy_from(other)", lambda: _sim().data.copy_from)
sweep("Data.load(path)", lambda: _sim().data.load)
sweep(
    "data.qpos = …",
    lambda: (lambda sim: lambda value: setattr(sim.data, "qpos", value))(_sim()),
    ("True", "-1", "0", "1", "1.5", "nan", "inf", "10**30", "-10**30", "[1.5]", "[-1]", "None", "[None]"),
)
sweep(
    "data.time = …",
    lambda: (lambda sim: lambda value: setattr(sim.data, "time", value))(_sim()),
    ("True", "-1", "0", "1", "1.5", "nan", "inf", "10**30", "-10**30", "[1.5]", "[-1]", "None", "[None]"),
)
for kind in ("body", "joint", "geom", "site", "actuator", "key", "sensor"):
    sweep(f"Model.{kind}(which)", lambda kind=kind: getattr(_model(), kind), ("-1", "0", "1"))
sweep("Data.body(which)", lambda: _sim().data.body, ("-1", "0", "1"))
sweep("Model.field(name)", lambda: _model().field)
sweep("Model.save(path)", lambda: _model().save, ("word",))

# questions

ZERO3 = (0.0, 0.0, 0.0)
QUERIES: dict[str, tuple[Any, ...]] = {
    "angmom_matrix": (1,),
    "apply_ft": (ZERO3, ZERO3, ZERO3, 1),
    "contact_force": (0,),
    "dense_jacobian": (),
    "differentiate_pos": None,
    "full_mass_matrix": (),
    "geom_distance": (0, 1, 1.0),
    "integrate_pos": None,
    "inverse": (),
    "inverse_fd": (),
    "jac_body": (1,),
    "jac_body_com": (1,),
    "jac_dot": (ZERO3, 1),
    "jac_geom": (1,),
    "jac_point": (ZERO3, 1),
    "jac_site": (0,),
    "jac_subtree_com": (1,),
    "mul_m": (np.zeros(6),),
    "multi_ray": (ZERO3, ((0.0, 0.0, 1.0),)),
    "object_acceleration": ("body", 1, True),
    "object_velocity": ("body", 1, True),
    "ray": (ZERO3, (0.0, 0.0, 1.0)),
    "solve_m": (np.zeros(6),),
    "transition_fd": (),
}
INDEX, NUMBERS = ("0", "1"), ()
FINE: dict[tuple[str, int], tuple[str, ...]] = {
    **{
        (name, 0): INDEX
        for name in ("angmom_matrix", "jac_body", "jac_body_com", "jac_geom", "jac_subtree_com")
    },
    ("jac_site", 0): ("0",),
    ("contact_force", 0): ("0",),
    ("apply_ft", 3): INDEX,
    ("jac_dot", 1): INDEX,
    ("jac_point", 1): INDEX,
    ("geom_distance", 0): INDEX,
    ("geom_distance", 1): INDEX,
    ("geom_distance", 2): ("-1", "0", "1", "1.5", "inf", "10**30", "-10**30"),
    ("object_velocity", 0): ("1",),
    ("object_velocity", 1): INDEX,
    ("object_velocity", 2): ("True", "0", "1"),
    ("object_acceleration", 0): ("1",),
    ("object_acceleration", 1): INDEX,
    ("object_acceleration", 2): ("True", "0", "1"),
    ("multi_ray", 1): ("[]", "empty array"),
}


def _query(name: str, place: int, arguments: tuple[Any, ...]) -> Callable[[], Callable[[Any], Any]]:
    def make() -> Callable[[Any], Any]:
        import dovetail

        sim = _sim(keep="all")
        function = getattr(dovetail, name)
        given = [sim.model, sim.data, *arguments]

        def call(value: Any) -> Any:
            return function(*given[:place], value, *given[place + 1 :])

        return call

    return make


for name, arguments in QUERIES.items():
    if arguments is None:
        continue
    sweep(f"{name}(model)", _query(name, 0, arguments))
    sweep(f"{name}(data)", _query(name, 1, arguments))
    for place in range(len(arguments)):
        sweep(
            f"{name}, argument {place + 3}", _query(name, place + 2, arguments), FINE.get((name, place), ())
        )


def _positions(name: str, place: int) -> Callable[[], Callable[[Any], Any]]:
    def make() -> Callable[[Any], Any]:
        import dovetail

        model, function = _model(), getattr(dovetail, name)
        given = [model, model.qpos0, np.zeros(6) if name == "integrate_pos" else model.qpos0, 1.0]
        return lambda value: function(*given[:place], value, *given[place + 1 :])

    return make


for name in ("integrate_pos", "differentiate_pos"):
    for place in range(4):
        times = ("-1", "0", "1", "1.5", "10**30", "-10**30") if place == 3 else ()
        sweep(f"{name}, argument {place + 1}", _positions(name, place), times)


def _vertex_query(place: int) -> Callable[[], Callable[[Any], Any]]:
    def make() -> Callable[[Any], Any]:
        import dovetail

        sim = dovetail.Simulation(
            dovetail.loads(
                '<mujoco><worldbody><flexcomp name="rope" type="grid" count="3 1 1" dim="1" spacing=".1 .1 .1">'
                '<contact contype="0" conaffinity="0" selfcollide="none"/></flexcomp></worldbody></mujoco>'
            ),
            backend="numpy",
        )
        sim.forward()
        given = [sim.model, sim.data, 0, 0]
        return lambda value: dovetail.jac_flex_vertex(*given[:place], value, *given[place + 1 :])

    return make


for place, fine in enumerate(((), (), ("0",), ("0", "1"))):
    sweep(f"jac_flex_vertex, argument {place + 1}", _vertex_query(place), fine)

# what measures and compares


def _ab(name: str) -> Callable[[], Callable[[Any], Any]]:
    def make() -> Callable[[Any], Any]:
        from dovetail.compare.ab import compare

        given = {"model": _model(), "stage": "kinematics", "a": "tree@numpy", "b": "tree@numpy", "steps": 1}
        return lambda value: compare(**{**given, name: value})

    return make


def _conform(name: str) -> Callable[[], Callable[[Any], Any]]:
    def make() -> Callable[[Any], Any]:
        from dovetail.compare.conform import conform

        given = {"model": "<mujoco/>", "steps": 1, "states": 0}
        return lambda value: conform(**{**given, name: value})

    return make


AB = {
    "steps": ("0", "1"),
    "seed": ("0", "1", "10**30"),
    "nworld": ("None", "1"),
    "precision": (),
    "threads": ("None", "1"),
    "repeat": ("1",),
    "stage": (),
    "a": (),
    "b": (),
    "model": (),
    "registry": ("None",),
}
for parameter, fine in AB.items():
    sweep(f"compare({parameter}=)", _ab(parameter), fine)
sweep("bench.find(name)", lambda: __import__("dovetail.bench", fromlist=["find"]).find)
sweep("read_history(path)", lambda: __import__("dovetail.bench.results", fromlist=["x"]).read_history)
sweep(
    "append_line(path)",
    lambda: (lambda f: lambda value: f(value, {}))(
        __import__("dovetail.bench.results", fromlist=["x"]).append_line
    ),
    ("word",),
)


# said in so many words


def said(name: str, error: str, fragment: str, call: Callable[[Any], Any], **options: Any) -> None:
    def build(folder: Path) -> Any:
        sim = _sim(**options)
        return lambda: call(sim)

    CASES.add(name, error, fragment, build)


said("step(-1)", "ArgumentError", "nstep = -1 should be at least 0", lambda sim: sim.step(-1))
said("step(None)", "ArgumentError", "whole number", lambda sim: sim.step(None))
said("step(True)", "ArgumentError", "whole number", lambda sim: sim.step(True))
said("step(10**30)", "CapacityError", "nstep", lambda sim: sim.step(10**30))
said("reset(5)", "UnknownNameError", "there is no key number 5: the model has 1", lambda sim: sim.reset(5))
said("reset(1.5)", "ArgumentError", "name or number", lambda sim: sim.reset(1.5))
said("reset('x')", "UnknownNameError", "no key is named", lambda sim: sim.reset("x"))
said(
    "reset(worlds=[7])",
    "ValidationError",
    "world 7 does not exist",
    lambda sim: sim.reset(worlds=[7]),
    nworld=2,
)
said("keep='nonsense'", "ValidationError", "unknown field 'nonsense'", lambda sim: _sim(keep="nonsense"))
said("per_world='nonsense'", "PerWorldError", "nonsense", lambda sim: _sim(nworld=2, per_world="nonsense"))
said("nworld=2.5", "ArgumentError", "nworld = 2.5", lambda sim: _sim(nworld=2.5))
said("runtime='os'", "ArgumentError", "runtime", lambda sim: _sim(nworld=2, backend="taichi", runtime="os"))
if not NO_TAICHI:
    said("lanes=3", "PlanError", "power of two", lambda sim: _sim(nworld=8, backend="taichi", lanes=3))
said("threads=10**9", "CapacityError", "threads", lambda sim: _sim(nworld=8, threads=10**9))
said(
    "arch='toaster'",
    "ArgumentError",
    "toaster",
    lambda sim: _sim(nworld=2, backend="taichi", arch="toaster"),
)
said("backend='nothing'", "UnknownImplementationError", "nothing", lambda sim: _sim(backend="nothing"))
said("body('x')", "UnknownNameError", "no body is named", lambda sim: sim.model.body("x"))
said("an unknown field", "UnknownFieldError", "did you mean 'qpos'", lambda sim: sim.data.qposs)
said("a field of a wrong length", "ArgumentError", "shape", lambda sim: setattr(sim.data, "qvel", [1, 2]))

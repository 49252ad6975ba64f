"""`dovetail info`: what is in a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dovetail.cli._options import asset_root_option, cli_command, load_model, model_argument, stage_option
from dovetail.cli._output import console, emit, pairs, quantity, say, table, title

if TYPE_CHECKING:
    from rich.tree import Tree

    from dovetail.contracts.types import Model

SIZES = ("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nsite", "ntendon", "nsensor", "neq", "nkey", "nM")
"""The sizes people ask for first; --json has all that are not zero."""
A_MOTOR = {"dynamics": "none", "gain": "fixed", "bias": "none"}
"""What most actuators have, which is not worth columns."""


@cli_command(example="dovetail info humanoid")
@model_argument
@stage_option("Choose for one stage of loading, as mesh_inertia:legacy=signed_volume. Repeatable.")
@asset_root_option
def info(model: str, stages: dict[str, str], asset_root: str | None, as_json: bool) -> None:
    """Show what is in a model: sizes, options, bodies, actuators.

    MODEL is an MJCF file or the name of a built-in model. The features it uses and the stages it needs come last,
    with those that nothing implements.
    """
    report = describe(load_model(model, stages=stages, asset_root=asset_root))
    if as_json:
        emit(report)
    else:
        _show(report)


def describe(model: Model) -> dict[str, Any]:
    """The model as plain values."""
    bodies = [_body(model, i) for i in range(model.nbody)]
    return {
        "name": model.modelname,
        "source": model.source,
        "loaded_with": dict(model.stages),
        "sizes": {name: count for name, count in model.sizes.items() if count},
        "options": _options(model),
        "mass": float(model.body_mass.sum()),
        "bodies": bodies,
        "actuators": [_actuator(model, i) for i in range(model.nu)],
        "keyframes": [_keyframe(model, i) for i in range(model.nkey)],
        "features": _features(model),
        "stages": _stages(model),
    }


def _features(model: Model) -> list[str]:
    from dovetail.features import features

    return sorted(features(model))


def _stages(model: Model) -> list[dict[str, Any]]:
    """Stages that only some models need: why this one does, and whether something implements them."""
    from dovetail.config import Config
    from dovetail.planning.loading_selection import over_configuration
    from dovetail.planning.needs import EVERY_MODEL, ModelFacts
    from dovetail.planning.planner import compile_plan
    from dovetail.registry import default_registry

    missing = {
        m.slot for m in compile_plan(model, over_configuration(Config()).unlocked(), missing="report").missing
    }
    wanted = ModelFacts(model, default_registry()).reasons()
    slots = [*(slot for slot, reason in wanted.items() if reason), *sorted(missing - set(wanted))]
    return [
        {"slot": slot, "reason": wanted.get(slot, EVERY_MODEL), "missing": slot in missing} for slot in slots
    ]


def name_of(model: Model, kind: str, index: int) -> str:
    """An object's name, or its number if it has none."""
    names = model.object_names.get(kind, ())
    return (names[index] if index < len(names) else "") or f"#{index}"


def _options(model: Model) -> dict[str, Any]:
    from dovetail.contracts.enums import Cone, DisableBit, EnableBit, Integrator, Solver

    opt = model.opt
    return {
        "timestep": opt.timestep,
        "integrator": Integrator(opt.integrator).name.lower(),
        "solver": Solver(opt.solver).name.lower(),
        "cone": Cone(opt.cone).name.lower(),
        "gravity": opt.gravity.tolist(),
        "density": opt.density,
        "viscosity": opt.viscosity,
        "disabled": [bit.keyword for bit in DisableBit if opt.disableflags & bit],
        "enabled": [bit.keyword for bit in EnableBit if opt.enableflags & bit],
    }


def _body(model: Model, index: int) -> dict[str, Any]:
    from dovetail.contracts.enums import GeomType

    joints = range(model.body_jntadr[index], model.body_jntadr[index] + model.body_jntnum[index])
    geoms = range(model.body_geomadr[index], model.body_geomadr[index] + model.body_geomnum[index])
    return {
        "id": index,
        "name": "world" if index == 0 else name_of(model, "body", index),
        "parent": int(model.body_parentid[index]),
        "mass": float(model.body_mass[index]),
        "subtree_mass": float(model.body_subtreemass[index]),
        "centre": model.body_ipos[index].tolist(),
        "inertia": model.body_inertia[index].tolist(),
        "joints": [_joint(model, j) for j in joints],
        "geoms": [GeomType(int(model.geom_type[g])).name.lower() for g in geoms],
    }


def _joint(model: Model, index: int) -> dict[str, Any]:
    from dovetail.contracts.enums import JointType

    limited = bool(model.jnt_limited[index])
    dof = int(model.jnt_dofadr[index])
    return {
        "name": name_of(model, "joint", index),
        "type": JointType(int(model.jnt_type[index])).name.lower(),
        "range": model.jnt_range[index].tolist() if limited else None,
        "stiffness": float(model.jnt_stiffness[index]),
        "damping": float(model.dof_damping[dof]),
        "armature": float(model.dof_armature[dof]),
    }


def _actuator(model: Model, index: int) -> dict[str, Any]:
    from dovetail.contracts.enums import BiasType, DynType, GainType, TrnType

    transmission = TrnType(int(model.actuator_trntype[index]))
    kinds = {"joint": "joint", "jointinparent": "joint", "tendon": "tendon", "site": "site", "body": "body"}
    kind = kinds.get(transmission.name.lower())
    limited = bool(model.actuator_ctrllimited[index])
    return {
        "name": name_of(model, "actuator", index),
        "transmission": transmission.name.lower(),
        "target": name_of(model, kind, int(model.actuator_trnid[index, 0])) if kind else None,
        "gear": model.actuator_gear[index].tolist(),
        "dynamics": DynType(int(model.actuator_dyntype[index])).name.lower(),
        "gain": GainType(int(model.actuator_gaintype[index])).name.lower(),
        "bias": BiasType(int(model.actuator_biastype[index])).name.lower(),
        "ctrlrange": model.actuator_ctrlrange[index].tolist() if limited else None,
    }


def _keyframe(model: Model, index: int) -> dict[str, Any]:
    return {
        "name": name_of(model, "key", index),
        "time": float(model.key_time[index]),
        "qpos": model.key_qpos[index].tolist(),
        "qvel": model.key_qvel[index].tolist(),
    }


# ---- for people


def _show(report: dict[str, Any]) -> None:
    from dovetail.planning.loading_selection import is_chosen

    sizes, options = report["sizes"], report["options"]
    title(report["name"] or report["source"])
    chosen = {slot: text for slot, text in report["loaded_with"].items() if is_chosen(text)}
    gravity = " ".join(f"{g:g}" for g in options["gravity"])
    pairs(
        {
            "file": report["source"],
            **({"loaded with": ", ".join(f"{s} {t}" for s, t in chosen.items())} if chosen else {}),
            "sizes": "  ".join(f"{n} {sizes[n]}" for n in SIZES if n in sizes),
            "mass": quantity(report["mass"], "kg"),
            "step": f"{options['timestep']:g} s, {options['integrator']}",
            "gravity": f"{gravity} m/s²",
            "constraints": f"{options['solver']}, {options['cone']} cone",
            "disabled": ", ".join(options["disabled"]) or "nothing",
            "enabled": ", ".join(options["enabled"]) or "nothing",
        }
    )
    title("Bodies")
    console().print(_tree(report["bodies"]))
    title("Mass")
    _show_masses(report["bodies"])
    if report["actuators"]:
        title("Actuators")
        _show_actuators(report["actuators"])
    if report["keyframes"]:
        title("Keyframes")
        say("  " + ", ".join(key["name"] for key in report["keyframes"]))
    title("Needs")
    _show_needs(report["features"], report["stages"])


def _tree(bodies: list[dict[str, Any]]) -> Tree:
    """Bodies under their parents (a parent always comes before its children)."""
    from rich.tree import Tree

    nodes: dict[int, Tree] = {}
    for body in bodies:
        text = _body_line(body)
        nodes[body["id"]] = Tree(text) if body["id"] == 0 else nodes[body["parent"]].add(text)
    return nodes[0]


def _body_line(body: dict[str, Any]) -> str:
    if body["id"] == 0:
        return "world"
    joints = ", ".join(f"{j['name']} ({j['type']}{_range(j['range'])})" for j in body["joints"])
    mass = quantity(body["mass"], "kg")
    return f"{body['name']}  {mass}  " + (joints or "fixed to its parent")


def _range(limits: Iterable[float] | None) -> str:
    return "" if limits is None else " {:.3g} … {:.3g}".format(*limits)


def _show_actuators(actuators: list[dict[str, Any]]) -> None:
    """Of activation, gain and bias what is not a plain motor's."""
    table(
        ("name", "acts on", "gear", "dynamics", "gain", "bias", "ctrl range"),
        [
            (
                a["name"],
                f"{a['transmission']} {a['target'] or ''}",
                " ".join(f"{g:g}" for g in a["gear"]).removesuffix(" 0" * 5),
                *(a[name] if a[name] != usual else "" for name, usual in A_MOTOR.items()),
                _range(a["ctrlrange"]).strip(),
            )
            for a in actuators
        ],
    )


def _show_masses(bodies: list[dict[str, Any]]) -> None:
    """Mass, centre of mass and principal moments of every body that has mass."""
    table(
        ("body", "mass kg", "with all below kg", "centre of mass m", "principal moments kg·m²"),
        [
            (
                body["name"],
                quantity(body["mass"]),
                quantity(body["subtree_mass"]),
                " ".join(f"{x:.4g}" for x in body["centre"]),
                " ".join(f"{x:.4g}" for x in body["inertia"]),
            )
            for body in bodies
            if body["mass"] > 0
        ],
        numeric=("mass kg", "with all below kg"),
    )


def _show_needs(features: list[str], stages: list[dict[str, Any]]) -> None:
    missing = [stage["slot"] for stage in stages if stage["missing"]]
    pairs({"features": ", ".join(features) or "none"})
    if stages:
        table(
            ("stage", "because", "implemented"),
            [(s["slot"], s["reason"], "no" if s["missing"] else "yes") for s in stages],
        )
    pairs({"missing ": ", ".join(missing) or "nothing: the model can run"})

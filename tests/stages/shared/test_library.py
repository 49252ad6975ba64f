"""The library's two sides: `x_numpy.py` and `x_lanes.py` export the same names, with the same order of arguments.

A name is exported if another module of the distribution imports it. NumPy names many objects where lanes name one
(`accelerations`, `acceleration`), and NumPy functions for rows at once (`…_rows`) have no namesake.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "plugins" / "shared"

TOLD = {"model", "data", "parents", "density", "viscosity", "ids"}
"""Arguments that NumPy is told and a kernel knows."""
KNOWN = {"k", "i", "actuator"}
"""Arguments that only lanes have: the kernel, and which object it is about."""

_ADDS = "lanes add their term to the integrator's matrix; NumPy returns entries in the pattern D"
_OPERATORS = "lanes write it with operators of arrays"
_ROWS = "NumPy only: for many rays or shapes at once"
_FRAMES = "lanes take one object's frame apart, NumPy gathers many"

DIFFERENT: dict[str, dict[str, str]] = {
    "vectors": {
        **dict.fromkeys(("add", "sub", "scale", "along", "middle", "combine", "triple"), _OPERATORS),
        "same": "of the convex iteration, which in lanes has its own (ccd_one_world_lanes)",
        "divide": "Python raises where C and kernels give infinity",
        "vector": "NumPy writes tuples",
        "row_sums": "lanes add where they compute",
    },
    "spatial": dict.fromkeys(
        ("inertia_matrix", "cross_motion_matrix"), "products of rows are one matmul in NumPy"
    ),
    "tree": {
        "add_from_parents": "in lanes it is part of the walk that computes what is added",
        "single_dof": "lanes branch on the type of each joint",
        **dict.fromkeys(
            ("walked_and_sliding", "slides_of", "equal_chains"),
            "NumPy takes bodies and trees that are alike together; a compiled loop need not",
        ),
    },
    "geometry/balls": {
        **dict.fromkeys(
            ("sphere_sphere_shapes", "sphere_capsule_shapes", "sphere_cylinder_shapes", "sphere_box_shapes"),
            "lanes share whole pairs between geoms and flexes; NumPy computes those of flexes all at once",
        ),
        "facing": "lanes say in which worlds the contact exists",
        "balls_near": "NumPy returns no contact where they are apart",
    },
    "ldl": {
        "factor": "lanes factor in place, in memory that the stage owns",
        "copy": "arrays are copied by NumPy itself",
        "coupled": "NumPy passes over rows without couplings; a compiled loop need not",
    },
    "activation": {"activation_owners": "lanes go from actuators to activations"},
    "motion": dict.fromkeys(("object_velocity", "object_acceleration"), "queries of one object, NumPy only")
    | dict.fromkeys(("turned_into", "ObjectFrame"), _FRAMES)
    | {"object_frame": "lanes are told which kinds of objects occur, to branch over no others"},
    "springs": {
        "spring_displacement": "NumPy: of all dofs at once",
        "on_springs": "lanes: a loop over joints with springs",
        "stretch": "NumPy is also asked for lengths that are not Data's",
    },
    "wrenches": {
        "joint_forces": "lanes sum wrenches that were written body by body",
        "wrench": "one body's, in lanes",
    },
    "fluid/medium": {
        **dict.fromkeys(("boxes_and_ellipsoids", "in_world"), "NumPy sorts bodies into two groups first"),
        **dict.fromkeys(("on_body", "on_box", "on_ellipsoid"), "lanes branch body by body"),
    },
    "fluid/ellipsoid": {
        "Silhouette": "NumPy keeps the projected area with its parts for the slopes",
        "ordered": "in lanes the order of the axes is found by selection",
    },
    "geometry/ray_shapes": dict.fromkeys(("in_frame", "dots"), _ROWS),
    "geometry/ray_surfaces": dict.fromkeys(
        ("mesh", "hfield"), "lanes are told the nearest hit so far, beyond which they need not look"
    ),
    "geometry/shapes": {
        **dict.fromkeys(
            ("PairContact", "gather", "z_axis"), "NumPy collects contacts of one pair; lanes have LaneContact"
        ),
        "sign": "Python writes the condition",
    },
    "rows/contact_forces": {
        "contact_force": "lanes read kernel fields, of one contact",
        "each_contact": "lanes: a loop over the tile's contacts",
        "in_world_axes": "NumPy turns all wrenches at once",
        "contact_axes": "lanes turn them where they use them",
    },
    "contacts/oriented_boxes": dict.fromkeys(
        ("boxes_apart", "boxes_meet", "searched_by_tree"),
        "lanes compare boxes only of geoms that have outgrown them",
    ),
    "contacts/swept_bodies": {
        "missed_by_sweep": "NumPy asks about all pairs at once",
        **dict.fromkeys(("found_by_sweep", "swept"), "lanes ask pair by pair, of those that a plan knows"),
    },
    "principal_axes": {
        **dict.fromkeys(
            ("diagonalize", "rotation_matrix", "transposed"), "the compiler of MJCF asks for moments, too"
        ),
        "principal_axes": "lanes return the matrix alone",
    },
    "tendons/drift": {
        "tendon_drift": "lanes write those of all tendons, NumPy returns one",
        "body_drifts": "of all bodies first, in NumPy; lanes write them to scratch within tendon_drifts",
    },
    "tendons/wrapping": {
        "inside_point": "lanes compute it for the worlds of a mask",
    },
    "derivative/actuator": {"add_actuators": _ADDS},
    "derivative/fluid": dict.fromkeys(
        ("fluid_velocity", "add_fluid", "medium_acts", "write_couplings"), _ADDS
    ),
    "derivative/passive": dict.fromkeys(("add_passive", "add_dampers"), _ADDS),
    "derivative/rne": dict.fromkeys(("bias_velocity", "subtract_couplings", "write_carried_axes"), _ADDS),
    "derivative/velocity": dict.fromkeys(("force_velocity", "add_force_velocity"), _ADDS),
}
"""By topic, the names that one side alone has, or that take other arguments there, and why."""

PAIRS = sorted(
    path.relative_to(LIBRARY).as_posix().removesuffix("_lanes.py")
    for path in LIBRARY.rglob("*_lanes.py")
    if path.with_name(path.name.replace("_lanes", "_numpy")).exists()
)


@cache
def imported() -> dict[str, set[str]]:
    """What is imported from each module of the library, or reached through it, by other modules."""
    found: dict[str, set[str]] = defaultdict(set)
    for package in ("core", "plugins", "mjcf", "backends"):
        for path in (ROOT / package).rglob("*.py"):
            tree, modules = ast.parse(path.read_text()), {}
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                    "dovetail.plugins.shared"
                ):
                    for alias in node.names:
                        found[str(node.module)].add(alias.name)
                        modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            for node in ast.walk(tree):
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id in modules
                ):
                    found[modules[node.value.id]].add(node.attr)
    return found


def singular(name: str) -> str:
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


def defined(topic: str, side: str) -> dict[str, list[str] | None]:
    """Functions with their arguments, and classes, of one side of a topic, by the singular of their names."""
    tree = ast.parse((LIBRARY / f"{topic}_{side}.py").read_text())
    found: dict[str, list[str] | None] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            found[singular(node.name)] = [singular(a.arg) for a in arguments if a.arg not in TOLD | KNOWN]
        elif isinstance(node, ast.ClassDef):
            found[singular(node.name)] = None
    return found


def exported(topic: str, side: str) -> set[str]:
    module = f"dovetail.plugins.shared.{topic.replace('/', '.')}_{side}"
    names = {
        singular(name)
        for name in imported()[module]
        if not name.startswith("_") and not name.endswith("_rows")
    }
    return names & defined(topic, side).keys()


def differences(topic: str) -> set[str]:
    """Exported names that the other side lacks, or has with other arguments."""
    numpy, lanes = defined(topic, "numpy"), defined(topic, "lanes")
    names = exported(topic, "numpy") | exported(topic, "lanes")
    return {name for name in names if name not in numpy or name not in lanes or numpy[name] != lanes[name]}


@pytest.mark.parametrize("topic", PAIRS)
def test_both_sides_export_the_same_names_with_the_same_arguments(topic: str) -> None:
    assert differences(topic) == {singular(name) for name in DIFFERENT.get(topic, {})}


def test_the_arithmetic_is_compared_at_all() -> None:
    assert {"vectors", "quaternions", "spatial", "tree", "ldl", "muscle", "energy", "fluid/box"} <= set(PAIRS)
    assert {"quat_rotate", "quat_multiply", "quat_integrate"} <= exported("quaternions", "lanes")
    assert DIFFERENT.keys() <= set(PAIRS)


def test_another_order_of_arguments_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = defined

    def swapped(topic: str, side: str) -> dict[str, list[str] | None]:
        found = dict(honest(topic, side))
        if side == "lanes" and topic == "quaternions":
            found["quat_rotate"] = ["v", "q"]
        return found

    monkeypatch.setitem(globals(), "defined", swapped)
    assert differences("quaternions") == {"quat_rotate"}

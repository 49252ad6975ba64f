"""Compiling a spec, and carrying a state over to what was compiled anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.contracts.enums import EqType
from dovetail.errors import ArgumentError, DovetailError, MJCFError
from dovetail.mj.spec.keys import layout, settle_keys
from dovetail.mj.spec.problems import SpecError, compile_problem
from dovetail.mj.spec.tree import CHILD_KINDS
from dovetail.mj.spec.writing import SOURCE, Writer

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.mj.spec.spec import MjSpec


def compile_model(spec: MjSpec) -> Model:
    """dovetail's Model of a spec."""
    from dovetail.loading import load_tree

    if spec.parent is not None:
        raise SpecError("Error: cannot compile child spec if attached by reference to a parent spec")
    settle_keys(spec)
    writer = Writer(spec)
    root = writer.document()
    assets = {**spec.assets, **writer.assets}
    number_elements(spec)
    try:
        model = load_tree(root, SOURCE, folder=Path(spec.modelfiledir), assets=assets)
    except MJCFError as problem:
        place = problem.line if problem.file == SOURCE else 0
        element = writer.made[place] if place < len(writer.made) else None
        raise compile_problem(problem, element) from problem
    except SpecError:
        raise
    except DovetailError as problem:
        raise SpecError(f"Error: {problem}") from problem
    _complete(spec, model)
    return model


def _complete(spec: MjSpec, model: Model) -> None:
    """What a spec says and MJCF cannot: all numbers of an equality, and how the bytes of an image are encoded."""
    for number, equality in enumerate(spec._lists["equality"]):
        if int(equality.type) in (EqType.JOINT, EqType.TENDON):
            model.eq_data[number] = equality.data
    for number, texture in enumerate(spec._lists["texture"]):
        if len(texture.data):
            model.tex_colorspace[number] = int(texture.colorspace)


def number_elements(spec: MjSpec) -> None:
    """Give elements of the tree the numbers that they have in the model."""
    for kind in CHILD_KINDS:
        for number, element in enumerate(spec._of_kind(kind)):
            element._id = number


def compile_spec(spec: MjSpec) -> Any:
    """An MjModel of a spec."""
    from dovetail.mj.structs import MjModel

    made = MjModel.of(compile_model(spec))
    _remember(spec)
    spec._signed = spec._version, int(made.signature)
    return made


def recompile_spec(spec: MjSpec, model: Any, data: Any) -> tuple[Any, Any]:
    """Compile again, and give all that was there before the state that it had.

    What is new starts where the model starts. Time, controls, activations, velocities and forces are carried over
    element by element.
    """
    from dovetail.mj.structs import MjData, MjModel

    kinds: Any = (MjModel, MjData)
    if not all(isinstance(given, kind) for given, kind in zip((model, data), kinds, strict=True)):
        raise ArgumentError("recompile takes the MjModel and the MjData of the spec before it was changed")
    before = spec._layouts
    if any(end > _width(data, part) for part, places in before.items() for _, end in places.values()):
        raise SpecError("the model and data are not those that this spec was compiled to last")
    new = compile_spec(spec)
    state: Any = MjData(new)
    state.time = data.time
    for part, places in _places(spec).items():
        for owner, (start, end) in places.items():
            kept = before[part].get(owner)
            if kept is not None and kept[1] - kept[0] == end - start:
                getattr(state, part).reshape(-1)[start:end] = getattr(data, part).reshape(-1)[slice(*kept)]
    if state.userdata.shape == data.userdata.shape:
        state.userdata[:] = data.userdata
    return new, state


_CARRIED = {
    "qpos": "qpos",
    "qvel": "qvel",
    "act": "act",
    "ctrl": "ctrl",
    "mocap_pos": "mpos",
    "mocap_quat": "mquat",
    "qacc_warmstart": "qvel",
    "qfrc_applied": "qvel",
    "xfrc_applied": "body",
    "eq_active": "equality",
}
"""Parts of the state, and by which elements they are laid out."""
Places = dict[str, dict[int, tuple[int, int]]]
"""Part of the state → element → first and last place."""


def _layout(spec: MjSpec, part: str) -> list[tuple[Any, int]]:
    if part == "body":
        return [(body, 6) for body in spec._of_kind("body")]
    if part == "equality":
        return [(equality, 1) for equality in spec._lists["equality"]]
    return layout(spec, part)


def _width(data: Any, part: str) -> int:
    return int(getattr(data, part).size)


def _places(spec: MjSpec) -> Places:
    """Where the numbers of each element are in the state."""
    found: Places = {}
    for part, kind in _CARRIED.items():
        start, places = 0, {}
        for element, width in _layout(spec, kind):
            places[element._serial] = start, start + width
            start += width
        found[part] = places
    return found


def _remember(spec: MjSpec) -> None:
    """Keep where everything is in the state of the model that was compiled."""
    spec._layouts = _places(spec)

"""Functions of a model: names, constants, masses, versions, options; and files: saving, printing, dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import ObjType, Solver
from dovetail.contracts.fields import Array
from dovetail.mj.errors import FatalError
from dovetail.mj.functions.binding import function
from dovetail.mj.functions.engine import engine_of

if TYPE_CHECKING:
    from dovetail.mj.structs import MjData, MjModel

VERSION = "3.4.0"
CONFIGURATION = ("pyproject.toml", "dovetail.toml")
"""Files that loading looks into and that are no part of a model."""

# ---- names --------------------------------------------------------------------------------------------------------

_KINDS = {int(kind): kind.name.lower() for kind in ObjType}
_KINDS[int(ObjType.XBODY)] = "body"


def _kind(objtype: int) -> str:
    return _KINDS.get(objtype, "")


@function("m: m, type: int, name: str", "int")
def mj_name2id(m: MjModel, type: int, name: str) -> int:
    """The number of an object (mjtObj) by its name; −1 if there is none."""
    return int(m._model.name_index(_kind(type)).get(name, -1))


@function("m: m, type: int, id: int", "str")
def mj_id2name(m: MjModel, type: int, id: int) -> str | None:
    """The name of an object (mjtObj); None if it has none."""
    names = m._model.object_names.get(_kind(type), ())
    return (names[id] or None) if 0 <= id < len(names) else None


@function("type: int", "str")
def mju_type2Str(type: int) -> str | None:
    """What kind of object a number of mjtObj means, in MJCF's words."""
    words = {**{int(kind): kind.name.lower() for kind in ObjType}, 0: None}
    return "frame" if type == 100 else words.get(type)


@function("str: str", "int")
def mju_str2Type(str: str) -> int:
    """The number in mjtObj of a kind of object; 0 if there is none of that name."""
    if str == "frame":
        return 100
    return next((int(kind) for kind in ObjType if int(kind) and kind.name.lower() == str), 0)


_WARNINGS = (
    "the mass matrix is nearly singular at dof {}",
    "there is no room for more contacts: {}",
    "there is no room for more constraints: {}",
    "there is no room for more visual geoms: {}",
    "a position is broken at {}",
    "a velocity is broken at dof {}",
    "an acceleration is broken at dof {}",
    "a control is broken at actuator {}",
)


@function("warning: int, info: int", "str")
def mju_warningText(warning: int, info: int) -> str:
    """A warning (mjtWarning) in words."""
    if 0 <= warning < len(_WARNINGS):
        return _WARNINGS[warning].format(info)
    return f"unknown warning {warning}"


# ---- facts --------------------------------------------------------------------------------------------------------


@function("", "int")
def mj_version() -> int:
    """The version of MuJoCo whose numbers these are, as one number."""
    return 340


@function("", "str")
def mj_versionString() -> str:
    """The version of MuJoCo whose numbers these are."""
    return VERSION


@function("m: m", "int")
def mj_isPyramidal(m: MjModel) -> int:
    """1 if friction cones are pyramids."""
    return int(m._model.opt.cone == 0)


@function("m: m", "int")
def mj_isSparse(m: MjModel) -> int:
    """1 if MuJoCo would store the Jacobian of constraints as a sparse matrix."""
    jacobian = int(m._model.opt.jacobian)
    return int(jacobian == 1 or (jacobian == 2 and m._model.nv >= 60))


@function("m: m", "int")
def mj_isDual(m: MjModel) -> int:
    """1 if the solver works on forces."""
    return int(m._model.opt.solver == Solver.PGS or m._model.opt.noslip_iterations > 0)


@function("m: m", "float")
def mj_getTotalmass(m: MjModel) -> float:
    """The mass of all bodies."""
    return float(m._model.body_mass.sum())


@function("m: m, newmass: float")
def mj_setTotalmass(m: MjModel, newmass: float) -> None:
    """Scale all masses and inertias so that the total mass is this."""
    model = m._model
    scale = max(1e-15, newmass / max(1e-15, float(model.body_mass.sum())))
    model.body_mass[...] *= scale
    model.body_inertia[...] *= scale


@function("m: m, d: d")
def mj_setConst(m: MjModel, d: MjData) -> None:
    """Recompute what derives from edited values of the model: inverse weights, lengths at rest, statistics."""
    from dovetail.loading import set_constants

    engine = engine_of(m, d)
    set_constants(engine.model)
    engine.forget()


@function("m: m, d: d, index: int, opt: MjLROpt")
def mj_setLengthRange(m: MjModel, d: MjData, index: int, opt: Any) -> None:
    """Find the range of an actuator's length by pulling at it, or from limits."""
    from dovetail.errors import DovetailError
    from dovetail.plugins.length_range.simulation_numpy import length_range

    model = m._model
    if not 0 <= index < model.nu:
        raise FatalError(f"mj_setLengthRange: there is no actuator {index}: the model has {model.nu}")
    if not _is_wanted(model, index, opt):
        return
    if opt.useexisting and model.actuator_lengthrange[index, 0] < model.actuator_lengthrange[index, 1]:
        return
    names = ("uselimit", "accel", "maxforce", "timeconst", "timestep", "inttotal", "interval", "tolrange")
    try:
        found = length_range(model, index, {name: getattr(opt, name) for name in names})
    except DovetailError as problem:
        raise ValueError(str(problem)) from problem
    model.actuator_lengthrange[index] = found


def _is_wanted(model: Any, index: int, opt: Any) -> bool:
    """Whether the mode asks for an actuator: none, muscles, muscles and users' own, all."""
    mode, kinds = int(opt.mode), (int(model.actuator_gaintype[index]), int(model.actuator_biastype[index]))
    muscle, user = 2 in kinds, 3 in kinds
    return mode == 3 or (mode >= 1 and muscle) or (mode == 2 and user)


# ---- defaults -----------------------------------------------------------------------------------------------------


@function("opt: MjOption")
def mj_defaultOption(opt: Any) -> None:
    """Options as a model has them that says nothing."""
    opt.assign(type(opt)())


@function("opt: MjLROpt")
def mj_defaultLROpt(opt: Any) -> None:
    """Settings of mj_setLengthRange as <compiler><lengthrange> has them that says nothing."""
    from dovetail.mjcf.model.after_constants import LENGTH_RANGE

    for name, value in LENGTH_RANGE.items():
        setattr(opt, name, int(value) if isinstance(value, bool) else value)


@function("vis: MjVisual")
def mj_defaultVisual(vis: Any) -> None:
    """Visual settings as a model has them that says nothing."""
    vis.assign(type(vis)())


# ---- files --------------------------------------------------------------------------------------------------------


@function("m: m, filename: str? = None, buffer: bw? = None")
def mj_saveModel(m: MjModel, filename: str | None, buffer: Array | None) -> None:
    """Write a model to a file, or into a buffer of mj_sizeModel bytes, in dovetail's own format."""
    from dovetail.mj.structs.binary import save_binary

    save_binary(m._model, filename, buffer)


@function("m: m", "int")
def mj_sizeModel(m: MjModel) -> int:
    """How many bytes mj_saveModel writes."""
    from dovetail.mj.structs.binary import as_bytes

    return len(as_bytes(m._model))


@function("filename: str, m: m")
def mj_saveLastXML(filename: str, m: MjModel) -> None:
    """Write MJCF that compiles to this model: what it was loaded from, or all its numbers if it was edited."""
    from dovetail import files
    from dovetail.mj.structs.origin import as_mjcf

    text = as_mjcf(m._model, m._origin).encode()
    with files.replacing(files.checked_path(filename)) as handle:
        handle.write(text)


@function("m: m, filename: str")
def mj_printModel(m: MjModel, filename: str) -> None:
    """Write sizes, options and all arrays of a model as text."""
    _print_model(m, filename, "% 9.2g")


@function("m: m, filename: str, float_format: str")
def mj_printFormattedModel(m: MjModel, filename: str, float_format: str) -> None:
    """The same with a format for numbers, as `%.6f`."""
    _print_model(m, filename, float_format)


def _print_model(m: MjModel, filename: str, float_format: str) -> None:
    model = m._model
    lines = [
        f"model {model.modelname!r}",
        "",
        *(f"{name:<20} {size}" for name, size in model.sizes.items()),
        "",
    ]
    _write(filename, [*lines, *_arrays(model, float_format)])


@function("m: m, d: d, filename: str")
def mj_printData(m: MjModel, d: MjData, filename: str) -> None:
    """Write all arrays of a Data as text."""
    _print_data(m, d, filename, "% 9.2g")


@function("m: m, d: d, filename: str, float_format: str")
def mj_printFormattedData(m: MjModel, d: MjData, filename: str, float_format: str) -> None:
    """The same with a format for numbers, as `%.6f`."""
    _print_data(m, d, filename, float_format)


def _print_data(m: MjModel, d: MjData, filename: str, float_format: str) -> None:
    data = engine_of(m, d).data
    _write(filename, [f"data of model {m._model.modelname!r}", "", *_arrays(data, float_format)])


def _arrays(owner: Any, float_format: str) -> list[str]:
    """Every field with its numbers, a row in a line."""
    lines = []
    for name, view in owner.fields():
        values = np.asarray(view)
        if not values.size:
            continue
        lines.append(f"{name.upper()}" if values.ndim else f"{name.upper():<20} {values.item()}")
        for row in values.reshape(len(values), -1).tolist() if values.ndim else []:
            lines.append("  " + " ".join(float_format % x if isinstance(x, float) else str(x) for x in row))
    return lines


def _write(filename: str, lines: list[str]) -> None:
    with open(filename, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


@function("flg_html: bool, flg_pad: bool", "str")
def mj_printSchema(flg_html: bool, flg_pad: bool) -> str:
    """The elements and attributes of MJCF, as text or as a table of HTML."""
    from html import escape

    from dovetail.mjcf.read.schema import rows

    lines = []
    space = "&nbsp;" * 6 if flg_html and flg_pad else "   "
    for path, element in rows():
        depth, name = path.count("/"), path.rpartition("/")[2]
        attributes = " ".join(sorted(element.attributes))
        if flg_html:
            lines.append(f"<tr><td>{space * depth}{escape(name)}</td><td>{escape(attributes)}</td></tr>")
        else:
            head = f"{space * depth}{name}"
            lines.append(f"{head:<30}{attributes}" if flg_pad else f"{head} {attributes}")
    return "<table>\n{}\n</table>".format("\n".join(lines)) if flg_html else "\n".join(lines)


@function("filename: str", "list[str]")
def mju_getXMLDependencies(filename: str) -> list[str]:
    """The files that a model is made of: itself, what it includes, and its assets."""
    import os

    from dovetail.files import recorded
    from dovetail.loading import load

    with recorded() as seen:
        load(filename, assets={"no such file": b""})  # with assets, nothing comes from the cache
    read = [path for path in seen.contents if os.path.basename(path) not in CONFIGURATION]
    found = [os.path.abspath(path) for path in (filename, *read)]
    return list(dict.fromkeys(path.replace("\\", "/") for path in found))


__all__ = [name for name in globals() if name.startswith(("mj_", "mju_"))]

"""Compiling MJCF: read, validate, build the typed tree, compile it, and lay it out as mjModel's values.

What needs dynamics (inverse weights, M0, actuator lengths, mean inertia) is not computed here: that is the
compile-time stage `finalize_model`.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.errors import PluginError
from dovetail.mjcf.compose.submodels import Library
from dovetail.mjcf.elements.actuator import compile_actuators, moment_nonzeros, read_actuators
from dovetail.mjcf.elements.asset import read_asset
from dovetail.mjcf.elements.columns import lengths
from dovetail.mjcf.elements.compiler import read_compiler
from dovetail.mjcf.elements.contact import compile_contacts, read_contacts
from dovetail.mjcf.elements.custom import compile_tuples, read_custom
from dovetail.mjcf.elements.deformable import read_deformable
from dovetail.mjcf.elements.equality import compile_equalities, most_rows, read_equalities
from dovetail.mjcf.elements.flex import compile_flexes
from dovetail.mjcf.elements.hfield import compile_hfields
from dovetail.mjcf.elements.joint import assign_addresses
from dovetail.mjcf.elements.keyframe import fill_keys, read_keyframe
from dovetail.mjcf.elements.material import compile_materials
from dovetail.mjcf.elements.mesh import compile_meshes
from dovetail.mjcf.elements.object_kinds import KINDS
from dovetail.mjcf.elements.plugins import read_extension, resolve_plugins
from dovetail.mjcf.elements.sensor import compile_sensors, read_sensors
from dovetail.mjcf.elements.settings import (
    OPTION_DEFAULTS,
    SIZE_DEFAULTS,
    read_option,
    read_size,
    read_statistic,
    settle_user_sizes,
    take_defaults,
)
from dovetail.mjcf.elements.skin import compile_skins
from dovetail.mjcf.elements.targets import find_targets
from dovetail.mjcf.elements.tendon import compile_tendons, read_tendons
from dovetail.mjcf.elements.texture import compile_textures
from dovetail.mjcf.elements.visual import read_visual
from dovetail.mjcf.elements.worldbody import add_world, number_tree, read_worldbody
from dovetail.mjcf.model import arrays
from dovetail.mjcf.model.after_constants import Completion, afterwards
from dovetail.mjcf.model.blamed import blaming
from dovetail.mjcf.model.bodies import compile_bodies, number_mocap, scale_total_mass
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.model.discard import discard_visual
from dovetail.mjcf.model.fuse import fuse_static_bodies
from dovetail.mjcf.model.plugin_fields import filling
from dovetail.mjcf.model.tables import ElementRow, Tables
from dovetail.mjcf.read.dialects import FLAT_MESHES_ARE_BOXES, rewrites
from dovetail.mjcf.read.schema import MUJOCO
from dovetail.mjcf.read.source import Loader, Node, load
from dovetail.mjcf.read.validate import warn_at

DEFAULT_DIALECT = "mujoco-3.4"


@attrs.frozen(eq=False)
class Compiled:
    """A compiled model, before the constants that need dynamics."""

    sizes: dict[str, int]
    """mjModel's sizes: nq, nv, nbody, …"""
    values: dict[str, Any]
    """mjModel's arrays by name; `opt.…` and `stat.…` are dotted."""
    names: dict[str, tuple[str, ...]]
    """Names of the objects of each kind, in order; empty for the unnamed."""
    modelname: str
    source: str
    """Path of the main file, or the name given to the text."""
    afterwards: tuple[Completion, ...] = ()
    """What remains to be done to the loaded model, once its constants are known, given a function that finds what
    fills a slot of loading."""
    fill: Callable[[Any], None] = lambda model: None
    """Gives the model's fields that plugins added their values."""


def compile_file(
    path: str | Path,
    tables: Tables,
    *,
    assets: Mapping[str, bytes | str] | None = None,
    asset_root: str | Path | None = None,
    dialect: str = DEFAULT_DIALECT,
) -> Compiled:
    """Compile a model file. `assets` go before files on the disk; `asset_root`, if given, is the only directory that
    files may come from."""
    main = Path(path)
    root = Path(asset_root) if asset_root is not None else None
    loader = Loader(_folder(main.parent, root), assets=dict(assets or {}), asset_root=root)
    return _compile(loader.read_main(main), str(main), loader, tables, dialect)


def compile_text(
    xml: str | bytes,
    tables: Tables,
    *,
    assets: Mapping[str, bytes | str] | None = None,
    filename: str = "<string>",
    asset_root: str | Path | None = None,
    dialect: str = DEFAULT_DIALECT,
) -> Compiled:
    """Compile a model given as text. Included files come from `assets` first, then from the disk."""
    root = Path(asset_root) if asset_root is not None else None
    # A text has no folder of its own: its files are in the one that files may come from.
    folder = _folder(root if root is not None and filename == "<string>" else Path(filename).parent, root)
    loader = Loader(folder, assets=dict(assets or {}), asset_root=root)
    return _compile(loader.check_text(xml, filename), filename, loader, tables, dialect)


def _folder(folder: Path, root: Path | None) -> Path:
    """Where files are looked for: its real place if files may not leave a root, so that steps out of it show."""
    return folder if root is None else Path(os.path.realpath(folder))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Compiling makes many small lists that stay in use: looking for garbage among them costs a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def compile_tree(root: Node, source: str, loader: Loader, tables: Tables) -> Compiled:
    """Compile a document that was put together as a tree of elements."""
    return _compile_root(root, source, loader, tables, DEFAULT_DIALECT)


def composed(root: Node, source: str, loader: Loader, dialect: str, custom: frozenset[str]) -> Library:
    """The documents of a model, checked, with every `<replicate>`, `<attach>` and `<composite>` put in place."""
    library = Library(custom=custom, rewrites=rewrites(dialect))
    library.check(root)
    library.add(root, loader, (os.path.realpath(source),)).ready()
    return library


def _compile(text: str, source: str, loader: Loader, tables: Tables, dialect: str) -> Compiled:
    return _compile_root(load(text, source, loader), source, loader, tables, dialect)


@_no_collection()
def _compile_root(root: Node, source: str, loader: Loader, tables: Tables, dialect: str) -> Compiled:
    library = composed(root, source, loader, dialect, _custom_tags(tables.mjcf_element))
    context = Context(tables)
    context.flat_meshes_are_boxes = dialect in FLAT_MESHES_ARE_BOXES
    context.loaders = library.loaders
    context.modelname = root.values.get("model", context.modelname)
    context.submodels = library.settings
    with blaming(root):
        _read_attached_defaults(context, library)
        _read(context, root)
        _read_custom_elements(context, root, tables.mjcf_element)
        with np.errstate(all="ignore"):  # reported by _check_finite, with the field's name
            _resolve(context, root)
            _count(context)
            values = arrays.build(context)
    _check_finite(root, values)
    names = {kind: tuple(item.name for item in context.objects[kind]) for kind in KINDS}
    sizes = _sizes(context, values)
    return Compiled(sizes, values, names, context.modelname, source, afterwards(context), filling(context))


def _custom_tags(rows: Mapping[str, ElementRow]) -> frozenset[str]:
    own = sorted(set(rows) & set(MUJOCO.children))
    if own:
        raise PluginError(f"mjcf_element:{own[0]} is one of MJCF's own sections; choose another tag")
    return frozenset(rows)


def _read_custom_elements(context: Context, root: Node, rows: Mapping[str, ElementRow]) -> None:
    """Elements of third parties, after all sections, in the order of the file."""
    for node in root.children:
        if node.tag in rows:
            rows[node.tag](context, node)


def _read_attached_defaults(context: Context, library: Library) -> None:
    """Default classes of attached models, and the prefixes under which others know them."""
    for root in library.roots[1:]:
        for section in root.children:
            if section.tag == "default":
                context.defaults.read(section)
    context.shared_classes = library.known


def _read_defaults(context: Context, section: Node) -> None:
    context.defaults.read(section)


SECTIONS: dict[str, Callable[[Context, Node], None]] = {
    "compiler": read_compiler,
    "option": read_option,
    "size": read_size,
    "statistic": read_statistic,
    "default": _read_defaults,
    "extension": read_extension,
    "visual": read_visual,
    "custom": read_custom,
    "asset": read_asset,
    "worldbody": read_worldbody,
    "contact": read_contacts,
    "deformable": read_deformable,
    "equality": read_equalities,
    "tendon": read_tendons,
    "actuator": read_actuators,
    "sensor": read_sensors,
    "keyframe": read_keyframe,
}
"""Sections in the order in which they are read, whatever their order in the file."""


def _read(context: Context, root: Node) -> None:
    context.option.update(OPTION_DEFAULTS)
    take_defaults(context)
    context.sizes.update(SIZE_DEFAULTS)
    add_world(context)
    for tag, read in SECTIONS.items():
        for section in root.children:
            if section.tag == tag:
                read(context, section)
        if tag == "default":
            for owner, prefix, model in reversed(context.shared_classes):
                context.defaults.share(owner, prefix, model)


def _resolve(context: Context, root: Node) -> None:
    """Everything that needs the whole model to be read."""
    resolve_plugins(context)
    number_tree(context)
    settle_user_sizes(context)
    compile_meshes(context)
    compile_hfields(context)
    compile_bodies(context)
    discard_visual(context, root)
    compile_textures(context)
    fuse_static_bodies(context, root)
    scale_total_mass(context)
    compile_flexes(context)
    compile_tendons(context)
    compile_actuators(context)
    compile_contacts(context)
    compile_equalities(context)
    context.sizes["nsensordata"] = compile_sensors(context)
    compile_tuples(context)
    compile_materials(context)
    compile_skins(context)
    find_targets(context)


def _count(context: Context) -> None:
    """Sizes that the arrays are shaped by."""
    sizes = context.sizes
    sizes["nq"], sizes["nv"] = assign_addresses(context.joints)
    sizes["nu"] = len(context.actuators)
    sizes["nemax"] = most_rows(context)
    sizes["na"] = sum(actuator.actdim for actuator in context.actuators)
    sizes["nmocap"] = number_mocap(context.bodies)
    vectors = {"qpos": "nq", "qvel": "nv", "act": "na", "ctrl": "nu"}
    widths = {name: sizes[size] for name, size in vectors.items()}
    fill_keys(context, {**widths, "mpos": 3 * sizes["nmocap"], "mquat": 4 * sizes["nmocap"]})


def _sizes(context: Context, values: dict[str, Any]) -> dict[str, int]:
    """All of mjModel's sizes, except those of its memory buffers; no known engine plugin has a state."""
    return {
        **context.sizes,
        **lengths(values),
        "nM": _legacy_nonzeros(values),
        "ngravcomp": int(np.count_nonzero(values["body_gravcomp"] > 0.0)),
        "nJmom": moment_nonzeros(context),
        "nbvhdynamic": int(values["flex_bvhnum"].sum()),
        "npluginstate": 0,
    }


def _legacy_nonzeros(values: dict[str, Any]) -> int:
    """nM: the lower triangle without leaving out simple dofs; D has it twice but for the diagonal."""
    return (len(values["D_colind"]) + len(values["D_diag"])) // 2


def _check_finite(root: Node, values: dict[str, Any]) -> None:
    """Numbers that are finite each may still overflow together, such as a density times a volume: MuJoCo goes on."""
    for name, value in values.items():
        array = np.asarray(value)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            warn_at(
                root,
                f"{name} is not finite: an attribute is nan or inf, or some sizes, masses or positions are absurdly "
                "large",
            )
            return

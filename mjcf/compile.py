"""Compiling MJCF: read, validate, build the typed tree, compile it, and lay it out as mjModel's values.

What needs dynamics (inverse weights, M0, actuator lengths, mean inertia) is not computed here: that is the
compile-time stage `finalize_model`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from . import arrays
from .asset_arrays import asset_sizes
from .bodies import compile_bodies, number_mocap
from .context import KINDS, Context, InertiaRow, MeshInertiaRow, MeshReader
from .elements.actuator import compile_actuators, read_actuators
from .elements.body import add_world, number_tree, read_worldbody
from .elements.contact import compile_contacts, read_contacts
from .elements.custom import compile_tuples, read_custom
from .elements.equality import compile_equalities, read_equalities
from .elements.keyframe import fill_keys, read_keyframe
from .elements.looks import compile_materials, find_targets, read_asset, read_visual
from .elements.mesh import compile_meshes
from .elements.sensor import compile_sensors, read_sensors
from .elements.settings import (
    OPTION_DEFAULTS,
    SIZE_DEFAULTS,
    read_compiler,
    read_option,
    read_size,
    read_statistic,
    settle_user_sizes,
)
from .elements.tendon import compile_tendons, read_tendons
from .link_arrays import link_sizes
from .source import Loader, Node, load
from .submodels import Library
from .validate import validate


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


def compile_file(
    path: str | Path,
    *,
    asset_root: str | Path | None = None,
    geom_inertia: Mapping[str, InertiaRow] | None = None,
    load_mesh: Mapping[str, MeshReader] | None = None,
    mesh_inertia: Mapping[str, MeshInertiaRow] | None = None,
) -> Compiled:
    """Compile a model file. `asset_root`, if given, is the only directory that files may come from."""
    main = Path(path)
    loader = Loader(main.parent, asset_root=Path(asset_root) if asset_root is not None else None)
    tables = _Tables(geom_inertia, load_mesh, mesh_inertia)
    return _compile(loader.read_main(main), str(main), loader, tables)


def compile_text(
    xml: str | bytes,
    *,
    assets: Mapping[str, bytes | str] | None = None,
    filename: str = "<string>",
    asset_root: str | Path | None = None,
    geom_inertia: Mapping[str, InertiaRow] | None = None,
    load_mesh: Mapping[str, MeshReader] | None = None,
    mesh_inertia: Mapping[str, MeshInertiaRow] | None = None,
) -> Compiled:
    """Compile a model given as text. Included files come from `assets` first, then from the disk."""
    root = Path(asset_root) if asset_root is not None else None
    loader = Loader(Path(filename).parent, assets=dict(assets or {}), asset_root=root)
    tables = _Tables(geom_inertia, load_mesh, mesh_inertia)
    return _compile(loader.check_text(xml, filename), filename, loader, tables)


@attrs.frozen
class _Tables:
    """Rows of the compile-time stages that the compiler calls; None stands for the built-in ones."""

    geom_inertia: Mapping[str, InertiaRow] | None
    load_mesh: Mapping[str, MeshReader] | None
    mesh_inertia: Mapping[str, MeshInertiaRow] | None

    def context(self) -> Context:
        """A new compilation that uses them."""
        return Context(
            geom_inertia=_builtin_inertia() if self.geom_inertia is None else self.geom_inertia,
            load_mesh=_builtin_readers() if self.load_mesh is None else self.load_mesh,
            mesh_inertia=_builtin_mesh_inertia() if self.mesh_inertia is None else self.mesh_inertia,
        )


def _compile(text: str, source: str, loader: Loader, tables: _Tables) -> Compiled:
    root = load(text, source, loader)
    validate(root)
    library = Library()
    library.add(root, loader, (os.path.realpath(source),))
    context = tables.context()
    context.loaders = library.loaders
    context.modelname = root.values.get("model", context.modelname)
    context.submodels = library.settings
    _read_attached_defaults(context, library)
    _read(context, root)
    with np.errstate(over="ignore", invalid="ignore"):  # reported by _check_finite, with the field's name
        _resolve(context, root)
        _count(context)
        values = arrays.build(context)
    _check_finite(root, values)
    names = {kind: tuple(item.name for item in context.objects[kind]) for kind in KINDS}
    return Compiled(_sizes(context, values), values, names, context.modelname, source)


def _read_attached_defaults(context: Context, library: Library) -> None:
    """Default classes of attached models, and the prefixes under which others know them."""
    for root in library.roots[1:]:
        for section in root.children:
            if section.tag == "default":
                context.defaults.read(section)
    context.shared_classes = library.known


def _builtin_inertia() -> Mapping[str, InertiaRow]:
    from dovetail.plugins.geom_inertia.primitives_numpy import ROWS

    return ROWS


def _builtin_readers() -> Mapping[str, MeshReader]:
    from dovetail.plugins.load_mesh import msh_numpy, obj_numpy, stl_numpy

    return {".stl": stl_numpy.load_mesh, ".obj": obj_numpy.load_mesh, ".msh": msh_numpy.load_mesh}


def _builtin_mesh_inertia() -> Mapping[str, MeshInertiaRow]:
    from dovetail.plugins.mesh_inertia.integrals_numpy import ROWS

    return ROWS


def _read_defaults(context: Context, section: Node) -> None:
    context.defaults.read(section)


def _nothing(context: Context, section: Node) -> None:
    """Sections whose every child is refused by the schema so far."""


SECTIONS: dict[str, Callable[[Context, Node], None]] = {
    "compiler": read_compiler,
    "option": read_option,
    "size": read_size,
    "statistic": read_statistic,
    "default": _read_defaults,
    "extension": _nothing,
    "visual": read_visual,
    "custom": read_custom,
    "asset": read_asset,
    "worldbody": read_worldbody,
    "contact": read_contacts,
    "deformable": _nothing,
    "equality": read_equalities,
    "tendon": read_tendons,
    "actuator": read_actuators,
    "sensor": read_sensors,
    "keyframe": read_keyframe,
}
"""Sections in the order in which they are read, whatever their order in the file."""


def _read(context: Context, root: Node) -> None:
    context.option.update(OPTION_DEFAULTS)
    context.sizes.update(SIZE_DEFAULTS)
    add_world(context)
    for tag, read in SECTIONS.items():
        for section in root.children:
            if section.tag == tag:
                read(context, section)
        if tag == "default":
            for owner, prefix, model in reversed(context.shared_classes):
                context.defaults.share(owner, prefix, model)


def _refuse_discarding(context: Context, root: Node) -> None:
    """discardvisual would remove geoms that cannot collide, and all materials: harmless only if none exist."""
    if not context.compiler.discardvisual:
        return
    visible = [geom for geom in context.geoms if not geom.contype and not geom.conaffinity]
    if visible or context.objects["material"] or context.objects["texture"]:
        raise root.unsupported('discardvisual="true" with geoms, materials or textures to discard')


def _resolve(context: Context, root: Node) -> None:
    """Everything that needs the whole model to be read."""
    number_tree(context)
    settle_user_sizes(context)
    compile_meshes(context)
    compile_bodies(context)
    compile_tendons(context)
    compile_actuators(context)
    compile_contacts(context)
    compile_equalities(context)
    context.sizes["nsensordata"] = compile_sensors(context)
    compile_tuples(context)
    compile_materials(context)
    find_targets(context)
    _refuse_discarding(context, root)


def _count(context: Context) -> None:
    """Sizes that the arrays are shaped by."""
    sizes = context.sizes
    sizes["nq"], sizes["nv"] = arrays.assign_addresses(context.joints)
    sizes["nu"] = len(context.actuators)
    sizes.update(link_sizes(context))
    sizes["na"] = sum(actuator.actdim for actuator in context.actuators)
    sizes["nmocap"] = number_mocap(context.bodies)
    vectors = {"qpos": "nq", "qvel": "nv", "act": "na", "ctrl": "nu"}
    lengths = {name: sizes[size] for name, size in vectors.items()}
    fill_keys(context, {**lengths, "mpos": 3 * sizes["nmocap"], "mquat": 4 * sizes["nmocap"]})


_ABSENT = [
    "noct",
    "nflex",
    "nflexnode",
    "nflexvert",
    "nflexedge",
    "nflexelem",
    "nflexelemdata",
    "nflexelemedge",
    "nflexshelldata",
    "nflexevpair",
    "nflextexcoord",
    "npluginattr",
    "npluginstate",
    "nbvhdynamic",
]
"""Sizes of what is not supported yet."""
_COUNTED = {
    "body": "nbody",
    "joint": "njnt",
    "geom": "ngeom",
    "site": "nsite",
    "camera": "ncam",
    "light": "nlight",
    "flex": "nflex",
    "mesh": "nmesh",
    "skin": "nskin",
    "hfield": "nhfield",
    "texture": "ntex",
    "material": "nmat",
    "pair": "npair",
    "exclude": "nexclude",
    "equality": "neq",
    "tendon": "ntendon",
    "sensor": "nsensor",
    "numeric": "nnumeric",
    "text": "ntext",
    "tuple": "ntuple",
    "key": "nkey",
    "plugin": "nplugin",
}


def _sizes(context: Context, values: dict[str, Any]) -> dict[str, int]:
    """All of mjModel's sizes, except those of its name, path and memory buffers."""
    lengths = {
        "nM": _legacy_nonzeros(values),
        "nC": len(values["M_colind"]),
        "nD": len(values["D_colind"]),
        "nB": len(values["B_colind"]),
        "ntree": len(values["tree_dofadr"]),
        "nbvh": len(values["bvh_depth"]),
        "nbvhstatic": len(values["bvh_aabb"]),
        "nnumericdata": len(values["numeric_data"]),
        **asset_sizes(values),
        "ntextdata": len(values["text_data"]),
        "ntexdata": len(values["tex_data"]),
        "ntupledata": len(values["tuple_objid"]),
        "ngravcomp": int(np.count_nonzero(values["body_gravcomp"])),
        "nJmom": arrays.moment_nonzeros(context),
        "nnames": len(values["names"]),
        "nnames_map": len(values["names_map"]),
    }
    counted = {size: len(context.objects[kind]) for kind, size in _COUNTED.items()}
    return {**dict.fromkeys(_ABSENT, 0), **context.sizes, **counted, **lengths}


def _legacy_nonzeros(values: dict[str, Any]) -> int:
    """nM: the lower triangle without leaving out simple dofs; D has it twice but for the diagonal."""
    return (len(values["D_colind"]) + len(values["D_diag"])) // 2


def _check_finite(root: Node, values: dict[str, Any]) -> None:
    """Numbers that are finite each may still overflow together, such as a density times a volume."""
    for name, value in values.items():
        array = np.asarray(value)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise root.error(f"{name} overflows: some sizes, masses or positions are absurdly large")

"""What the integers of a Model point into: one rule for each integer field.

Ids of objects name objects that exist, addresses leave room for what they are the address of, types are members of
their sets. What has no rule but `FREE` is never used to find anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts import enums
from dovetail.contracts.engine_plugins import NAMES
from dovetail.contracts.enums import EqType, GeomType, JointType, ObjType, SensorType, TrnType, WrapType
from dovetail.contracts.fields import Array
from dovetail.contracts.index_rules import (
    Address,
    Bounds,
    Count,
    Free,
    Index,
    OneOf,
    Range,
    Rule,
    Typed,
    address,
    members,
    per_type,
)
from dovetail.contracts.types import MODEL_SPECS

if TYPE_CHECKING:
    from dovetail.contracts.types import Model

# ---- what ids of objects are by kind

OBJECTS: Mapping[int, str] = {
    ObjType.BODY: "nbody",
    ObjType.XBODY: "nbody",
    ObjType.JOINT: "njnt",
    ObjType.DOF: "nv",
    ObjType.GEOM: "ngeom",
    ObjType.SITE: "nsite",
    ObjType.CAMERA: "ncam",
    ObjType.LIGHT: "nlight",
    ObjType.FLEX: "nflex",
    ObjType.MESH: "nmesh",
    ObjType.SKIN: "nskin",
    ObjType.HFIELD: "nhfield",
    ObjType.TEXTURE: "ntex",
    ObjType.MATERIAL: "nmat",
    ObjType.PAIR: "npair",
    ObjType.EXCLUDE: "nexclude",
    ObjType.EQUALITY: "neq",
    ObjType.TENDON: "ntendon",
    ObjType.ACTUATOR: "nu",
    ObjType.SENSOR: "nsensor",
    ObjType.NUMERIC: "nnumeric",
    ObjType.TEXT: "ntext",
    ObjType.TUPLE: "ntuple",
    ObjType.KEY: "nkey",
    ObjType.PLUGIN: "nplugin",
}
"""The size that counts each kind of object."""

NO_OBJECT: Bounds = (-1, 0)


def objects(types: str, *, none: bool = False) -> Typed:
    """Ids of objects whose kind stands in the field `types`."""

    def limits(model: Model) -> Bounds:
        table = {kind: (-int(none), model.sizes[size]) for kind, size in OBJECTS.items()}
        return per_type(model, getattr(model, types), table, (-1, 1))

    return Typed(limits)


def _widths(model: Model, widths: tuple[int, ...]) -> Array:
    """Numbers of each joint; of an unknown type as of the widest."""
    return np.array([*widths, max(widths)])[np.clip(model.jnt_type, 0, len(widths)) % (len(widths) + 1)]


def _geom_data(model: Model) -> Bounds:
    meshes, fields = model.sizes["nmesh"], model.sizes["nhfield"]
    table = {GeomType.MESH: (0, meshes), GeomType.HFIELD: (0, fields), GeomType.SDF: (-1, meshes)}
    return per_type(model, model.geom_type, {int(k): v for k, v in table.items()}, (-1, max(meshes, fields)))


def _first_of_equality(model: Model) -> Bounds:
    sizes = model.sizes
    low, end = per_type(
        model,
        model.eq_type,
        {
            EqType.JOINT: (0, sizes["njnt"]),
            EqType.TENDON: (0, sizes["ntendon"]),
            EqType.FLEX: (0, sizes["nflex"]),
            EqType.DISTANCE: (0, sizes["ngeom"]),
        },
        (0, sizes["nbody"]),
    )
    sites = np.isin(model.eq_type, [EqType.CONNECT, EqType.WELD]) & (model.eq_objtype == ObjType.SITE)
    return low, np.where(sites, sizes["nsite"], end)


def _second_of_equality(model: Model) -> Bounds:
    low, end = _first_of_equality(model)
    single = np.isin(model.eq_type, [EqType.JOINT, EqType.TENDON, EqType.FLEX])
    return np.where(single, -1, low), end


def _kind_of_equality(model: Model) -> Bounds:
    """Connect and weld hold bodies or sites; the others do not look."""
    pairs = np.isin(model.eq_type, [EqType.CONNECT, EqType.WELD])
    return np.where(pairs, int(ObjType.BODY), 0), np.where(pairs, int(ObjType.SITE), int(ObjType.MODEL)) + 1


def _wrapped(model: Model) -> Bounds:
    sizes = model.sizes
    table = {
        WrapType.JOINT: (0, sizes["njnt"]),
        WrapType.SITE: (0, sizes["nsite"]),
        WrapType.SPHERE: (0, sizes["ngeom"]),
        WrapType.CYLINDER: (0, sizes["ngeom"]),
    }
    return per_type(model, model.wrap_type, {int(k): v for k, v in table.items()}, (-1, 1))


def _pulled(model: Model) -> Bounds:
    """Both columns of actuator_trnid."""
    sizes, types = model.sizes, model.actuator_trntype
    first = {
        TrnType.JOINT: "njnt",
        TrnType.JOINTINPARENT: "njnt",
        TrnType.SLIDERCRANK: "nsite",
        TrnType.TENDON: "ntendon",
        TrnType.SITE: "nsite",
        TrnType.BODY: "nbody",
    }
    one = per_type(model, types, {int(k): (0, sizes[size]) for k, size in first.items()}, NO_OBJECT)
    table = {int(TrnType.SLIDERCRANK): (0, sizes["nsite"]), int(TrnType.SITE): (-1, sizes["nsite"])}
    two = per_type(model, types, table, NO_OBJECT)
    return np.stack([one[0], two[0]], axis=1), np.stack([one[1], two[1]], axis=1)


SENSED: Mapping[int, tuple[ObjType, ...]] = {
    **dict.fromkeys(range(SensorType.TOUCH, SensorType.CAMPROJECTION + 1), (ObjType.SITE,)),
    SensorType.RANGEFINDER: (ObjType.SITE, ObjType.CAMERA),
    **dict.fromkeys((SensorType.JOINTPOS, SensorType.JOINTVEL), (ObjType.JOINT,)),
    **dict.fromkeys((SensorType.TENDONPOS, SensorType.TENDONVEL), (ObjType.TENDON,)),
    **dict.fromkeys(range(SensorType.ACTUATORPOS, SensorType.ACTUATORFRC + 1), (ObjType.ACTUATOR,)),
    SensorType.JOINTACTFRC: (ObjType.JOINT,),
    SensorType.TENDONACTFRC: (ObjType.TENDON,),
    **dict.fromkeys(range(SensorType.BALLQUAT, SensorType.JOINTLIMITFRC + 1), (ObjType.JOINT,)),
    **dict.fromkeys(range(SensorType.TENDONLIMITPOS, SensorType.TENDONLIMITFRC + 1), (ObjType.TENDON,)),
    **dict.fromkeys(
        range(SensorType.FRAMEPOS, SensorType.FRAMEANGACC + 1),
        (ObjType.BODY, ObjType.XBODY, ObjType.GEOM, ObjType.SITE, ObjType.CAMERA),
    ),
    **dict.fromkeys(range(SensorType.SUBTREECOM, SensorType.SUBTREEANGMOM + 1), (ObjType.BODY,)),
    SensorType.INSIDESITE: (ObjType.BODY, ObjType.XBODY, ObjType.GEOM, ObjType.SITE, ObjType.CAMERA),
    **dict.fromkeys(range(SensorType.GEOMDIST, SensorType.GEOMFROMTO + 1), (ObjType.BODY, ObjType.GEOM)),
}
"""Kinds of object that sensors measure; of those that are not listed any, or none."""

REFERENCES: Mapping[int, tuple[ObjType, ...]] = {
    SensorType.CAMPROJECTION: (ObjType.CAMERA,),
    SensorType.INSIDESITE: (ObjType.SITE,),
    **dict.fromkeys(range(SensorType.GEOMDIST, SensorType.GEOMFROMTO + 1), (ObjType.BODY, ObjType.GEOM)),
}
"""Kinds of a sensor's reference where it cannot be left out."""

WIDTHS: Mapping[int, int] = {
    **dict.fromkeys(range(SensorType.TOUCH, SensorType.PLUGIN), 1),
    **dict.fromkeys(range(SensorType.ACCELEROMETER, SensorType.MAGNETOMETER + 1), 3),
    SensorType.CAMPROJECTION: 2,
    SensorType.BALLQUAT: 4,
    SensorType.BALLANGVEL: 3,
    **dict.fromkeys(range(SensorType.FRAMEPOS, SensorType.SUBTREEANGMOM + 1), 3),
    SensorType.FRAMEQUAT: 4,
    SensorType.GEOMNORMAL: 3,
    SensorType.GEOMFROMTO: 6,
}
"""Numbers that sensors write; contact, tactile, plugin and user sensors as many as they say."""

VARIABLE = (SensorType.CONTACT, SensorType.TACTILE, SensorType.PLUGIN, SensorType.USER)


def _sensor_widths(model: Model) -> Bounds:
    fixed = {kind: (width, width + 1) for kind, width in WIDTHS.items() if kind not in VARIABLE}
    return per_type(model, model.sensor_type, fixed, (0, model.sizes["nsensordata"] + 1))


# ---- the declarations

FREE = Free()
CONDIMS = OneOf(frozenset({1, 3, 4, 6}))
SHAPES = members(kind for kind in GeomType if kind <= GeomType.SDF)
ZONES = members(
    (GeomType.SPHERE, GeomType.CAPSULE, GeomType.ELLIPSOID, GeomType.CYLINDER, GeomType.BOX, GeomType.SDF)
)
FRAMES = members(enums.SameFrame)

RULES: Mapping[str, Rule] = {
    "body_parentid": Index("nbody"),
    "body_rootid": Index("nbody"),
    "body_weldid": Index("nbody"),
    "body_mocapid": Index("nmocap", none=True),
    "body_jntnum": Count("njnt"),
    "body_jntadr": address("njnt", "body_jntnum"),
    "body_dofnum": Count("nv"),
    "body_dofadr": address("nv", "body_dofnum"),
    "body_treeid": Index("ntree", none=True),
    "body_geomnum": Count("ngeom"),
    "body_geomadr": address("ngeom", "body_geomnum"),
    "body_simple": Range(0, 2),
    "body_sameframe": FRAMES,
    "body_plugin": Index("nplugin", none=True),
    "body_contype": FREE,
    "body_conaffinity": FREE,
    "body_bvhnum": Count("nbvh"),
    "body_bvhadr": address("nbvh", "body_bvhnum"),
    "bvh_depth": Range(),
    "bvh_child": Index("nbvh", none=True),
    "bvh_nodeid": Range(-1),
    "oct_depth": Range(),
    "oct_child": Index("noct", none=True),
    "jnt_type": members(JointType),
    "jnt_qposadr": Address("nq", lambda model: _widths(model, (7, 4, 1, 1))),
    "jnt_dofadr": Address("nv", lambda model: _widths(model, (6, 3, 1, 1))),
    "jnt_bodyid": Index("nbody"),
    "jnt_group": FREE,
    "jnt_limited": FREE,
    "jnt_actfrclimited": FREE,
    "jnt_actgravcomp": FREE,
    "dof_bodyid": Index("nbody"),
    "dof_jntid": Index("njnt"),
    "dof_parentid": Index("nv", none=True),
    "dof_treeid": Index("ntree"),
    "dof_Madr": Index("nM"),
    "dof_simplenum": Count("nv"),
    "tree_bodynum": Count("nbody"),
    "tree_bodyadr": address("nbody", "tree_bodynum"),
    "tree_dofnum": Count("nv"),
    "tree_dofadr": address("nv", "tree_dofnum"),
    "tree_sleep_policy": members(enums.SleepPolicy),
    "geom_type": SHAPES,
    "geom_contype": FREE,
    "geom_conaffinity": FREE,
    "geom_condim": CONDIMS,
    "geom_bodyid": Index("nbody"),
    "geom_dataid": Typed(_geom_data),
    "geom_matid": Index("nmat", none=True),
    "geom_group": FREE,
    "geom_priority": FREE,
    "geom_plugin": Index("nplugin", none=True),
    "geom_sameframe": FRAMES,
    "site_type": ZONES,
    "site_bodyid": Index("nbody"),
    "site_matid": Index("nmat", none=True),
    "site_group": FREE,
    "site_sameframe": FRAMES,
    "cam_mode": members(enums.CamLight),
    "cam_bodyid": Index("nbody"),
    "cam_targetbodyid": Index("nbody", none=True),
    "cam_orthographic": FREE,
    "cam_resolution": FREE,
    "light_mode": members(enums.CamLight),
    "light_bodyid": Index("nbody"),
    "light_targetbodyid": Index("nbody", none=True),
    "light_type": members(enums.LightType),
    "light_texid": Index("ntex", none=True),
    "light_castshadow": FREE,
    "light_active": FREE,
    "flex_contype": FREE,
    "flex_conaffinity": FREE,
    "flex_condim": CONDIMS,
    "flex_priority": FREE,
    "flex_internal": FREE,
    "flex_selfcollide": members(enums.FlexSelf),
    "flex_activelayers": FREE,
    "flex_passive": FREE,
    "flex_dim": Range(1, 3),
    "flex_matid": Index("nmat", none=True),
    "flex_group": FREE,
    "flex_interp": Range(0, 2),
    "flex_nodenum": Count("nflexnode"),
    "flex_nodeadr": address("nflexnode", "flex_nodenum"),
    "flex_vertnum": Count("nflexvert"),
    "flex_vertadr": address("nflexvert", "flex_vertnum"),
    "flex_edgenum": Count("nflexedge"),
    "flex_edgeadr": address("nflexedge", "flex_edgenum"),
    "flex_elemnum": Count("nflexelem"),
    "flex_elemadr": address("nflexelem", "flex_elemnum"),
    "flex_elemdataadr": Address(
        "nflexelemdata", lambda m: m.flex_elemnum.astype(np.int64) * (np.clip(m.flex_dim, 0, 3) + 1)
    ),
    "flex_elemedgeadr": Address(
        "nflexelemedge",
        lambda m: m.flex_elemnum.astype(np.int64) * np.array([0, 1, 3, 6])[np.clip(m.flex_dim, 0, 3)],
    ),
    "flex_shellnum": Count("nflexshelldata"),
    "flex_shelldataadr": Address(
        "nflexshelldata", lambda m: m.flex_shellnum.astype(np.int64) * np.clip(m.flex_dim, 0, 3)
    ),
    "flex_evpairnum": Count("nflexevpair"),
    "flex_evpairadr": address("nflexevpair", "flex_evpairnum"),
    "flex_texcoordadr": Index("nflextexcoord", none=True),
    "flex_nodebodyid": Index("nbody"),
    "flex_vertbodyid": Index("nbody", none=True),
    "flex_edge": Index("nflexvert"),
    "flex_edgeflap": Index("nflexvert", none=True),
    "flex_elem": Index("nflexvert"),
    "flex_elemtexcoord": FREE,
    "flex_elemedge": Index("nflexedge"),
    "flex_elemlayer": FREE,
    "flex_shell": Index("nflexvert"),
    "flex_evpair": FREE,
    "flex_edgeequality": Range(0, 2),
    "flex_rigid": FREE,
    "flexedge_rigid": FREE,
    "flex_centered": FREE,
    "flex_flatskin": FREE,
    "flex_bvhnum": Count("nbvh"),
    "flex_bvhadr": address("nbvh", "flex_bvhnum"),
    "mesh_vertnum": Count("nmeshvert"),
    "mesh_vertadr": address("nmeshvert", "mesh_vertnum"),
    "mesh_facenum": Count("nmeshface"),
    "mesh_faceadr": address("nmeshface", "mesh_facenum"),
    "mesh_bvhnum": Count("nbvh"),
    "mesh_bvhadr": address("nbvh", "mesh_bvhnum"),
    "mesh_octnum": Count("noct"),
    "mesh_octadr": address("noct", "mesh_octnum"),
    "mesh_normalnum": Count("nmeshnormal"),
    "mesh_normaladr": address("nmeshnormal", "mesh_normalnum"),
    "mesh_texcoordnum": Count("nmeshtexcoord"),
    "mesh_texcoordadr": address("nmeshtexcoord", "mesh_texcoordnum"),
    "mesh_graphadr": Index("nmeshgraph", none=True),
    "mesh_face": Index("nmeshvert"),
    "mesh_facenormal": Index("nmeshnormal", none=True),
    "mesh_facetexcoord": FREE,
    "mesh_graph": Range(-1),
    "mesh_pathadr": Index("npaths", none=True),
    "mesh_polynum": Count("nmeshpoly"),
    "mesh_polyadr": address("nmeshpoly", "mesh_polynum"),
    "mesh_polyvertnum": Count("nmeshpolyvert"),
    "mesh_polyvertadr": address("nmeshpolyvert", "mesh_polyvertnum"),
    "mesh_polyvert": Index("nmeshvert"),
    "mesh_polymapnum": Count("nmeshpolymap"),
    "mesh_polymapadr": address("nmeshpolymap", "mesh_polymapnum"),
    "mesh_polymap": Index("nmeshpoly"),
    "skin_matid": Index("nmat", none=True),
    "skin_group": FREE,
    "skin_vertnum": Count("nskinvert"),
    "skin_vertadr": address("nskinvert", "skin_vertnum"),
    "skin_texcoordadr": Index("nskintexvert", none=True),
    "skin_facenum": Count("nskinface"),
    "skin_faceadr": address("nskinface", "skin_facenum"),
    "skin_bonenum": Count("nskinbone"),
    "skin_boneadr": address("nskinbone", "skin_bonenum"),
    "skin_face": Index("nskinvert"),
    "skin_bonevertnum": Count("nskinbonevert"),
    "skin_bonevertadr": address("nskinbonevert", "skin_bonevertnum"),
    "skin_bonebodyid": Index("nbody"),
    "skin_bonevertid": Index("nskinvert"),
    "skin_pathadr": Index("npaths", none=True),
    "hfield_nrow": Count("nhfielddata", least=1),
    "hfield_ncol": Count("nhfielddata", least=1),
    "hfield_adr": Address("nhfielddata", lambda m: m.hfield_nrow.astype(np.int64) * m.hfield_ncol),
    "hfield_pathadr": Index("npaths", none=True),
    "tex_type": members(enums.TextureType),
    "tex_colorspace": members(enums.ColorSpace),
    "tex_height": Count("ntexdata"),
    "tex_width": Count("ntexdata"),
    "tex_nchannel": Count("ntexdata"),
    "tex_adr": Address("ntexdata", lambda m: m.tex_height.astype(np.int64) * m.tex_width * m.tex_nchannel),
    "tex_data": FREE,
    "tex_pathadr": Index("npaths", none=True),
    "mat_texid": Index("ntex", none=True),
    "mat_texuniform": FREE,
    "pair_dim": CONDIMS,
    "pair_geom1": Index("ngeom"),
    "pair_geom2": Index("ngeom"),
    "pair_signature": FREE,
    "exclude_signature": FREE,
    "eq_type": members(EqType),
    "eq_obj1id": Typed(_first_of_equality),
    "eq_obj2id": Typed(_second_of_equality),
    "eq_objtype": Typed(_kind_of_equality),
    "eq_active0": FREE,
    "tendon_num": Count("nwrap", least=1),
    "tendon_adr": address("nwrap", "tendon_num"),
    "tendon_matid": Index("nmat", none=True),
    "tendon_group": FREE,
    "tendon_treenum": Count("ntree"),
    "tendon_treeid": Index("ntree", none=True),
    "tendon_limited": FREE,
    "tendon_actfrclimited": FREE,
    "wrap_type": members(WrapType),
    "wrap_objid": Typed(_wrapped),
    "actuator_trntype": members(TrnType),
    "actuator_dyntype": members(enums.DynType),
    "actuator_gaintype": members(enums.GainType),
    "actuator_biastype": members(enums.BiasType),
    "actuator_trnid": Typed(_pulled),
    "actuator_actnum": Count("na"),
    "actuator_actadr": address("na", "actuator_actnum"),
    "actuator_group": FREE,
    "actuator_ctrllimited": FREE,
    "actuator_forcelimited": FREE,
    "actuator_actlimited": FREE,
    "actuator_actearly": FREE,
    "actuator_plugin": Index("nplugin", none=True),
    "sensor_type": members(SensorType),
    "sensor_datatype": members(enums.DataType),
    "sensor_needstage": members(enums.NeedStage),
    "sensor_objtype": members(ObjType),
    "sensor_objid": objects("sensor_objtype", none=True),
    "sensor_reftype": members(ObjType),
    "sensor_refid": objects("sensor_reftype", none=True),
    "sensor_intprm": FREE,
    "sensor_dim": Typed(_sensor_widths),
    "sensor_adr": address("nsensordata", "sensor_dim"),
    "sensor_plugin": Index("nplugin", none=True),
    "plugin": Range(0, len(NAMES) - 1),
    "plugin_statenum": Count("npluginstate"),
    "plugin_stateadr": address("npluginstate", "plugin_statenum"),
    "plugin_attr": FREE,
    "plugin_attradr": Index("npluginattr"),
    "numeric_size": Count("nnumericdata"),
    "numeric_adr": address("nnumericdata", "numeric_size"),
    "text_size": Count("ntextdata"),
    "text_adr": address("ntextdata", "text_size"),
    "text_data": FREE,
    "tuple_size": Count("ntupledata"),
    "tuple_adr": address("ntupledata", "tuple_size"),
    "tuple_objtype": members(ObjType),
    "tuple_objid": objects("tuple_objtype"),
    **{name: Index("nnames") for name in MODEL_SPECS if name.startswith("name_")},
    "names": FREE,
    "names_map": FREE,
    "paths": FREE,
    "B_rownnz": Count("nv"),
    "B_rowadr": address("nB", "B_rownnz"),
    "B_colind": Index("nv"),
    "M_rownnz": Count("nv", least=1),
    "M_rowadr": address("nC", "M_rownnz"),
    "M_colind": Index("nv"),
    "mapM2M": Index("nM"),
    "D_rownnz": Count("nv", least=1),
    "D_rowadr": address("nD", "D_rownnz"),
    "D_diag": Index("nv"),
    "D_colind": Index("nv"),
    "mapM2D": Index("nC", none=True),
    "mapD2M": Index("nD"),
    "opt.integrator": members(enums.Integrator),
    "opt.cone": members(enums.Cone),
    "opt.jacobian": members(enums.Jacobian),
    "opt.solver": members(enums.Solver),
    "opt.iterations": FREE,
    "opt.ls_iterations": FREE,
    "opt.noslip_iterations": FREE,
    "opt.ccd_iterations": Range(0, 10_000),
    "opt.disableflags": FREE,
    "opt.enableflags": FREE,
    "opt.disableactuator": FREE,
    "opt.sdf_initpoints": Range(0, 100_000),
    "opt.sdf_iterations": Range(0, 1_000_000),
    **{name: FREE for name, spec in MODEL_SPECS.items() if name.startswith("vis.") and spec.dtype == "int32"},
}
"""What each integer field of Model may hold."""

ALSO_READ = ("wrap_prm",)
"""Real fields that hold ids."""

WATCHED = (
    *(name for name, rule in RULES.items() if not isinstance(rule, Free)),
    *("mesh_facetexcoord", "flex_evpair", "sensor_intprm", "plugin_attr"),
    *ALSO_READ,
)
"""Fields that `check_indices` looks at."""

"""The sizes that field shapes are written in: counts of mjModel, and capacities of Data's growing arrays.

A shape names sizes (`array("nbody", 3)`); this table says what each name counts and who fixes it.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Size:
    """One name that may stand in a shape."""

    name: str
    doc: str
    owner: str
    """Who fixes it: "model" (an int of mjModel), "data" (a capacity that grows), "derived"."""
    multiple_of: tuple[str, int] | None = None
    """For a derived size: the size it is a multiple of, and how many times."""
    number: str = ""
    """For a derived size that follows from the Model's arrays: `module:function` of the Model that gives it."""


_MODEL = {
    "nq": "numbers in qpos: 7 per free joint, 4 per ball, 1 per slide or hinge",
    "nv": "degrees of freedom, numbers in qvel: 6 per free joint, 3 per ball, 1 per slide or hinge",
    "nu": "actuators, numbers in ctrl",
    "na": "activation states of actuators, numbers in act",
    "nbody": "bodies, the world (id 0) included",
    "nbvh": "bounding volumes in the trees of all bodies, meshes and flexes",
    "nbvhstatic": "bounding volumes whose box is fixed in its object's frame, so kept in the model",
    "nbvhdynamic": "bounding volumes whose box follows deformation (flexes), so kept in the data",
    "noct": "octree cells of all meshes used as signed distance fields",
    "njnt": "joints",
    "ntree": "kinematic trees: children of the world, or of fixed bodies, that can move",
    "nM": "entries of qM: for each dof, itself and all its ancestor dofs",
    "nB": "entries of the body-dof pattern: for each body, the dofs that move it",
    "nC": "entries of M: as nM, but a simple dof has only its diagonal",
    "nD": "entries of the dof-dof pattern with both triangles, used by derivatives",
    "ngeom": "geoms",
    "nsite": "sites",
    "ncam": "cameras",
    "nlight": "lights",
    "nflex": "flexes (deformable objects)",
    "nflexnode": "interpolation nodes of all flexes",
    "nflexvert": "vertices of all flexes",
    "nflexedge": "edges of all flexes",
    "nflexelem": "elements (segments, triangles, tetrahedra) of all flexes",
    "nflexelemdata": "vertex ids of all flex elements: dim+1 per element",
    "nflexelemedge": "edge ids of all flex elements: 1, 3 or 6 per element",
    "nflexshelldata": "vertex ids of all flex surface fragments: dim per fragment",
    "nflexevpair": "element-vertex pairs tested for collision inside flexes",
    "nflextexcoord": "texture coordinates of all flexes",
    "nmesh": "meshes",
    "nmeshvert": "vertices of all meshes",
    "nmeshnormal": "normals of all meshes",
    "nmeshtexcoord": "texture coordinates of all meshes",
    "nmeshface": "triangles of all meshes",
    "nmeshgraph": "ints of the convex hull graphs of all meshes",
    "nmeshpoly": "polygons (merged coplanar hull faces) of all meshes",
    "nmeshpolyvert": "vertex ids of all mesh polygons",
    "nmeshpolymap": "polygon ids of all lists from mesh vertices to polygons",
    "nskin": "skins",
    "nskinvert": "vertices of all skins",
    "nskintexvert": "texture coordinates of all skins",
    "nskinface": "triangles of all skins",
    "nskinbone": "bones of all skins",
    "nskinbonevert": "vertex influences of all skin bones",
    "nhfield": "height fields",
    "nhfielddata": "elevation samples of all height fields",
    "ntex": "textures",
    "ntexdata": "bytes of all texture images",
    "nmat": "materials",
    "npair": "predefined contact pairs of geoms",
    "nexclude": "body pairs whose geoms never collide",
    "neq": "equality constraints",
    "ntendon": "tendons",
    "nwrap": "objects on the paths of all tendons",
    "nsensor": "sensors",
    "nnumeric": "custom numeric fields",
    "nnumericdata": "numbers in all custom numeric fields",
    "ntext": "custom text fields",
    "ntextdata": "bytes in all custom text fields, terminating zeros included",
    "ntuple": "custom tuples",
    "ntupledata": "objects in all custom tuples",
    "nkey": "keyframes",
    "nmocap": "mocap bodies",
    "nplugin": "engine plugin instances",
    "npluginattr": "bytes in the configuration of all engine plugin instances",
    "nuser_body": "user numbers per body",
    "nuser_jnt": "user numbers per joint",
    "nuser_geom": "user numbers per geom",
    "nuser_site": "user numbers per site",
    "nuser_cam": "user numbers per camera",
    "nuser_tendon": "user numbers per tendon",
    "nuser_actuator": "user numbers per actuator",
    "nuser_sensor": "user numbers per sensor",
    "nnames": "bytes of all object names, terminating zeros included",
    "npaths": "bytes of all asset paths, terminating zeros included",
    "nnames_map": "slots of the hash table from names to ids",
    "nJmom": "room for entries of the sparse actuator moment matrix",
    "ngravcomp": "bodies with gravity compensation",
    "nemax": "most rows that all equality constraints together can make",
    "njmax": "rows reserved for constraints by old models; -1: automatic",
    "nconmax": "contacts reserved by old models; -1: automatic",
    "nuserdata": "numbers in userdata",
    "nsensordata": "numbers in sensordata",
    "npluginstate": "numbers in plugin_state",
    "narena": "bytes of MuJoCo's arena for contacts, constraints and stack",
    "nbuffer": "bytes of MuJoCo's buffer for all model arrays",
}

_DATA = {
    "ncandidate_max": "room for geom pairs that may touch",
    "ncon_max": "room for contacts",
    "nefc_max": "room for constraint rows",
    "nJ_max": "room for entries of the sparse constraint Jacobian",
    "nA_max": "room for entries of the sparse inverse inertia in constraint space",
    "nisland_max": "room for constraint islands",
}

_DERIVED = {
    "nmocap*3": Size("nmocap*3", "coordinates of all mocap positions", "derived", ("nmocap", 3)),
    "nmocap*4": Size("nmocap*4", "components of all mocap quaternions", "derived", ("nmocap", 4)),
    "nJfe": Size(
        "nJfe",
        "room for entries of the flex edges' Jacobian, sparse or with full rows as the model's Jacobians are",
        "derived",
        number="dovetail.plugins.shared.flex.edge_rows:jacobian_room",
    ),
}

SIZES: dict[str, Size] = {
    **{name: Size(name, doc, "model") for name, doc in _MODEL.items()},
    **{name: Size(name, doc, "data") for name, doc in _DATA.items()},
    **_DERIVED,
}
"""Every name a shape may use; the model's in mjModel's order."""

CAPACITIES = frozenset(_DATA)
"""Sizes of Data that grow while a simulation runs."""

CAPACITY_MAKERS = {"ncon_max": "narrowphase", "nefc_max": "constraint_rows"}
"""Stages that make the rows of growing arrays; without them such arrays stay empty."""

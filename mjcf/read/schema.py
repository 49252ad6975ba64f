"""The MJCF schema of MuJoCo 3.4.0 as data: every element, its attributes with their kinds, its multiplicity.

The tree mirrors what `mj_printSchema` prints. `later` marks what is valid MJCF but not supported yet: an
element (`later=True`) or some attributes. To support one more element, remove its mark here and add a
handler in `elements/`. Multiplicity as in MuJoCo: `!` exactly one, `?` at most one, `*` any, `R` recursive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from dovetail.contracts import enums
from dovetail.mjcf.read.kinds import (
    AUTO_BOOL,
    BOOL,
    SWITCH,
    AttributeKind,
    EulerSeq,
    File,
    Float,
    FloatList,
    Floats,
    Int,
    IntList,
    Ints,
    Keyword,
    Keywords,
    MemorySize,
    Name,
    PlainText,
    Reference,
    TruncatedInts,
)

Attributes = Mapping[str, AttributeKind]


@attrs.define(eq=False)
class Element:
    """One row of the schema."""

    tag: str
    multiplicity: str
    attributes: Attributes
    children: dict[str, Element]
    required: frozenset[str]
    later: bool
    """Whether the whole element is valid but not supported yet."""
    later_attributes: frozenset[str]


def _element(
    tag: str,
    multiplicity: str,
    attributes: Attributes | None = None,
    children: list[Element] | None = None,
    *,
    required: str = "",
    later: bool | str = False,
) -> Element:
    return Element(
        tag,
        multiplicity,
        attributes or {},
        {child.tag: child for child in children or []},
        frozenset(required.split()),
        later is True,
        frozenset(later.split()) if isinstance(later, str) else frozenset(),
    )


def _without(attributes: Attributes, names: str) -> dict[str, AttributeKind]:
    left_out = names.split()
    return {name: kind for name, kind in attributes.items() if name not in left_out}


def _floats(names: str) -> dict[str, AttributeKind]:
    return {name: Float() for name in names.split()}


def _ints(names: str) -> dict[str, AttributeKind]:
    return {name: Int() for name in names.split()}


def _bools(names: str) -> dict[str, AttributeKind]:
    return dict.fromkeys(names.split(), BOOL)


def _vectors(size: int, names: str, exact: bool = True) -> dict[str, AttributeKind]:
    return {name: Floats(size, exact) for name in names.split()}


def _singles(names: str) -> dict[str, AttributeKind]:
    """Numbers that MuJoCo reads in single precision."""
    return {name: Float(single=True) for name in names.split()}


def _single_vectors(size: int, names: str) -> dict[str, AttributeKind]:
    return {name: Floats(size, single=True) for name in names.split()}


def _files(names: str) -> dict[str, AttributeKind]:
    return {name: File() for name in names.split()}


def _references(**targets: str) -> dict[str, AttributeKind]:
    return {name: Reference(target) for name, target in targets.items()}


# attributes that many elements share
_NAMED: Attributes = {"name": Name()}
_CLASS: Attributes = {"class": Reference("default")}
_ORIENTATION: Attributes = {
    "quat": Floats(4),
    "axisangle": Floats(4),
    "xyaxes": Floats(6),
    "zaxis": Floats(3),
    "euler": Floats(3),
}
_POSE: Attributes = {"pos": Floats(3), **_ORIENTATION}
_SOLVER: Attributes = {"solref": Floats(2, exact=False), "solimp": Floats(5, exact=False)}
_LIMIT_SOLVER: Attributes = {
    **_vectors(2, "solreflimit solreffriction", exact=False),
    **_vectors(5, "solimplimit solimpfriction", exact=False),
}
_GEOM_TYPE = Keyword.of(
    enums.GeomType,
    ["arrow", "arrow1", "arrow2", "line", "linebox", "flex", "skin", "label", "triangle", "none"],
)
_CONTACT: Attributes = {
    **_ints("contype conaffinity condim priority"),
    **_floats("solmix margin gap"),
    **_SOLVER,
    "friction": Floats(3, exact=False),
}
_FLEX_CONTACT: Attributes = {
    **_CONTACT,
    **_bools("internal vertcollide passive"),
    "selfcollide": Keyword.of(enums.FlexSelf),
    "activelayers": Int(),
}
_ELASTICITY: Attributes = {
    **_floats("young poisson thickness damping"),
    "elastic2d": Keyword.words("none bend stretch both"),
}


def _plugin(later: bool = True) -> Element:
    attributes: Attributes = {"plugin": PlainText(), "instance": Reference("plugin")}
    return _element("plugin", "*", attributes, [_config()], later=later)


def _config() -> Element:
    return _element("config", "*", {"key": PlainText(), "value": PlainText()}, required="key value")


_COMPILER = _element(
    "compiler",
    "*",
    {
        **_bools("autolimits balanceinertia strippath fitaabb discardvisual usethread fusestatic"),
        **_bools("saveinertial alignfree"),
        **_floats("boundmass boundinertia settotalmass"),
        "coordinate": Keyword.words("local global"),
        "angle": Keyword.words("radian degree"),
        "eulerseq": EulerSeq(),
        **_files("meshdir texturedir assetdir"),
        "inertiafromgeom": AUTO_BOOL,
        "inertiagrouprange": Ints(2),
    },
    [
        _element(
            "lengthrange",
            "?",
            {
                "mode": Keyword.of(enums.LengthRangeMode),
                **_bools("useexisting uselimit"),
                **_floats("accel maxforce timeconst timestep inttotal interval tolrange"),
            },
        )
    ],
)
_OPTION = _element(
    "option",
    "*",
    {
        **_floats("timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance"),
        **_floats("density viscosity o_margin"),
        **_vectors(3, "gravity wind magnetic"),
        "o_solref": Floats(2, exact=False),
        "o_solimp": Floats(5, exact=False),
        "o_friction": Floats(5, exact=False),
        "integrator": Keyword.of(enums.Integrator),
        "cone": Keyword.of(enums.Cone),
        "jacobian": Keyword.of(enums.Jacobian),
        "solver": Keyword.of(enums.Solver),
        **_ints("iterations ls_iterations noslip_iterations ccd_iterations sdf_iterations sdf_initpoints"),
        "actuatorgroupdisable": IntList(),
    },
    [
        _element(
            "flag",
            "?",
            {bit.keyword: SWITCH for bits in (enums.DisableBit, enums.EnableBit) for bit in bits},
        )
    ],
)
_SIZE = _element(
    "size",
    "*",
    {
        "memory": MemorySize(),
        **_ints("njmax nconmax nstack nuserdata nkey nuser_body nuser_jnt nuser_geom nuser_site nuser_cam"),
        **_ints("nuser_tendon nuser_actuator nuser_sensor"),
    },
)
_VISUAL = _element(
    "visual",
    "*",
    {},
    [
        _element(
            "global",
            "?",
            {
                **_bools("orthographic ellipsoidinertia bvactive"),
                **_singles("fovy ipd azimuth elevation linewidth glow realtime"),
                **_ints("cameraid offwidth offheight"),
            },
        ),
        _element("quality", "?", _ints("shadowsize offsamples numslices numstacks numquads")),
        _element("headlight", "?", {**_single_vectors(3, "ambient diffuse specular"), "active": Int()}),
        _element(
            "map",
            "?",
            {
                **_singles("stiffness stiffnessrot force torque alpha fogstart fogend znear zfar haze"),
                **_singles("shadowclip shadowscale actuatortendon"),
            },
        ),
        _element(
            "scale",
            "?",
            {
                **_singles("forcewidth contactwidth contactheight connect com camera light selectpoint"),
                **_singles("jointlength jointwidth actuatorlength actuatorwidth framelength framewidth"),
                **_singles("constraint slidercrank frustum"),
            },
        ),
        _element(
            "rgba",
            "?",
            {
                **_single_vectors(
                    4, "fog haze force inertia joint actuator actuatornegative actuatorpositive com"
                ),
                **_single_vectors(
                    4, "camera light selectpoint connect contactpoint contactforce contactfriction"
                ),
                **_single_vectors(
                    4, "contacttorque contactgap rangefinder constraint slidercrank crankbroken"
                ),
                **_single_vectors(4, "frustum bv bvactive"),
            },
        ),
    ],
)
_STATISTIC = _element(
    "statistic", "*", {**_floats("meaninertia meanmass meansize extent"), "center": Floats(3)}
)

_MESH: Attributes = {
    "inertia": Keyword.of(enums.MeshInertia),
    "maxhullvert": Int(),
    "scale": Floats(3),
}
_MATERIAL: Attributes = {
    **_singles("emission metallic reflectance roughness shininess specular"),
    "rgba": Floats(4, single=True),
    "texrepeat": Floats(2, single=True),
    "texture": Reference("texture"),
    "texuniform": BOOL,
}
_JOINT: Attributes = {
    "type": Keyword.of(enums.JointType),
    "group": Int(),
    **_vectors(3, "pos axis"),
    "springdamper": Floats(2),
    "limited": AUTO_BOOL,
    "actuatorfrclimited": AUTO_BOOL,
    **_LIMIT_SOLVER,
    **_floats("stiffness margin ref springref armature damping frictionloss"),
    **_vectors(2, "range actuatorfrcrange"),
    "actuatorgravcomp": BOOL,
    "user": FloatList(),
}
_GEOM: Attributes = {
    "type": _GEOM_TYPE,
    "group": Int(),
    **_CONTACT,
    "size": Floats(3, exact=False),
    **_floats("mass density fitscale"),
    "shellinertia": BOOL,
    **_references(material="material", hfield="hfield", mesh="mesh"),
    "rgba": Floats(4, single=True),
    "fluidshape": Keyword.words("none ellipsoid"),
    "fluidcoef": Floats(5, exact=False),
    **_POSE,
    "fromto": Floats(6),
    "user": FloatList(),
}
_SITE: Attributes = {
    "type": _GEOM_TYPE,
    "group": Int(),
    "material": Reference("material"),
    "size": Floats(3, exact=False),
    "rgba": Floats(4, single=True),
    **_POSE,
    "fromto": Floats(6),
    "user": FloatList(),
}
_CAMERA: Attributes = {
    "mode": Keyword.of(enums.CamLight),
    "orthographic": BOOL,
    **_floats("fovy ipd"),
    "resolution": TruncatedInts(2),
    **_single_vectors(2, "focal focalpixel principal principalpixel sensorsize"),
    **_POSE,
    "user": FloatList(),
}
_LIGHT: Attributes = {
    "mode": Keyword.of(enums.CamLight),
    "type": Keyword.of(enums.LightType),
    **_bools("directional castshadow active"),
    **_vectors(3, "pos dir"),
    **_single_vectors(3, "attenuation ambient diffuse specular"),
    **_singles("bulbradius intensity range cutoff exponent"),
}
_PAIR: Attributes = {
    "condim": Int(),
    "friction": Floats(5, exact=False),
    **_SOLVER,
    "solreffriction": Floats(2, exact=False),
    **_floats("margin gap"),
}
_EQUALITY: Attributes = {"active": BOOL, **_SOLVER}
_TENDON: Attributes = {
    "group": Int(),
    "limited": AUTO_BOOL,
    "range": Floats(2),
    **_LIMIT_SOLVER,
    **_floats("frictionloss margin stiffness damping width"),
    "springlength": Floats(2, exact=False),
    "material": Reference("material"),
    "rgba": Floats(4, single=True),
    "user": FloatList(),
}
_ACTUATOR: Attributes = {
    "group": Int(),
    **_vectors(2, "ctrlrange forcerange"),
    "ctrllimited": AUTO_BOOL,
    "forcelimited": AUTO_BOOL,
    "gear": Floats(6, exact=False),
    "cranklength": Float(),
    "user": FloatList(),
}
_SERVO: Attributes = _floats("kp kv dampratio inheritrange")
_GENERAL: Attributes = {
    **_ACTUATOR,
    "actdim": Int(),
    "actearly": BOOL,
    "actlimited": AUTO_BOOL,
    "actrange": Floats(2),
    "dyntype": Keyword.of(enums.DynType),
    "gaintype": Keyword.of(enums.GainType),
    "biastype": Keyword.of(enums.BiasType),
    **_vectors(10, "dynprm gainprm biasprm", exact=False),
}
_ACTUATORS: dict[str, Attributes] = {
    "general": _GENERAL,
    "motor": _ACTUATOR,
    "position": {**_ACTUATOR, **_SERVO, "timeconst": Float()},
    "velocity": {**_ACTUATOR, "kv": Float()},
    "intvelocity": {**_ACTUATOR, **_SERVO, "actrange": Floats(2)},
    "damper": {**_without(_ACTUATOR, "ctrllimited"), "kv": Float()},
    "cylinder": {**_ACTUATOR, **_floats("timeconst area diameter"), "bias": Floats(3)},
    "muscle": {
        **_ACTUATOR,
        **_vectors(2, "timeconst range"),
        **_floats("force scale lmin lmax vmax fpmax fvmax"),
    },
    "adhesion": {**_without(_ACTUATOR, "ctrllimited gear cranklength"), "gain": Float()},
}
_DEFAULTS: dict[str, Attributes] = {
    "mesh": _MESH,
    "material": _MATERIAL,
    "joint": _JOINT,
    "geom": _GEOM,
    "site": _SITE,
    "camera": _CAMERA,
    "light": _LIGHT,
    "pair": _PAIR,
    "equality": _EQUALITY,
    "tendon": _TENDON,
    **_ACTUATORS,
}


def _layer() -> Element:
    attributes: Attributes = {"role": Keyword.of(enums.TextureRole), "texture": Reference("texture")}
    return _element("layer", "*", attributes, required="role texture")


def _default() -> Element:
    rows = [
        _element(tag, "?", attributes, [_layer()] if tag == "material" else [])
        for tag, attributes in _DEFAULTS.items()
    ]
    element = _element("default", "R", {"class": Name()}, rows)
    element.children["default"] = element
    return element


_EXTENSION = _element(
    "extension",
    "*",
    {},
    [
        _element(
            "plugin",
            "*",
            {"plugin": PlainText()},
            [_element("instance", "*", _NAMED, [_config()], required="name")],
            required="plugin",
        )
    ],
)
_CUSTOM = _element(
    "custom",
    "*",
    {},
    [
        _element("numeric", "*", {**_NAMED, "size": Int(), "data": FloatList()}, required="name"),
        _element("text", "*", {**_NAMED, "data": PlainText()}, required="name data"),
        _element(
            "tuple",
            "*",
            _NAMED,
            [
                _element(
                    "element",
                    "*",
                    {"objtype": PlainText(), "objname": PlainText(), "prm": Float()},
                    required="objtype objname",
                )
            ],
            required="name",
        ),
    ],
)


def _skin() -> Element:
    bone: Attributes = {
        "body": Reference("body"),
        "bindpos": Floats(3, single=True),
        "bindquat": Floats(4, single=True),
        "vertid": IntList(),
        "vertweight": FloatList(single=True),
    }
    attributes: Attributes = {
        **_NAMED,
        "file": File(),
        "material": Reference("material"),
        "group": Int(),
        "rgba": Floats(4, single=True),
        "inflate": Float(single=True),
        "vertex": FloatList(single=True),
        "texcoord": FloatList(single=True),
        "face": IntList(),
    }
    return _element("skin", "*", attributes, [_element("bone", "*", bone, required=" ".join(bone))])


_ASSET = _element(
    "asset",
    "*",
    {},
    [
        _element(
            "mesh",
            "*",
            {
                **_NAMED,
                **_CLASS,
                **_MESH,
                "content_type": PlainText(),
                "file": File(),
                "builtin": Keyword.of(enums.MeshBuiltin),
                "params": FloatList(),
                "material": Reference("material"),
                "vertex": FloatList(single=True),
                "normal": FloatList(single=True),
                "texcoord": FloatList(single=True),
                "face": IntList(),
                "refpos": Floats(3),
                "refquat": Floats(4),
                "smoothnormal": BOOL,
            },
            [_plugin(later=False)],
        ),
        _element(
            "hfield",
            "*",
            {
                **_NAMED,
                "content_type": PlainText(),
                "file": File(),
                **_ints("nrow ncol"),
                "size": Floats(4),
                "elevation": FloatList(single=True),
            },
            required="size",
        ),
        _skin(),
        _element(
            "texture",
            "*",
            {
                **_NAMED,
                "type": Keyword.of(enums.TextureType),
                "colorspace": Keyword.of(enums.ColorSpace),
                "content_type": PlainText(),
                **_files("file fileright fileleft fileup filedown filefront fileback"),
                "gridsize": Ints(2),
                "gridlayout": PlainText(),
                "builtin": Keyword.of(enums.TextureBuiltin),
                **_vectors(3, "rgb1 rgb2 markrgb"),
                "mark": Keyword.words("none edge cross random"),
                "random": Float(),
                **_ints("width height nchannel"),
                **_bools("hflip vflip"),
            },
        ),
        _element("material", "*", {**_NAMED, **_CLASS, **_MATERIAL}, [_layer()]),
        _element("model", "*", {**_NAMED, "file": File(), "content_type": PlainText()}, required="file"),
    ],
)


def _composite() -> Element:
    joint = {
        "kind": Keyword.words("main"),
        **_without(_JOINT, "actuatorfrclimited actuatorfrcrange actuatorgravcomp pos ref springdamper"),
        **_vectors(2, "solreffix", exact=False),
        **_vectors(5, "solimpfix", exact=False),
    }
    skin = {
        **_bools("texcoord"),
        "material": Reference("material"),
        "group": Int(),
        "rgba": Floats(4, single=True),
        "inflate": Float(single=True),
        "subgrid": Int(),
    }
    geom = {
        name: kind
        for name, kind in _GEOM.items()
        if name in _CONTACT or name in ["density", "group", "mass", "material", "rgba", "size", "type"]
    }
    site = {name: _SITE[name] for name in ["group", "material", "rgba", "size"]}
    return _element(
        "composite",
        "*",
        {
            "prefix": PlainText(),
            "type": PlainText(),
            "count": IntList(),
            "offset": Floats(3),
            "vertex": FloatList(single=True),
            "initial": PlainText(),
            "curve": PlainText(),
            "size": FloatList(),
            "quat": Floats(4),
        },
        [
            _element("joint", "*", _without(joint, "springref user"), required="kind"),
            _element("skin", "?", skin),
            _element("geom", "?", geom),
            _element("site", "?", site),
            _plugin(later=False),
        ],
        required="type",
    )


def _flexcomp() -> Element:
    return _element(
        "flexcomp",
        "*",
        {
            **_NAMED,
            "type": PlainText(),
            **_POSE,
            **_ints("group dim"),
            "count": Ints(3),
            **_vectors(3, "spacing scale origin"),
            **_floats("radius mass inertiabox"),
            **_bools("rigid flatskin"),
            "dof": Keyword.words("full radial trilinear quadratic"),
            "material": Reference("material"),
            "rgba": Floats(4, single=True),
            "file": File(),
            "point": FloatList(),
            "texcoord": FloatList(single=True),
            "element": IntList(),
        },
        [
            _element("edge", "?", {"equality": BOOL, **_SOLVER, **_floats("stiffness damping")}),
            _element("elasticity", "?", _ELASTICITY),
            _element("contact", "?", _FLEX_CONTACT),
            _element("pin", "*", {name: IntList() for name in ["id", "range", "grid", "gridrange"]}),
            _plugin(later=False),
        ],
        required="name",
    )


def _worldbody() -> Element:
    """worldbody, body, frame and replicate: the same children, which include one another."""
    parts = [
        _element(
            "inertial",
            "?",
            {"mass": Float(), **_POSE, "diaginertia": Floats(3), "fullinertia": Floats(6)},
            required="pos mass",
        ),
        _element("joint", "*", {**_NAMED, **_CLASS, **_JOINT}),
        _element("freejoint", "*", {**_NAMED, "group": Int(), "align": AUTO_BOOL}),
        _element("geom", "*", {**_NAMED, **_CLASS, **_GEOM}, [_plugin(later=False)]),
        _element(
            "attach",
            "*",
            {**_references(model="model", body="body"), "prefix": PlainText()},
            required="model prefix",
        ),
        _element("site", "*", {**_NAMED, **_CLASS, **_SITE}),
        _element("camera", "*", {**_NAMED, **_CLASS, **_CAMERA, "target": Reference("body")}),
        _element(
            "light",
            "*",
            {**_NAMED, **_CLASS, **_LIGHT, **_references(target="body", texture="texture")},
        ),
        _plugin(later=False),
        _composite(),
        _flexcomp(),
    ]
    body_attributes: Attributes = {
        **_NAMED,
        "childclass": Reference("default"),
        **_POSE,
        "mocap": BOOL,
        "gravcomp": Float(),
        "sleep": Keyword.of(enums.SleepPolicy, ["auto_never", "auto_allowed"]),
        "user": FloatList(),
    }
    frame_attributes: Attributes = {**_NAMED, "childclass": Reference("default"), **_POSE}
    replicate_attributes: Attributes = {
        "childclass": Reference("default"),
        "count": Int(),
        "sep": PlainText(),
        **_vectors(3, "offset euler"),
    }
    world = _element("worldbody", "*", {}, parts)
    body = _element("body", "*", body_attributes, parts)
    frame = _element("frame", "*", frame_attributes, parts)
    replicate = _element("replicate", "*", replicate_attributes, parts, required="count")
    for container in (world, body, frame, replicate):
        container.children.update(body=body, frame=frame, replicate=replicate)
    return world


_DEFORMABLE = _element(
    "deformable",
    "*",
    {},
    [
        _element(
            "flex",
            "*",
            {
                **_NAMED,
                **_ints("group dim"),
                "radius": Float(),
                "material": Reference("material"),
                "rgba": Floats(4, single=True),
                "flatskin": BOOL,
                **{name: PlainText() for name in ("body", "node")},
                "vertex": FloatList(),
                "texcoord": FloatList(single=True),
                **{name: IntList() for name in ("element", "elemtexcoord")},
            },
            [
                _element("contact", "?", _FLEX_CONTACT),
                _element("edge", "?", _floats("stiffness damping")),
                _element("elasticity", "?", _ELASTICITY),
            ],
            required="body element",
        ),
        _skin(),
    ],
)
_CONTACTS = _element(
    "contact",
    "*",
    {},
    [
        _element("pair", "*", {**_NAMED, **_CLASS, **_PAIR, **_references(geom1="geom", geom2="geom")}),
        _element(
            "exclude", "*", {**_NAMED, **_references(body1="body", body2="body")}, required="body1 body2"
        ),
    ],
)
_BODY_PAIR = _references(body1="body", body2="body", site1="site", site2="site")
_EQUALITIES = _element(
    "equality",
    "*",
    {},
    [
        _element(
            tag,
            "*",
            {**_NAMED, **_CLASS, **_EQUALITY, **attributes},
            required={"joint": "joint1", "tendon": "tendon1", "flex": "flex"}.get(tag, ""),
        )
        for tag, attributes in {
            "connect": {**_BODY_PAIR, "anchor": Floats(3)},
            "weld": {**_BODY_PAIR, "anchor": Floats(3), "relpose": Floats(7), "torquescale": Float()},
            "joint": {**_references(joint1="joint", joint2="joint"), "polycoef": Floats(5, exact=False)},
            "tendon": {**_references(tendon1="tendon", tendon2="tendon"), "polycoef": Floats(5, exact=False)},
            "flex": _references(flex="flex"),
        }.items()
    ],
)
_TENDON_FULL: Attributes = {
    **_NAMED,
    **_CLASS,
    **_TENDON,
    "armature": Float(),
    "actuatorfrclimited": AUTO_BOOL,
    "actuatorfrcrange": Floats(2),
}
_TENDONS = _element(
    "tendon",
    "*",
    {},
    [
        _element(
            "spatial",
            "*",
            _TENDON_FULL,
            [
                _element("site", "*", _references(site="site"), required="site"),
                _element("geom", "*", _references(geom="geom", sidesite="site"), required="geom"),
                _element("pulley", "*", _floats("divisor"), required="divisor"),
            ],
        ),
        _element(
            "fixed",
            "*",
            _without(_TENDON_FULL, "width material rgba"),
            [_element("joint", "*", {"joint": Reference("joint"), "coef": Float()}, required="joint coef")],
        ),
    ],
)
_TRANSMISSION: Attributes = {
    "lengthrange": Floats(2),
    **_references(joint="joint", jointinparent="joint", tendon="tendon", cranksite="site"),
    **_references(slidersite="site", site="site", refsite="site"),
}


def _actuators() -> Element:
    target: dict[str, Attributes] = {
        "general": {**_TRANSMISSION, "body": Reference("body")},
        "muscle": {**_without(_TRANSMISSION, "site refsite"), "tausmooth": Float()},
        "adhesion": {"body": Reference("body")},
    }
    rows = [
        _element(
            tag,
            "*",
            {**_NAMED, **_CLASS, **attributes, **target.get(tag, _TRANSMISSION)},
        )
        for tag, attributes in _ACTUATORS.items()
    ]
    plugin = {
        **_NAMED,
        **_CLASS,
        **_without(_GENERAL, "gaintype biastype gainprm biasprm"),
        **_without(_TRANSMISSION, "refsite"),
        "plugin": PlainText(),
        "instance": Reference("plugin"),
    }
    return _element("actuator", "*", {}, [*rows, _element("plugin", "*", plugin, [_config()])])


def _sensors() -> Element:
    common: Attributes = {**_NAMED, **_floats("cutoff noise"), "user": FloatList()}
    attached: Attributes = {"objtype": PlainText(), "objname": PlainText()}
    relative: Attributes = {**attached, "reftype": PlainText(), "refname": PlainText()}
    pairs = _references(body1="body", body2="body", geom1="geom", geom2="geom")
    on_site = "touch accelerometer velocimeter gyro force torque magnetometer rangefinder"
    on_joint = (
        "jointpos jointvel jointactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel jointlimitfrc"
    )
    on_tendon = "tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc"
    on_frame = "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel"
    on_body = "subtreecom subtreelinvel subtreeangmom"
    table: dict[str, Attributes] = {
        **{tag: {**common, "site": Reference("site")} for tag in on_site.split()},
        "camprojection": {**common, **_references(site="site", camera="camera")},
        **{tag: {**common, "joint": Reference("joint")} for tag in on_joint.split()},
        **{tag: {**common, "tendon": Reference("tendon")} for tag in on_tendon.split()},
        **{
            tag: {**common, "actuator": Reference("actuator")}
            for tag in ("actuatorpos", "actuatorvel", "actuatorfrc")
        },
        **{tag: {**common, **relative} for tag in on_frame.split()},
        **{tag: {**common, **attached} for tag in ("framelinacc", "frameangacc")},
        **{tag: {**common, "body": Reference("body")} for tag in on_body.split()},
        "insidesite": {**common, **attached, "site": Reference("site")},
        **{tag: {**common, **pairs} for tag in ("distance", "normal", "fromto")},
        "contact": {
            **common,
            **pairs,
            **_references(site="site", subtree1="body", subtree2="body"),
            "num": Int(),
            "data": Keywords(tuple(field.keyword for field in enums.ContactData)),
            "reduce": Keyword.words("none mindist maxforce netforce"),
        },
        **dict.fromkeys(("e_potential", "e_kinetic", "clock"), common),
        "user": {
            **common,
            **attached,
            "datatype": Keyword.of(enums.DataType),
            "needstage": Keyword.of(enums.NeedStage),
            "dim": Int(),
        },
        "tactile": {**_NAMED, **_references(geom="geom", mesh="mesh"), "user": FloatList()},
    }
    optional = "reftype refname body1 body2 geom1 geom2 subtree1 subtree2 num data reduce datatype needstage"
    needed = {tag: set(a) - {"name", *common, *optional.split()} for tag, a in table.items()}
    needed |= {"contact": set(), "user": {"dim"}}
    rows = [
        _element(tag, "*", attributes, required=" ".join(needed[tag])) for tag, attributes in table.items()
    ]
    plugin: Attributes = {
        **_without(common, "noise"),
        **relative,
        "plugin": PlainText(),
        "instance": Reference("plugin"),
    }
    return _element("sensor", "*", {}, [*rows, _element("plugin", "*", plugin, [_config()])])


_KEYFRAME = _element(
    "keyframe",
    "*",
    {},
    [
        _element(
            "key",
            "*",
            {
                **_NAMED,
                "time": Float(),
                **{n: FloatList() for n in ["qpos", "qvel", "act", "ctrl", "mpos", "mquat"]},
            },
        )
    ],
)

MUJOCO = _element(
    "mujoco",
    "!",
    {"model": PlainText()},
    [
        _COMPILER,
        _OPTION,
        _SIZE,
        _VISUAL,
        _STATISTIC,
        _default(),
        _EXTENSION,
        _CUSTOM,
        _ASSET,
        _worldbody(),
        _DEFORMABLE,
        _CONTACTS,
        _EQUALITIES,
        _TENDONS,
        _actuators(),
        _sensors(),
        _KEYFRAME,
    ],
)
"""The root of the schema."""


def rows(root: Element = MUJOCO) -> Iterator[tuple[str, Element]]:
    """Every element with its path from the root; an element is not entered again inside itself."""
    stack: list[tuple[str, Element, tuple[Element, ...]]] = [("", root, ())]
    while stack:
        prefix, element, above = stack.pop()
        path = f"{prefix}{element.tag}"
        yield path, element
        below = [child for child in element.children.values() if child not in (*above, element)]
        stack.extend((f"{path}/", child, (*above, element)) for child in reversed(below))

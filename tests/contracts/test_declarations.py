"""The declared fields, sizes and enums: complete and consistent, and MuJoCo 3.4.0's where it is installed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from dovetail.contracts import enums
from dovetail.contracts.data import DATA_GROUPS, DATA_PARTS, Collision
from dovetail.contracts.data.contact import Contact
from dovetail.contracts.fields import REAL, FieldSpec, numpy_dtype, specs_of
from dovetail.contracts.model import MODEL_GROUPS, MODEL_PARTS
from dovetail.contracts.option import Option, Statistic
from dovetail.contracts.sizes import SIZES

UNITS = {
    *("", "1", "m", "s", "kg", "rad", "deg", "J", "T", "cd", "pixel"),
    *("m or rad", "deg or m", "m/s", "m/s or rad/s", "m/s^2", "m/s^2 or rad/s^2"),
    *("N or N m", "N/m", "N m/rad or N/m", "N s/m", "N s/m or N m s/rad"),
    *("m/N", "1/N", "kg/m^3", "Pa s", "kg m^2", "kg or kg m^2", "kg m^2/s", "1/kg", "1/kg or 1/(kg m^2)"),
}

MODEL_EXEMPT = {
    "opt": "declared as the group Option",
    "stat": "declared as the group Statistic",
    "vis": "declared as the groups of `visual`",
    "buffer": "MuJoCo's memory",
    "signature": "identity of MuJoCo's own compiler",
}
DATA_EXEMPT = {
    "contact": "declared as the group Contact",
    "solver": "a trace of 20 islands × 200 iterations, 160 kB per world",
    **dict.fromkeys(("warning", "timer"), "diagnostics are reported in another way"),
    **dict.fromkeys(("nplugin", "plugin", "plugin_data"), "pointers and copies for MuJoCo's engine plugins"),
    **dict.fromkeys(
        (
            *("narena", "nbuffer", "buffer", "arena", "pstack", "pbase", "parena", "threadpool", "signature"),
            *("maxuse_stack", "maxuse_threadstack", "maxuse_arena", "maxuse_con", "maxuse_efc"),
        ),
        "memory management",
    ),
}

MUJOCO_ENUMS: dict[type, tuple[str, ...]] = {
    enums.DisableBit: ("mjtDisableBit",),
    enums.EnableBit: ("mjtEnableBit",),
    enums.Integrator: ("mjtIntegrator",),
    enums.Solver: ("mjtSolver",),
    enums.Cone: ("mjtCone",),
    enums.Jacobian: ("mjtJacobian",),
    enums.JointType: ("mjtJoint",),
    enums.GeomType: ("mjtGeom",),
    enums.TrnType: ("mjtTrn",),
    enums.DynType: ("mjtDyn",),
    enums.GainType: ("mjtGain",),
    enums.BiasType: ("mjtBias",),
    enums.ObjType: ("mjtObj",),
    enums.EqType: ("mjtEq",),
    enums.WrapType: ("mjtWrap",),
    enums.SensorType: ("mjtSensor",),
    enums.DataType: ("mjtDataType",),
    enums.NeedStage: ("mjtStage",),
    enums.ContactData: ("mjtConDataField",),
    enums.CamLight: ("mjtCamLight",),
    enums.LightType: ("mjtLightType",),
    enums.TextureType: ("mjtTexture",),
    enums.TextureRole: ("mjtTextureRole",),
    enums.ColorSpace: ("mjtColorSpace",),
    enums.TextureBuiltin: ("mjtBuiltin",),
    enums.MeshBuiltin: ("mjtMeshBuiltin",),
    enums.MeshInertia: ("mjtMeshInertia",),
    enums.GeomInertia: ("mjtGeomInertia",),
    enums.AutoBool: ("mjtLimited", "mjtAlignFree", "mjtInertiaFromGeom"),
    enums.SameFrame: ("mjtSameFrame",),
    enums.SleepPolicy: ("mjtSleepPolicy",),
    enums.SleepState: ("mjtSleepState",),
    enums.FlexSelf: ("mjtFlexSelf",),
    enums.LengthRangeMode: ("mjtLRMode",),
    enums.ConstraintType: ("mjtConstraint",),
    enums.ConstraintState: ("mjtConstraintState",),
}

RICH_MODEL = """
<mujoco>
  <option cone="elliptic"/>
  <size nuserdata="2" nuser_body="1" nuser_geom="3"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
    <texture name="sky" type="skybox" builtin="flat" width="4" height="24"/>
    <material name="red" rgba="1 0 0 1"/>
    <hfield name="hills" nrow="3" ncol="4" size="1 1 1 1"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <camera name="eye" pos="0 0 3"/>
    <geom type="plane" size="2 2 1"/>
    <geom type="hfield" hfield="hills" pos="9 0 0"/>
    <body name="target" mocap="true"/>
    <body name="ball" pos="0 0 .09"><freejoint/><geom name="skin" size=".1" material="red"/></body>
    <body name="arm" pos="1 0 1">
      <joint name="shoulder" range="-1 1" limited="true" frictionloss=".1"/>
      <geom type="mesh" mesh="wedge"/><site name="a" pos="1 0 0"/>
      <body name="hand">
        <joint name="wrist" type="ball"/><geom size=".1" pos="0 0 2"/><site name="b" pos="0 1 2"/>
      </body>
    </body>
    <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="5 5 5"/>
  </worldbody>
  <contact><pair geom1="skin" geom2="skin"/><exclude body1="ball" body2="arm"/></contact>
  <tendon><spatial name="cord" limited="true" range="0 .1"><site site="a"/><site site="b"/></spatial></tendon>
  <actuator><motor joint="shoulder"/><general tendon="cord" dyntype="integrator"/></actuator>
  <sensor><framepos objtype="body" objname="ball"/><clock/></sensor>
  <equality><weld body1="ball" body2="target"/></equality>
  <custom><numeric name="n" data="1 2 3"/><text name="t" data="word"/>
    <tuple name="u"><element objtype="body" objname="arm" prm="1"/></tuple></custom>
  <keyframe><key name="start"/><key name="later" time="1"/></keyframe>
</mujoco>
"""


UNREADABLE = {("vis.rgba", "bv"), ("vis.rgba", "bvactive")}
"""Fields that the Python bindings of MuJoCo 3.4.0 show as empty."""


def model_specs() -> list[FieldSpec]:
    grouped = [s for name, group in MODEL_GROUPS.items() for s in specs_of(group, f"{name}.")]
    return [s for part in MODEL_PARTS for s in specs_of(part)] + grouped


MUJOCO_PARTS = tuple(part for part in DATA_PARTS if part is not Collision)
"""The parts of Data that mjData has; it does not show which pairs it tests for contact."""


def data_specs() -> list[FieldSpec]:
    grouped = [s for name, group in DATA_GROUPS.items() for s in specs_of(group, f"{name}.")]
    return [s for part in MUJOCO_PARTS for s in specs_of(part)] + grouped


ALL_SPECS = [*model_specs(), *data_specs()]


def duplicates(values: list[str]) -> set[str]:
    return {value for value in values if values.count(value) > 1}


# ---- what the declarations promise by themselves


@pytest.mark.parametrize("specs", [model_specs(), data_specs()], ids=["model", "data"])
def test_field_names_are_unique(specs: list[FieldSpec]) -> None:
    assert not duplicates([spec.name for spec in specs])


def test_docs_are_sentences_and_no_two_fields_share_one() -> None:
    assert [s.name for s in ALL_SPECS if not (s.doc.endswith(".") and len(s.doc) > 8)] == []
    assert not duplicates([spec.doc for spec in ALL_SPECS])


def test_units_come_from_the_known_set() -> None:
    assert {spec.name: spec.unit for spec in ALL_SPECS if spec.unit not in UNITS} == {}


def test_shapes_are_written_in_known_sizes() -> None:
    unknown = {s.name: d for s in ALL_SPECS for d in s.shape if isinstance(d, str) and d not in SIZES}
    assert unknown == {}


def test_model_shapes_use_no_capacity_of_data() -> None:
    wrong = {
        s.name: d for s in model_specs() for d in s.shape if isinstance(d, str) and SIZES[d].owner == "data"
    }
    assert wrong == {}


def test_sizes_are_described() -> None:
    assert [name for name, size in SIZES.items() if size.name != name or not size.doc] == []
    assert {size.owner for size in SIZES.values()} == {"model", "data", "derived"}
    for size in SIZES.values():
        assert (size.owner == "derived") == (size.multiple_of is not None or bool(size.number))


def test_only_data_has_reals_and_writers() -> None:
    assert [s.name for s in model_specs() if s.dtype == REAL or s.writer or s.state] == []
    assert [s.name for s in data_specs() if s.dtype not in (REAL, "int32", "uint8")] == []


def test_data_without_a_writer_is_what_the_user_sets() -> None:
    assert {s.name for s in data_specs() if s.writer is None} == {
        *("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat"),
        *("userdata", "plugin_state"),
    }


def test_state_is_what_the_next_step_depends_on() -> None:
    assert {s.name for s in data_specs() if s.state} == {
        *("time", "qpos", "qvel", "act", "qacc_warmstart", "ctrl", "qfrc_applied", "xfrc_applied"),
        *("eq_active", "mocap_pos", "mocap_quat", "userdata", "plugin_state", "tree_asleep"),
    }


def test_named_initial_values_are_model_fields_of_the_same_shape() -> None:
    model = {spec.name: spec for spec in model_specs()}
    for spec in data_specs():
        if isinstance(spec.init, str):
            assert model[spec.init].shape == spec.shape


def test_vector_defaults_have_one_value_per_component() -> None:
    assert [s.name for s in ALL_SPECS if isinstance(s.init, tuple) and (len(s.init),) != s.shape] == []


# ---- enums


def keyword_enums() -> list[Any]:
    bases = (enums.Keyword, enums.Flag)
    members = inspect.getmembers(enums, lambda v: inspect.isclass(v) and issubclass(v, bases))
    return [cls for _, cls in members if cls not in bases]


@pytest.mark.parametrize("cls", keyword_enums(), ids=lambda cls: cls.__name__)
def test_every_keyword_leads_back_to_its_member(cls: Any) -> None:
    assert [cls.from_keyword(member.keyword) for member in cls] == list(cls)


def test_an_unknown_keyword_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"JointType has no keyword 'hindge'\. Did you mean 'hinge'\?.*free, ball"
    ):
        enums.JointType.from_keyword("hindge")
    with pytest.raises(ValueError, match=r"EnableBit has no keyword 'fast'\. It has: override"):
        enums.EnableBit.from_keyword("fast")


def test_every_enum_is_compared_with_mujoco() -> None:
    assert set(MUJOCO_ENUMS) == set(keyword_enums())


# ---- MuJoCo 3.4.0


@pytest.fixture(scope="module")
def mujoco() -> Any:
    module = pytest.importorskip("mujoco")
    if module.__version__ != "3.4.0":
        pytest.skip(f"the declarations are MuJoCo 3.4.0's, installed is {module.__version__}")
    return module


@pytest.fixture(scope="module")
def rich(mujoco: Any) -> tuple[Any, Any]:
    """A model with at least one of most things, in contact, so that few arrays are empty."""
    model = mujoco.MjModel.from_xml_string(RICH_MODEL)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon > 0
    assert data.nefc > 0
    assert data.nisland > 0
    return model, data


C_DTYPES = {
    "mjtNum": "float64",
    "float": "float32",
    "int": "int32",
    "mjtByte": "uint8",
    "char": "uint8",
    "mjtSize": "int64",
}
CAPACITIES = {
    "nefc": "nefc_max",
    "nJ": "nJ_max",
    "nA": "nA_max",
    "nisland": "nisland_max",
    "nidof": "nv",
}


def struct_fields(struct: str) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
    """Name, C type and extents of every field of a MuJoCo struct."""
    from mujoco.introspect.structs import STRUCTS

    for field in STRUCTS[struct].fields:
        inner = getattr(field.type, "inner_type", field.type)
        extents = getattr(field.type, "extents", None) or getattr(field, "array_extent", None) or ()
        yield field.name, str(inner), tuple(extents)


def constant(extent: str | int) -> str | int:
    """An extent with MuJoCo's named constants replaced by their values."""
    import mujoco
    from mujoco.introspect.enums import ENUMS

    named = {"mjNTEXROLE": ENUMS["mjtTextureRole"].values["mjNTEXROLE"]}
    if isinstance(extent, str) and extent.startswith("mjN"):
        return named.get(extent) or getattr(mujoco, extent)
    return extent


def expected(struct: str, exempt: dict[str, str] | None = None) -> dict[str, tuple[Any, ...]]:
    """Declarations as the struct would have them: name → (dtype, *shape)."""
    return {
        name: (C_DTYPES[ctype], *(CAPACITIES.get(str(e), constant(e)) for e in extents))
        for name, ctype, extents in struct_fields(struct)
        if name not in (exempt or {})
    }


def declared(parts: tuple[type, ...]) -> dict[str, tuple[Any, ...]]:
    specs = [spec for part in parts for spec in specs_of(part)]
    return {spec.name: (str(numpy_dtype(spec.dtype)), *spec.shape) for spec in specs}


def in_order_of(names: list[str], order: list[str]) -> list[str]:
    return sorted(names, key=order.index)


def test_model_fields_are_mjmodels(mujoco: Any) -> None:
    theirs = expected("mjModel", MODEL_EXEMPT | dict.fromkeys(SIZES, "a size"))
    assert declared(MODEL_PARTS) == theirs
    assert list(declared(MODEL_PARTS)) == list(theirs)


def test_model_sizes_are_mjmodels(mujoco: Any) -> None:
    ints = [
        n for n, ctype, extents in struct_fields("mjModel") if ctype in ("int", "mjtSize") and not extents
    ]
    assert [name for name, size in SIZES.items() if size.owner == "model"] == ints


@pytest.mark.parametrize(("struct", "group"), [("mjOption", Option), ("mjStatistic", Statistic)])
def test_groups_of_model_are_mjmodels(mujoco: Any, struct: str, group: type) -> None:
    assert list(declared((group,)).items()) == list(expected(struct).items())


OWN_ROOM = {"flexedge_J": ("float64", "nJfe"), "flexedge_J_colind": ("int32", "nJfe")}
"""Fields of Data that have room for what the structure asks for, where mjData has nflexedge × nv."""


def test_data_fields_are_mjdatas(mujoco: Any) -> None:
    theirs = expected("mjData", DATA_EXEMPT)
    assert all(theirs[name] == (dtype, "nflexedge", "nv") for name, (dtype, _) in OWN_ROOM.items())
    assert declared(MUJOCO_PARTS) == theirs | OWN_ROOM


@pytest.mark.parametrize("part", MUJOCO_PARTS, ids=lambda part: part.__name__)
def test_a_part_of_data_keeps_mjdatas_order(mujoco: Any, part: type) -> None:
    names = list(declared((part,)))
    assert names == in_order_of(names, list(expected("mjData", DATA_EXEMPT)))


def test_contact_fields_are_mjcontacts(mujoco: Any) -> None:
    theirs = {name: (dtype, "ncon_max", *shape) for name, (dtype, *shape) in expected("mjContact").items()}
    assert list(declared((Contact,)).items()) == list(theirs.items())


@pytest.mark.parametrize("exempt", [MODEL_EXEMPT, DATA_EXEMPT], ids=["model", "data"])
def test_exempt_fields_exist_in_mujoco(mujoco: Any, exempt: dict[str, str]) -> None:
    struct = "mjModel" if exempt is MODEL_EXEMPT else "mjData"
    assert set(exempt) <= {name for name, _, _ in struct_fields(struct)}


@pytest.mark.parametrize("group", MODEL_GROUPS)
def test_defaults_are_those_of_an_empty_model(mujoco: Any, group: str) -> None:
    theirs = attrgetter(group)(mujoco.MjModel.from_xml_string("<mujoco/>"))
    for spec in specs_of(MODEL_GROUPS[group]):
        ours = np.broadcast_to(np.array(spec.init, numpy_dtype(spec.dtype)), spec.dims({}))
        if (group, spec.name) not in UNREADABLE:
            np.testing.assert_array_equal(ours, getattr(theirs, spec.name), err_msg=spec.name)


def test_model_shapes_and_dtypes_are_those_of_the_python_bindings(rich: tuple[Any, Any]) -> None:
    model, _ = rich
    sizes = {name: getattr(model, name) for name, size in SIZES.items() if size.owner == "model"}
    for size in SIZES.values():
        if size.multiple_of is not None:
            sizes[size.name] = sizes[size.multiple_of[0]] * size.multiple_of[1]
    for part in MODEL_PARTS:
        for spec in specs_of(part):
            theirs = getattr(model, spec.name)
            if isinstance(theirs, bytes):
                theirs = np.frombuffer(theirs, np.uint8)
            if spec.name != "plugin_attr":  # chars reach NumPy as int8 or bytes, depending on the field
                assert (spec.name, theirs.dtype) == (spec.name, numpy_dtype(spec.dtype))
            assert (spec.name, theirs.shape) == (spec.name, spec.dims(sizes))


def test_data_shapes_and_dtypes_are_those_of_the_python_bindings(rich: tuple[Any, Any]) -> None:
    model, data = rich
    sizes = {name: getattr(model, name) for name, size in SIZES.items() if size.owner == "model"}
    sizes |= {capacity: getattr(data, count) for count, capacity in CAPACITIES.items() if count != "nidof"}
    sizes["ncon_max"] = data.ncon
    for spec in data_specs():
        if spec.name in OWN_ROOM:
            continue
        owner, _, name = spec.name.rpartition(".")
        theirs = np.asarray(getattr(getattr(data, owner) if owner else data, name))
        shape = spec.dims(sizes)
        if spec.shape == ("nv",) and theirs.shape == (data.nidof,):
            shape = (data.nidof,)
        assert (spec.name, theirs.shape) == (spec.name, shape)
        if theirs.ndim:
            assert (spec.name, theirs.dtype) == (spec.name, numpy_dtype(spec.dtype))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(ours, theirs) for ours, names in MUJOCO_ENUMS.items() for theirs in names],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_enum_values_are_mujocos(mujoco: Any, ours: Any, theirs: str) -> None:
    from mujoco.introspect.enums import ENUMS

    renamed = {"2D": "TWO_D"}  # a Python name cannot start with a digit
    named = [(n.partition("_")[2], v) for n, v in ENUMS[theirs].values.items() if not is_count(n)]
    prefix = "INERTIA_" if theirs == "mjtMeshInertia" else "BUILTIN_" if theirs == "mjtMeshBuiltin" else ""
    values = {renamed.get(n.removeprefix(prefix), n.removeprefix(prefix)): v for n, v in named}
    assert {member.name: member.value for member in ours} == values


def is_count(name: str) -> bool:
    """Whether an enumerator (mjNGEOMTYPES) counts the others."""
    return name.startswith("mjN")


def schema_words(mujoco: Any) -> set[str]:
    return set(mujoco.mj_printSchema(False, False).split())


@pytest.mark.parametrize(
    "cls", [enums.SensorType, enums.DisableBit, enums.EnableBit], ids=lambda c: c.__name__
)
def test_tags_and_flags_are_in_the_schema(mujoco: Any, cls: Any) -> None:
    assert {member.keyword for member in cls} <= schema_words(mujoco)


OPTION_KEYWORDS = [
    (name, member)
    for name, cls in {
        "integrator": enums.Integrator,
        "solver": enums.Solver,
        "cone": enums.Cone,
        "jacobian": enums.Jacobian,
    }.items()
    for member in cls
]


@pytest.mark.parametrize(
    ("attribute", "member"), OPTION_KEYWORDS, ids=lambda value: getattr(value, "keyword", "")
)
def test_option_keywords_compile_to_their_values(mujoco: Any, attribute: str, member: Any) -> None:
    model = mujoco.MjModel.from_xml_string(f'<mujoco><option {attribute}="{member.keyword}"/></mujoco>')
    assert getattr(model.opt, attribute) == member


@pytest.mark.parametrize("flag", enums.DisableBit, ids=lambda flag: flag.keyword)
def test_disable_flags_compile_to_their_bits(mujoco: Any, flag: enums.DisableBit) -> None:
    xml = f'<mujoco><option><flag {flag.keyword}="disable"/></option></mujoco>'
    assert mujoco.MjModel.from_xml_string(xml).opt.disableflags == flag


@pytest.mark.parametrize("flag", enums.EnableBit, ids=lambda flag: flag.keyword)
def test_enable_flags_compile_to_their_bits(mujoco: Any, flag: enums.EnableBit) -> None:
    xml = f'<mujoco><option><flag {flag.keyword}="enable"/></option></mujoco>'
    assert mujoco.MjModel.from_xml_string(xml).opt.enableflags == flag

"""Every field of the Model edited between steps: kernels, the reference and MuJoCo 3.4.0 go on alike.

A scene stands in one state; before each step a field is edited in both Models, small and large, one entry and all,
and afterwards it gets its old value back. Simulations are kept all the time, and every field that users can read is
compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.backends.native.backend import NativeBackend
from dovetail.contracts.enums import DisableBit, EnableBit
from dovetail.contracts.types import MODEL_SPECS
from dovetail.planning.per_world import PATTERNS, POSSIBLE

pytest.importorskip("mujoco")

from edited_scene import (
    CLOSE,
    COMPARED,
    EDITED_WORLD,
    NWORLD,
    SOON,
    UNSTEADY,
    Bench,
    Edit,
    distance,
    edits_of_choices,
    edits_of_numbers,
    model_field,
)

KERNELS = pytest.mark.skipif(bool(NativeBackend().missing()), reason="there is no C compiler")

SCENES = ("machine", "terrain", "clothes", "blob")
VARIANTS = ("implicit machine", "sequential machine", "staged machine")
WAYS = (*(pytest.param(way, marks=KERNELS) for way in ("native", "batch")), "numpy")
PER_WORLD_WAYS = (pytest.param("per world", marks=KERNELS), "numpy per world")

# ---- which fields are edited, and how ----------------------------------------------------------------------

NAMES = ("name_", "names", "paths", "text_", "tuple_", "plugin", "vis.", "tex_", "skin_")
"""Beginnings of the names of fields that no step reads."""

LOOKS = """
body_user jnt_user geom_user site_user cam_user tendon_user actuator_user sensor_user numeric_data sensor_noise
geom_rgba site_rgba tendon_rgba flex_rgba flex_texcoord mat_texrepeat mat_emission mat_specular mat_shininess
mat_reflectance mat_metallic mat_roughness mat_rgba light_bulbradius light_intensity light_range light_attenuation
light_cutoff light_exponent light_ambient light_diffuse light_specular cam_ipd tendon_width mesh_normal mesh_texcoord
mesh_scale mesh_pos mesh_quat stat.meanmass stat.meansize stat.extent stat.center key_time key_qpos key_qvel key_act
key_mpos key_mquat key_ctrl actuator_length0 tendon_length0 dof_length flex_vert0 flex_node0 eq_active0
jnt_group geom_group site_group tendon_group flex_group geom_matid site_matid tendon_matid flex_matid mat_texuniform
light_type light_castshadow light_active cam_orthographic flex_flatskin opt.sleep_tolerance
"""
"""Fields that pictures, resets and users read, but no step."""

STRUCTURE = """
body_parentid body_rootid body_weldid body_mocapid body_jntnum body_jntadr body_dofnum body_dofadr body_treeid
body_geomnum body_geomadr body_simple body_plugin body_bvhadr body_bvhnum bvh_depth bvh_child bvh_nodeid oct_depth
oct_child oct_aabb jnt_type jnt_qposadr jnt_dofadr jnt_bodyid dof_bodyid dof_jntid dof_parentid dof_treeid dof_Madr
dof_simplenum tree_bodyadr tree_bodynum tree_dofadr tree_dofnum geom_bodyid geom_plugin site_bodyid cam_bodyid
light_bodyid light_texid flex_dim flex_interp flex_nodeadr flex_nodenum flex_vertadr flex_vertnum flex_edgeadr
flex_edgenum flex_elemadr flex_elemnum flex_elemdataadr flex_elemedgeadr flex_shellnum flex_shelldataadr
flex_evpairadr flex_evpairnum flex_texcoordadr flex_nodebodyid flex_vertbodyid flex_edge flex_edgeflap flex_elem
flex_elemtexcoord
flex_elemedge flex_shell flex_evpair flex_bvhadr flex_bvhnum flex_edgeequality flex_rigid flexedge_rigid flex_centered
mesh_vertadr mesh_vertnum mesh_faceadr mesh_facenum mesh_bvhadr mesh_bvhnum mesh_octadr mesh_octnum mesh_normaladr
mesh_normalnum mesh_texcoordadr mesh_texcoordnum mesh_graphadr mesh_face mesh_facenormal mesh_facetexcoord mesh_graph
mesh_pathadr mesh_polynum mesh_polyadr mesh_polyvertadr mesh_polyvertnum mesh_polyvert mesh_polymapadr mesh_polymapnum
mesh_polymap hfield_nrow hfield_ncol hfield_adr hfield_pathadr mat_texid pair_geom1 pair_geom2 pair_signature eq_type
eq_obj1id eq_obj2id eq_objtype tendon_adr tendon_num tendon_treenum tendon_treeid wrap_type wrap_objid actuator_actadr
actuator_actnum actuator_plugin sensor_dim sensor_adr sensor_plugin sensor_needstage numeric_adr numeric_size
B_rownnz B_rowadr B_colind M_rownnz M_rowadr M_colind mapM2M D_rownnz D_rowadr D_diag D_colind mapM2D mapD2M
"""
"""Addresses, counts and ids: what they say must agree with the rest of the Model, and MuJoCo does not look."""

FLAGS = (0, 1)
FRAMES = (0, 1, 3)
MASKS = (0, 1, 2)
CHOICES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("jnt_limited", "jnt_actfrclimited", "jnt_actgravcomp"), FLAGS),
    **dict.fromkeys(("tendon_limited", "tendon_actfrclimited"), FLAGS),
    **dict.fromkeys(("actuator_ctrllimited", "actuator_forcelimited", "actuator_actlimited"), FLAGS),
    **dict.fromkeys(("body_contype", "body_conaffinity", "geom_contype", "geom_conaffinity"), MASKS),
    **dict.fromkeys(("flex_contype", "flex_conaffinity"), MASKS),
    **dict.fromkeys(("geom_condim", "pair_dim"), (1, 3, 4, 6)),
    "flex_condim": (1, 3),  # with more MuJoCo's spin rows are whatever the memory held
    **dict.fromkeys(("geom_priority", "flex_priority"), MASKS),
    "body_sameframe": FRAMES,
    **dict.fromkeys(("geom_sameframe", "site_sameframe"), (0, 1, 2, 3, 4)),
    "geom_type": (2, 4, 6),
    "geom_dataid": (0, 1),
    "site_type": (2, 3, 4, 5, 6),
    **dict.fromkeys(("cam_mode", "light_mode"), (0, 1, 2, 3, 4)),
    **dict.fromkeys(("cam_targetbodyid", "light_targetbodyid"), (1, 2)),
    "cam_resolution": (100,),
    **dict.fromkeys(("flex_internal", "flex_passive"), FLAGS),
    "flex_selfcollide": (0, 1, 2, 3, 4),
    "flex_activelayers": (1, 2),
    "flex_elemlayer": (0, 1),
    "tree_sleep_policy": MASKS,
    "exclude_signature": (0, 5),
    "actuator_trntype": (0, 1),
    "actuator_dyntype": (1, 2, 3),
    **dict.fromkeys(("actuator_gaintype", "actuator_biastype"), FLAGS),
    "actuator_trnid": (1, 2),
    "actuator_group": (0, 2),
    "actuator_actearly": FLAGS,
    "sensor_datatype": FLAGS,
    "sensor_type": (),
    "sensor_objtype": (),
    "sensor_objid": (1, 2),
    "sensor_reftype": (),
    "sensor_refid": (1, 2),
    "sensor_intprm": (),
    "opt.integrator": (0, 1, 2, 3),
    "opt.cone": FLAGS,
    "opt.jacobian": (0, 1, 2),
    "opt.solver": (0, 1, 2),
    "opt.iterations": (1, 3),
    "opt.ls_iterations": (1, 3),
    "opt.noslip_iterations": (3,),
    "opt.ccd_iterations": (1, 3),
    "opt.disableflags": tuple(int(bit) for bit in DisableBit),
    "opt.enableflags": tuple(int(bit) for bit in EnableBit if bit != EnableBit.SLEEP),
    "opt.disableactuator": (1, 4),
    "opt.sdf_initpoints": (5,),
    "opt.sdf_iterations": (2,),
}
"""Integer fields that may have other values, and which ones."""

HIDDEN = "MuJoCo looks for the geom in boxes that the edit leaves where they were, and may miss its contacts"
NOT_AS_MUJOCO = {
    "bvh_aabb": "dovetail searches no trees of boxes",
    "body_margin": "dovetail goes by the margins of geoms alone",
    "geom_margin": "MuJoCo searches trees by `body_margin`, which the edit leaves as it was, and may miss contacts",
    **dict.fromkeys(("geom_pos", "geom_quat", "geom_sameframe"), HIDDEN),
    **dict.fromkeys(("body_ipos", "body_iquat", "body_sameframe"), HIDDEN),
}
"""Fields whose edits may show otherwise than in MuJoCo, as long as the midphase is on, and why. The page
`howto/model-fields.md` has the same table."""


def edited_fields(bench: Bench | None = None) -> list[str]:
    """All that is edited on its own, in a scene that has it."""
    left = {*LOOKS.split(), *STRUCTURE.split()}
    names = [name for name in MODEL_SPECS if name not in left and not name.startswith(NAMES)]
    return names if bench is None else [name for name in names if present(bench, name)]


@cache
def bench_of(name: str, midphase: bool = True) -> Bench:
    """One for all tests of this file."""
    return new_bench(name, midphase)


def new_bench(name: str, midphase: bool) -> Bench:
    bench = Bench(name)
    if not midphase:
        for model in (bench.theirs, bench.model):
            model.opt.disableflags |= int(DisableBit.MIDPHASE)
    return bench


def present(bench: Bench, name: str) -> bool:
    value = model_field(bench.theirs, name)
    return value is not None and np.size(value) > 0


def edits_of(bench: Bench, name: str, entries: int) -> list[Edit]:
    """Edits of one field."""
    if name in CHOICES:
        return list(edits_of_choices(bench, name, CHOICES[name], entries))
    return list(edits_of_numbers(bench, name, entries))


class Found:
    """What a sweep found: steps that are otherwise than in MuJoCo, bits that do not come back, and how many steps a
    nudge changes in MuJoCo itself."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.steps = self.unsteady = 0

    def note(self, told: str, words: str) -> None:
        self.steps += 1
        if told == UNSTEADY:
            self.unsteady += 1
        elif told:
            self.wrong.append(f"{words}: {told}")

    def check(self) -> None:
        assert self.wrong == []
        assert self.steps > 0
        assert self.unsteady <= 0.02 * self.steps + 5


def sweep(bench: Bench, way: str, names: Iterable[str], entries: int, which: slice = slice(None)) -> Found:
    """Edit fields one after the other, put each back, and look at every step: at all that can be read after the first
    edits of a field, and then without what has to be worked out by repeating the step."""
    found = Found()
    bench.remember(way, SOON)
    for name in names:
        for number, edit in enumerate(edits_of(bench, name, entries)[which]):
            with bench.edited(name, edit.value):
                read = COMPARED if number < 2 and which == slice(None) else SOON
                found.note(bench.wrong(way, names=read), f"{way}, {edit.words}")
                if number == 2:
                    found.note(bench.wrong(way, 3, SOON), f"{way}, {edit.words}, three steps")
            lost = bench.changed(way)
            if lost:
                found.wrong.append(f"{way}, {edit.words} and back: other bits in {', '.join(lost[:5])}")
    return found


def sweep_one_world(bench: Bench, way: str, entries: int = 1) -> Found:
    """Edit the fields of one world of a batch; the worlds beside it take the steps that they took before."""
    found = Found()
    bench.remember(way, SOON)
    for name in bench.per_world:
        for edit in edits_of_one_world(bench, name, entries):
            with bench.edited_in_one_world(way, name, edit.value):
                found.note(bench.wrong(way, names=SOON), f"{way}, {edit.words}")
                others = bench.changed(way, [world for world in range(NWORLD) if world != EDITED_WORLD])
            lost = bench.changed(way, range(NWORLD))
            if lost or others:
                found.wrong.append(
                    f"{way}, {edit.words}: other bits beside in {others[:5]}, after it in {lost[:5]}"
                )
    return found


def edits_of_one_world(bench: Bench, name: str, entries: int) -> list[Edit]:
    """Every other one; what is zero in the Model stays zero where that is structure."""
    edits = edits_of(bench, name, entries)[1::2]
    if name not in PATTERNS:
        return edits
    old = np.array(model_field(bench.theirs, name))
    return [Edit(edit.words, np.where(old > 0.0, edit.value, old)) for edit in edits]


def bench_per_world(
    name: str, but: Iterable[str] = (), fields: Iterable[str] = POSSIBLE, midphase: bool = True
) -> Bench:
    """A bench whose batches have numbers per world: all that can be so, or some."""
    bench = new_bench(name, midphase)
    bench.per_world = tuple(field for field in sorted(fields) if present(bench, field) and field not in but)
    return bench


# ---- in every run of the tests -----------------------------------------------------------------------------


def test_every_field_is_edited_or_there_is_a_reason() -> None:
    benches = [bench_of(name) for name in SCENES]
    integers = [name for name in edited_fields() if not MODEL_SPECS[name].dtype.startswith("float")]
    assert sorted(set(integers) - set(CHOICES)) == []
    nowhere = [name for name in edited_fields() if not any(present(bench, name) for bench in benches)]
    assert nowhere == []


WORKED_IN = ("cam_sensorsize", "cam_intrinsic", "cam_fovy", "mesh_vert", "opt.ls_tolerance")
"""Fields of which the very numbers are part of a kernel: an edit compiles another one."""


@pytest.mark.slow_cases("batch")
@pytest.mark.parametrize("way", WAYS)
def test_a_large_edit_of_every_real_field(way: str) -> None:
    bench = bench_of("machine")
    names = [name for name in edited_fields(bench) if name not in (*CHOICES, *NOT_AS_MUJOCO, *WORKED_IN)]
    chosen = names[::4] if way == "batch" else names  # all that a batch keeps takes long to fill
    sweep(bench, way, chosen, 0, slice(2, 3)).check()


CHOSEN = (
    *(
        "geom_condim",
        "geom_contype",
        "geom_priority",
        "geom_type",
        "jnt_limited",
        "pair_dim",
        "opt.disableflags",
    ),
    *(
        "actuator_actearly",
        "actuator_dyntype",
        "cam_mode",
        "site_type",
        "opt.enableflags",
        "exclude_signature",
    ),
)


def test_flags_and_choices_on_the_reference() -> None:
    sweep(bench_of("machine"), "numpy", CHOSEN, 0, slice(0, 9)).check()


@KERNELS
def test_some_flags_and_choices_in_kernels() -> None:
    """Each makes another plan, and back."""
    sweep(bench_of("rod"), "native", ("geom_condim", "opt.cone", "geom_contype"), 0, slice(0, 2)).check()


OF_A_ROD = (
    "body_mass",
    "body_ipos",
    "geom_pos",
    "geom_friction",
    "opt.gravity",
    "opt.timestep",
    "dof_armature",
)


@pytest.mark.slow_cases("numpy per world")
@pytest.mark.parametrize("way", PER_WORLD_WAYS)
def test_an_edit_of_one_world(way: str) -> None:
    sweep_one_world(bench_per_world("rod", fields=OF_A_ROD, midphase=False), way).check()


# ---- where MuJoCo does not see an edit ---------------------------------------------------------------------

HALF, DIAGONAL = 0.5, 0.5**0.5
UNSEEN: dict[str, tuple[Any, Any]] = {
    "bvh_aabb": (slice(None), 0.0),
    "body_margin": (5, 0.0),
    "geom_margin": (2, 0.1),
    "geom_pos": (0, (0.0, 0.1, 0.0)),
    "geom_quat": (0, (DIAGONAL, -DIAGONAL, 0.0, 0.0)),
    "geom_sameframe": (0, 1),
    "body_ipos": (1, (0.0, -0.3, 0.0)),
    "body_iquat": (1, (HALF, HALF, HALF, -HALF)),
    "body_sameframe": (1, 1),
}
"""For the scene `rod`: rows of a field, and what they are edited to. The rod then touches a ball outside of its box,
or its box leaves a ball that it touches."""


def unseen(name: str) -> tuple[Bench, Any]:
    bench = bench_of("rod")
    rows, value = UNSEEN[name]
    edited = np.array(model_field(bench.theirs, name))
    edited[rows] = value
    return bench, edited


def test_each_field_that_is_not_as_in_mujoco_is_tried() -> None:
    assert UNSEEN.keys() == NOT_AS_MUJOCO.keys()


@pytest.mark.parametrize("name", NOT_AS_MUJOCO)
def test_where_trees_of_boxes_hide_an_edit_mujoco_has_fewer_contacts(name: str) -> None:
    bench, value = unseen(name)
    with bench.edited(name, value):
        assert int(bench.expected()["ncon"]) < int(bench.found("numpy")["ncon"])
        with bench.edited("opt.disableflags", int(DisableBit.MIDPHASE)):
            assert bench.wrong("numpy") == ""


@KERNELS
@pytest.mark.parametrize("name", NOT_AS_MUJOCO)
def test_kernels_see_what_the_reference_sees(name: str) -> None:
    bench, value = unseen(name)
    with bench.edited(name, value):
        found = [bench.found(way, names=SOON) for way in ("native", "numpy")]
        for field, wanted in found[1].items():
            assert distance(found[0][field], wanted) < CLOSE, field


def test_the_documentation_has_the_same_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "model-fields.md").read_text()
    for name, reason in NOT_AS_MUJOCO.items():
        assert any(f"`{name}`" in line and reason in line for line in page.splitlines()), name


# ---- what a reset reads ------------------------------------------------------------------------------------

READ_BY_RESETS = (
    *("qpos0", "body_pos", "body_quat", "eq_active0"),
    *("key_time", "key_qpos", "key_qvel", "key_act", "key_mpos", "key_mquat", "key_ctrl"),
)


@pytest.mark.parametrize("name", READ_BY_RESETS)
def test_an_edit_shows_in_a_reset(name: str) -> None:
    bench = bench_of("machine")
    edit = (
        Edit("off", 1 - np.array(bench.theirs.eq_active0))
        if name == "eq_active0"
        else edits_of(bench, name, 0)[1]
    )
    with bench.edited(name, edit.value):
        assert bench.wrong_after_a_reset("numpy") == ""


# ---- in slow runs ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scene", SCENES)
def test_edits_of_every_real_field(scene: str, way: str) -> None:
    bench = bench_of(scene)
    names = [name for name in edited_fields(bench) if name not in CHOICES]
    sweep(bench, way, [name for name in names if name not in NOT_AS_MUJOCO], 2).check()
    sweep(bench, way, [name for name in names if name in NOT_AS_MUJOCO], 0, slice(0, 2)).check()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scene", SCENES)
def test_other_choices_of_every_integer_field(scene: str, way: str) -> None:
    bench = bench_of(scene)
    names = [name for name in edited_fields(bench) if name in CHOICES and name not in NOT_AS_MUJOCO]
    every = slice(None) if way != "batch" else slice(0, 1)  # each compiles a kernel
    sweep(bench, way, names, 1, every).check()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scene", SCENES)
def test_without_the_midphase_no_edit_is_hidden(scene: str, way: str) -> None:
    bench = bench_of(scene, midphase=False)
    sweep(bench, way, [name for name in NOT_AS_MUJOCO if present(bench, name)], 2).check()


@pytest.mark.slow
@pytest.mark.parametrize("way", [way for way in WAYS if way != "numpy"])
@pytest.mark.parametrize("scene", VARIANTS)
def test_a_large_edit_with_other_solvers_and_integrators(scene: str, way: str) -> None:
    bench = bench_of(scene)
    names = [name for name in edited_fields(bench) if name not in (*CHOICES, *NOT_AS_MUJOCO)]
    sweep(bench, way, names, 1, slice(2, 6, 3)).check()


NOT_IN_KERNELS = {
    "machine": ("actuator_dynprm", "opt.timestep"),  # the exponential of filterexact
    "terrain": (),
    "clothes": ("body_quat", "jnt_axis"),  # worked into the Jacobians of edges
}
"""Fields that kernels of a scene refuse to have per world."""


@pytest.mark.slow
@pytest.mark.parametrize("way", PER_WORLD_WAYS)
@pytest.mark.parametrize("scene", NOT_IN_KERNELS)
def test_edits_of_one_world_in_every_field_that_may_differ(scene: str, way: str) -> None:
    but = NOT_IN_KERNELS[scene] if way == "per world" else ()
    bench = bench_per_world(scene, (*but, *NOT_AS_MUJOCO))
    sweep_one_world(bench, way).check()
    hidden = [name for name in NOT_AS_MUJOCO if name in POSSIBLE]
    sweep_one_world(bench_per_world(scene, but, hidden, midphase=False), way).check()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scene", SCENES)
def test_what_only_pictures_resets_and_users_read_changes_no_step(scene: str, way: str) -> None:
    bench = bench_of(scene)
    bench.remember(way, SOON)
    before = bench.expected(names=SOON)
    with ExitStack() as edits:
        for name in LOOKS.split():
            if present(bench, name):
                old = np.array(model_field(bench.theirs, name))
                edits.enter_context(bench.edited(name, 1 - old if old.dtype == np.uint8 else old + 1))
        assert all(np.array_equal(value, before[name]) for name, value in bench.expected(names=SOON).items())
        assert bench.changed(way) == []

"""Stages that load a model are chosen as any other: by call, function, file, environment and third parties."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.config import Config
from dovetail.contracts.flexcomp import FlexShape
from dovetail.contracts.sdf_shapes import SdfShape
from dovetail.errors import (
    DovetailError,
    PluginError,
    SelectionError,
    UnknownImplementationError,
    UnknownStageError,
)
from dovetail.implementation import Implementation
from dovetail.mjcf.elements.custom import NumericItem
from dovetail.pipeline import STAGES
from dovetail.planning.loading_selection import chosen_stages, compile_lines
from dovetail.registry import Registry, build_registry

# ---- for every stage of loading: a model that needs it, a function of one's own, and what shows that it ran

TETRA = "vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 3 0 3 2 1 2 3'"
BODY = "<worldbody><body><freejoint/>{}</body></worldbody>"


def mesh_inertia(vertices: Any, faces: Any) -> Any:
    """Heavy, whatever the mesh."""
    return 7.0, np.zeros(3), 7.0 * np.eye(3)


def geom_inertia(size: Any, shell: bool) -> Any:
    return 7.0, np.full(3, 7.0)


def load_mesh(content: bytes, filename: str) -> Any:
    """A tetrahedron seven wide, whatever the file."""
    points = np.array([[0, 0, 0], [7, 0, 0], [0, 7, 0], [0, 0, 7]], np.float32)
    return {"vertex": points, "face": np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)}


def flex_build(recipe: Any) -> FlexShape:
    points = np.array([[0, 0, 0], [7, 0, 0], [0, 7, 0]], float)
    return FlexShape(dim=2, point=points, element=np.array([0, 1, 2]))


def mjcf_element(context: Any, node: Any) -> None:
    context.add_named("numeric", NumericItem(data=(7.0,)), "mine")


def finalize_model(model: Any) -> Any:
    return {"dof_invweight0": np.full(model.nv, 7.0)}


def length_range(model: Any, actuator: int, settings: Any) -> tuple[float, float]:
    return 6.0, 7.0


def sdf_shape(config: Any) -> SdfShape:
    """A ball of radius 7."""
    return SdfShape(lambda points: np.linalg.norm(points, axis=1) - 7.0, (0.0, 0.0, 0.0, 8.0, 8.0, 8.0))


@attrs.frozen
class Case:
    slot: str
    xml: str
    function: Callable[..., Any]
    shows: Callable[[Model], bool]
    assets: dict[str, bytes] = attrs.field(factory=dict)

    @property
    def stage(self) -> str:
        return self.slot.partition(":")[0]

    @property
    def variable(self) -> str:
        slot = self.slot.replace(":.", ":").replace(".", "_")
        return "DOVETAIL_STAGE_" + slot.replace(":", "__").upper()

    def load(self, registry: Registry | None = None, **said: Any) -> Model:
        return dovetail.loads(self.xml, assets=self.assets, registry=registry, **said)


def stl() -> bytes:
    """A tetrahedron of side one."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    body = b"".join(struct.pack("<3f", 0, 0, 0) + corners[list(f)].tobytes() + b"\0\0" for f in faces)
    return b"\0" * 80 + struct.pack("<I", len(faces)) + body


MESH = (
    "<mujoco><asset><mesh name='m' {}/></asset>" + BODY.format("<geom type='mesh' mesh='m'/>") + "</mujoco>"
)
SDF = (
    "<mujoco><extension><plugin plugin='mujoco.sdf.torus'><instance name='i'/></plugin></extension>"
    "<asset><mesh name='m'><plugin instance='i'/></mesh></asset>"
    + BODY.format("<geom type='sdf' mesh='m' contype='0' conaffinity='0'><plugin instance='i'/></geom>")
    + "</mujoco>"
)
MUSCLE = (
    "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>"
    "<actuator><muscle joint='j'/></actuator></mujoco>"
)

CASES = [
    Case(
        "mesh_inertia:exact",
        MESH.format(f"{TETRA} inertia='exact'"),
        mesh_inertia,
        lambda model: model.body_mass[1] == 7000.0,
    ),
    Case(
        "geom_inertia:box",
        "<mujoco>" + BODY.format("<geom type='box' size='1 1 1'/>") + "</mujoco>",
        geom_inertia,
        lambda model: model.body_mass[1] == 7000.0,
    ),
    Case(
        "load_mesh:.stl",
        MESH.format("file='m.stl'"),
        load_mesh,
        lambda model: model.mesh_vert.max() > 3.0,
        {"m.stl": stl()},
    ),
    Case(
        "flex_build:grid",
        "<mujoco><worldbody><flexcomp name='f' type='grid' count='3 3 1' spacing='1 1 1' mass='1' dim='2'/>"
        "</worldbody></mujoco>",
        flex_build,
        lambda model: model.nflexvert == 3,
    ),
    Case(
        "mjcf_element:robot",
        "<mujoco><robot/><worldbody/></mujoco>",
        mjcf_element,
        lambda model: model.object_names["numeric"] == ("mine",),
    ),
    Case(
        "finalize_model",
        "<mujoco>" + BODY.format("<geom size='1'/>") + "</mujoco>",
        finalize_model,
        lambda model: bool((model.dof_invweight0 == 7.0).all()),
    ),
    Case(
        "length_range",
        MUSCLE,
        length_range,
        lambda model: model.actuator_lengthrange[0].tolist() == [6.0, 7.0],
    ),
    Case("sdf_shape:mujoco.sdf.torus", SDF, sdf_shape, lambda model: model.mesh_vert.max() > 6.0),
]
BY_SLOT = {case.slot: case for case in CASES}


def theirs(context: Any, node: Any) -> None:
    """What reads the element unless something else is chosen."""


@pytest.fixture(
    params=[
        pytest.param(case, id=slot, marks=pytest.mark.slow if slot.startswith("sdf_shape") else ())
        for slot, case in BY_SLOT.items()
    ]
)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
def registry() -> Registry:
    """Built-in records; for every case one more, `mine`, of a package, that nobody asks for."""
    made = build_registry(third_party=False)
    add(made, "mjcf_element:robot", "theirs", default=True)
    for case in CASES:
        add(made, case.slot, "mine", function=case.stage)
    return made


def add(registry: Registry, slot: str, name: str, **said: Any) -> None:
    stage, _, key = slot.partition(":")
    function = said.pop("function", name)
    target = f"{__name__}:{function}"
    said = {"provider": "acme-pack", "key": key or None, "target": target, **said}
    registry.add(Implementation(stage=stage, name=name, backend="numpy", **said))


def test_every_stage_of_loading_is_among_the_cases() -> None:
    chosen = {stage.name for stage in STAGES.values() if stage.phase == "compile" and stage.kind != "all"}
    assert chosen <= {case.stage for case in CASES}


# ---- what can be chosen, and where


def test_the_default_is_not_the_other_one(case: Case, registry: Registry) -> None:
    if case.slot == "length_range":
        assert not case.shows(
            case.load(registry, stages={"length_range": lambda model, actuator, settings: (0, 1)})
        )
        return
    model = case.load(registry)
    assert not case.shows(model)
    assert "(" not in model.stages[case.slot]


@pytest.mark.parametrize("wish", ["mine", "mine@numpy"])
def test_by_name_in_the_call(case: Case, registry: Registry, wish: str) -> None:
    model = case.load(registry, stages={case.slot: wish})
    assert case.shows(model)
    assert model.stages[case.slot] == "mine@numpy/1 of acme-pack (call argument)"


def test_by_name_for_the_whole_table(case: Case, registry: Registry) -> None:
    model = case.load(registry, stages={case.stage: "mine"})
    assert case.shows(model)


def test_by_function(case: Case, registry: Registry) -> None:
    model = case.load(registry, stages={case.slot: case.function})
    assert case.shows(model)
    assert model.stages[case.slot] == f"{case.stage}@numpy/1 of the call (call argument)"


def test_by_function_for_the_whole_table(case: Case, registry: Registry) -> None:
    assert case.shows(case.load(registry, stages={case.stage: case.function}))


def test_by_environment(case: Case, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(case.variable, "mine")
    model = case.load(registry)
    assert case.shows(model)
    assert model.stages[case.slot] == f"mine@numpy/1 of acme-pack (environment {case.variable})"


@pytest.mark.parametrize(
    ("name", "table"), [("dovetail.toml", "stages"), ("pyproject.toml", "tool.dovetail.stages")]
)
def test_by_file(case: Case, registry: Registry, tmp_path: Path, name: str, table: str) -> None:
    (tmp_path / name).write_text(f'[{table}]\n"{case.slot}" = "mine"\n')
    model = case.load(registry)
    assert case.shows(model)
    assert model.stages[case.slot].endswith(f"({name}:2)")


def test_by_configuration(case: Case, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        case.variable, "nobody_has_this"
    )  # a configuration that is given stands for all others
    assert case.shows(case.load(registry, config=Config.of_call({case.slot: "mine"})))


def test_the_call_beats_environment_and_file(
    case: Case, registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(case.variable, "nobody_has_this")
    (tmp_path / "dovetail.toml").write_text(f'[stages]\n"{case.slot}" = "nor_this"\n')
    model = case.load(registry, stages={case.slot: "mine"})
    assert case.shows(model)
    assert "(call argument)" in model.stages[case.slot]


def test_a_third_partys_row_is_the_choice_where_there_is_no_other() -> None:
    registry = build_registry(third_party=False)
    add(registry, "mjcf_element:robot", "mine", function="mjcf_element")
    case = BY_SLOT["mjcf_element:robot"]
    model = case.load(registry)
    assert case.shows(model)
    assert chosen_stages(model) == {"mjcf_element:robot": "mine@numpy/1 of acme-pack"}


def test_a_backend_alone_keeps_the_default(case: Case, registry: Registry) -> None:
    if case.slot != "length_range":
        assert not case.shows(case.load(registry, stages={case.slot: "@numpy"}))


def test_a_simulation_hands_them_to_the_loader(case: Case, registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(case.xml)
    for name, content in case.assets.items():
        (tmp_path / name).write_bytes(content)
    wanted = {case.slot: case.function, "integrate": "rk4"}
    sim = dovetail.Simulation(path, stages=wanted, missing="skip")
    assert case.shows(sim.model)
    assert sim.plan.choices["integrate"].record.name == "rk4"


# ---- mistakes


def test_a_misspelt_name(case: Case, registry: Registry) -> None:
    for slot in (case.slot, case.stage):
        with pytest.raises(
            UnknownImplementationError, match=r"'mien', asked for by call argument.*did you mean 'mine'"
        ):
            case.load(registry, stages={slot: "mien"})


def test_a_misspelt_name_in_a_variable(
    case: Case, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(case.variable, "mien")
    with pytest.raises(UnknownImplementationError, match=f"environment {case.variable}.*did you mean 'mine'"):
        case.load(registry)


def test_a_name_on_a_backend_that_has_none(case: Case, registry: Registry) -> None:
    with pytest.raises(UnknownImplementationError, match=r"'mine@taichi'.*Installed: .*mine@numpy"):
        case.load(registry, stages={case.slot: "mine@taichi"})


def test_a_misspelt_stage(case: Case, registry: Registry) -> None:
    for wish in ("mine", case.function):
        with pytest.raises(
            UnknownStageError, match=rf"no stage '{case.stage}s'; did you mean '{case.stage}'\?"
        ):
            case.load(registry, stages={case.slot.replace(case.stage, f"{case.stage}s"): wish})


def test_a_misspelt_row(case: Case, registry: Registry) -> None:
    if ":" not in case.slot:
        with pytest.raises(DovetailError):
            case.load(registry, stages={f"{case.slot}:x": "mine"})
        return
    with pytest.raises(UnknownStageError, match=r"has no row"):
        case.load(registry, stages={f"{case.slot}x": "mine"})


@pytest.mark.parametrize("slot", ["mesh_inertia:exct", "geom_inertia:bx"])
def test_a_function_in_a_row_that_nothing_would_call(slot: str) -> None:
    with pytest.raises(UnknownStageError, match=r"has no row .*did you mean"):
        dovetail.load("pendulum", stages={slot: BY_SLOT["geom_inertia:box"].function})


def test_a_function_with_other_arguments(case: Case) -> None:
    def wrong(one: Any, other: Any) -> None: ...

    with pytest.raises(PluginError, match="does not fit the stage, whose arguments are"):
        case.load(stages={case.slot: wrong})


def test_arguments_are_given_by_name() -> None:
    def swapped(shell: bool, size: Any) -> Any:
        assert shell is False or shell == 0
        return geom_inertia(size, shell)

    case = BY_SLOT["geom_inertia:box"]
    assert case.shows(case.load(stages={case.slot: swapped}))


@pytest.mark.parametrize("slot", [slot for slot in BY_SLOT if not slot.startswith("sdf_shape")])
def test_a_loaded_model_has_made_its_choices(slot: str, pendulum: Model) -> None:
    case = BY_SLOT[slot]
    for slot in (case.slot, case.stage):
        for wish in ("mine", "nobody_has_this", case.function):
            with pytest.raises(SelectionError, match=r"loaded already; give it to dovetail\.load"):
                dovetail.Simulation(pendulum, stages={slot: wish})
    with pytest.raises(SelectionError, match="loaded already"):
        dovetail.compile_plan(pendulum, Config.of_call({case.slot: "mine"}))


def test_files_and_variables_may_name_both_kinds_for_either_call(
    pendulum: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "dovetail.toml").write_text('[stages]\nintegrate = "rk4"\n"geom_inertia:box" = "tubes"\n')
    monkeypatch.setenv("DOVETAIL_STAGE_LOAD_MESH__STL", "stl")
    assert dovetail.Simulation(pendulum).plan.choices["integrate"].record.name == "rk4"
    model = BY_SLOT["geom_inertia:box"].load()
    assert chosen_stages(model) == {"geom_inertia:box": "tubes@numpy/1 (dovetail.toml:3)"}


def test_variables_for_rows_with_dots_serve_loading_and_running(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    case = BY_SLOT["sdf_shape:mujoco.sdf.torus"]
    (tmp_path / "model.xml").write_text(case.xml)
    monkeypatch.setenv(case.variable, "torus")
    sim = dovetail.Simulation(tmp_path / "model.xml")
    sim.step()
    dovetail.step(sim.model, dovetail.make_data(sim.model))
    assert sim.model.stages[case.slot] == f"torus@numpy/1 (environment {case.variable})"


def test_a_configuration_may_name_both_kinds(pendulum: Model, tmp_path: Path) -> None:
    case = BY_SLOT["geom_inertia:box"]
    both = Config.of_call({"integrate": "rk4", "geom_inertia:box": "tubes"})
    path = tmp_path / "model.xml"
    path.write_text(case.xml)
    for sim in (dovetail.Simulation(path, config=both), dovetail.Simulation(pendulum, config=both)):
        assert sim.plan.choices["integrate"].record.name == "rk4"
    assert "geom_inertia:box" in chosen_stages(case.load(config=both))


def test_a_stage_of_running_is_not_for_loading() -> None:
    for wish in ("rk4", lambda model, data, evaluation: None):
        with pytest.raises(SelectionError, match=r"integrate runs in simulations.*give it to Simulation"):
            dovetail.load("pendulum", stages={"integrate": wish})


def test_a_misspelt_stage_in_a_variable_is_no_stage_of_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_STAGE_MESH_INERTA__EXACT", "x")
    with pytest.raises(UnknownStageError, match="did you mean 'mesh_inertia'"):
        dovetail.load("pendulum")


# ---- several defaults


def test_two_defaults_of_two_packages_are_an_error_that_names_both(case: Case, registry: Registry) -> None:
    add(registry, case.slot, "rival", function=case.stage, default=True, provider="rival-pack")
    first = next(record for record in registry.of(case.slot) if record.default)
    with pytest.raises(SelectionError, match=case.slot) as caught:
        case.load(registry)
    for word in (first.provider, "rival-pack", "rival", "stages="):
        assert word in str(caught.value)
    assert case.shows(case.load(registry, stages={case.slot: "rival"}))


def test_two_defaults_do_not_hurt_models_that_do_not_need_the_row(registry: Registry) -> None:
    add(registry, "mesh_inertia:exact", "rival", function="mesh_inertia", default=True)
    assert "mesh_inertia:exact" not in BY_SLOT["geom_inertia:box"].load(registry).stages


# ---- whole tables


def test_rows_without_the_name_keep_their_own() -> None:
    both = "<geom type='box' size='1 1 1'/><geom type='cylinder' size='1 1' shellinertia='true'/>"
    model = dovetail.loads(
        "<mujoco>" + BODY.format(both) + "</mujoco>", stages={"geom_inertia": "open_shell"}
    )
    assert model.stages["geom_inertia:box"] == "analytic@numpy/1"
    assert model.stages["geom_inertia:cylinder"] == "open_shell@numpy/1 (call argument)"


def test_a_choice_for_a_row_beats_one_for_its_table() -> None:
    case = BY_SLOT["geom_inertia:box"]
    model = case.load(stages={"geom_inertia": "tubes", "geom_inertia:box": "analytic"})
    assert model.stages["geom_inertia:box"] == "analytic@numpy/1 (call argument)"


# ---- checks of one's own


def test_a_check_of_ones_own_is_asked_too() -> None:
    with pytest.raises(dovetail.DovetailError, match="is too light"):
        dovetail.load("pendulum", stages={"check_model": lambda model: ["it is too light"]})
    with pytest.raises(SelectionError, match="every implementation of check_model runs"):
        dovetail.load("pendulum", stages={"check_model": "mine"})


# ---- what the model says


def test_lines_for_people() -> None:
    model = BY_SLOT["geom_inertia:box"].load(stages={"geom_inertia:box": "tubes"})
    assert compile_lines(model) == ["loaded with geom_inertia:box tubes@numpy/1 (call argument)"]
    assert compile_lines(dovetail.load("pendulum")) == []


# ---- constants computed again


def test_constants_are_computed_again_as_they_were(registry: Registry) -> None:
    case = BY_SLOT["finalize_model"]
    model = case.load(registry, stages={"finalize_model": "mine"})
    model.dof_invweight0[:] = 1.0
    dovetail.set_constants(model, registry)
    assert case.shows(model)
    with pytest.raises(SelectionError, match=r"made with mine@numpy/1 of acme-pack .*not installed here"):
        dovetail.set_constants(model)
    dovetail.set_constants(model, stages={"finalize_model": "dynamics"})
    assert not case.shows(model)


def test_a_simulation_computes_constants_with_the_function_it_was_given(tmp_path: Path) -> None:
    case = BY_SLOT["finalize_model"]
    (tmp_path / "model.xml").write_text(case.xml)
    sim = dovetail.Simulation(tmp_path / "model.xml", stages={"finalize_model": finalize_model})
    sim.model.dof_invweight0[:] = 1.0
    sim.set_constants()
    assert case.shows(sim.model)

"""What is superseded works on, says once what to use instead, is listed, and goes in time."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import dovetail
from dovetail import deprecation
from dovetail.config import Config
from dovetail.contracts import store
from dovetail.deprecation import Deprecation, DovetailDeprecationWarning
from dovetail.errors import PluginError
from dovetail.implementation import Implementation
from dovetail.planning.planner import compile_plan
from dovetail.registry import Registry, build_registry, default_registry

DRIVEN = """<mujoco model="driven"><worldbody><body><joint name="hinge"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator></mujoco>"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Every test hears what has been said already."""
    deprecation.forget()
    yield
    deprecation.forget()


@pytest.fixture
def model() -> dovetail.Model:
    return dovetail.loads(DRIVEN)


def add(monkeypatch: pytest.MonkeyPatch, *entries: Deprecation) -> None:
    monkeypatch.setattr(deprecation, "TABLE", (*deprecation.TABLE, *entries))


# ---- nothing outlives its version


def test_nothing_deprecated_has_outlived_its_version() -> None:
    late = deprecation.overdue(dovetail.__version__, build_registry(third_party=False))
    assert not late, "remove these, with what keeps them working:\n" + "\n".join(map(str, late))


def test_the_next_minor_version_asks_for_everything_to_be_removed() -> None:
    major, minor = deprecation.version_of(dovetail.__version__)
    late = deprecation.overdue(f"{major}.{minor + 1}.0")
    assert [one for one in deprecation.TABLE if one.since == f"{major}.{minor}"] == late
    assert late


def test_of_other_packages_nothing_is_overdue_here() -> None:
    registry = Registry(implementations=[_old(provider="acme")])
    assert not [one for one in deprecation.overdue("9.9", registry) if one.package == "acme"]
    assert deprecation.overdue("9.9", Registry(implementations=[_old()]))[-1].old == "mass_matrix slow@numpy"


def test_what_replaces_something_exists() -> None:
    registry = build_registry(third_party=False)
    for one in deprecation.TABLE:
        if one.kind == "implementation":
            stage = one.old.split()[0]
            assert one.new in {r.name for r in registry.implementations if r.stage == stage}, one
            assert one.old.split()[1] not in {r.name for r in registry.implementations if r.stage == stage}
        elif one.kind == "module":
            importlib.import_module(one.new)
        elif one.kind == "kernel field":
            assert one.new in registry.kernel_fields
            assert one.old not in registry.kernel_fields


def test_no_old_name_stands_twice_in_the_table() -> None:
    assert len({(one.kind, one.old) for one in deprecation.TABLE}) == len(deprecation.TABLE)


# ---- labels


def test_an_old_label_chooses_what_it_is_called_now_and_warns_once(model: dovetail.Model) -> None:
    with pytest.warns(DovetailDeprecationWarning) as caught:
        sim = dovetail.Simulation(model, backend="numpy", stages={"transmission": "standard@numpy"})
    assert str(caught[0].message) == (
        "call argument: implementation transmission standard is deprecated since 0.1 (it has its algorithm's name); "
        "use moment_arms; it goes in 0.2"
    )
    assert caught[0].filename == __file__
    assert len(caught) == 1
    assert sim.plan.implementations["transmission"] == "moment_arms@numpy/1"
    dovetail.Simulation(
        model, backend="numpy", stages={"transmission": "standard"}
    )  # warnings are errors here


def test_a_label_that_never_existed_is_an_error(model: dovetail.Model) -> None:
    with pytest.raises(
        dovetail.DovetailError, match="'common', asked for by call argument, is not installed"
    ):
        dovetail.Simulation(model, stages={"transmission": "common"})


def test_a_state_of_old_labels_is_resumed_with_a_word_about_the_names(
    model: dovetail.Model, tmp_path: Path
) -> None:
    sim = dovetail.Simulation(model, backend="numpy")
    former = {**sim.plan.implementations, "transmission": "standard@numpy/1"}
    store.save(sim.data, tmp_path / "old.npz", implementations=former)
    with pytest.warns(DovetailDeprecationWarning, match=r"old\.npz: .*standard .*use moment_arms") as caught:
        sim.load(tmp_path / "old.npz")
    assert len(caught) == 1  # the algorithm is the same: nothing else continues the run


# ---- records


def _old(**changes: str) -> Implementation:
    given = {
        "stage": "mass_matrix",
        "name": "slow",
        "backend": "numpy",
        "target": "dovetail.plugins.mass_matrix.crb_numpy:mass_matrix",
        "deprecated": "crb is quicker",
        "replaced_by": "crb",
        "since": "0.1",
    }
    return Implementation(**{**given, **changes})  # type: ignore[arg-type]


def test_a_superseded_implementation_runs_and_warns_once_with_its_replacement(model: dovetail.Model) -> None:
    registry = default_registry().copy()
    registry.add(_old(provider="acme"))
    config = Config.of_call({"mass_matrix": "slow"}, backend="numpy")
    with pytest.warns(DovetailDeprecationWarning) as caught:
        plan = compile_plan(model, config, registry=registry)
    assert [str(w.message) for w in caught] == [
        "call argument: implementation mass_matrix slow@numpy is deprecated since acme 0.1 (crb is quicker); "
        "use crb; it goes in 0.2 of acme"
    ]
    plan.step(plan.make_data())
    compile_plan(model, config, registry=registry)


def test_one_that_nobody_chooses_says_nothing(model: dovetail.Model) -> None:
    registry = default_registry().copy()
    registry.add(_old())
    compile_plan(model, Config(), registry=registry)


@pytest.mark.parametrize(
    ("changes", "phrase"),
    [
        ({"since": ""}, "say both, since as a minor version"),
        ({"since": "soon"}, "since = 'soon'; say both"),
        ({"since": "", "deprecated": ""}, "is replaced_by 'crb'; say with deprecated="),
    ],
)
def test_a_record_says_why_and_since_when(changes: dict[str, str], phrase: str) -> None:
    with pytest.raises(PluginError, match=phrase):
        _old(**changes)


# ---- modules, names, keywords


def test_an_old_module_is_the_new_one_under_its_old_name() -> None:
    code = (
        "import warnings\nwarnings.simplefilter('always')\n"
        "import dovetail.guard, dovetail.bad_states\nfrom dovetail.planner import compile_plan\n"
        "import dovetail.guard\n"
        "assert dovetail.guard is dovetail.bad_states\n"
        "assert dovetail.bad_states.__spec__.name == 'dovetail.bad_states'\n"
        "print(compile_plan.__module__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "dovetail.planning.planner\n"
    said = [line for line in done.stderr.splitlines() if "DovetailDeprecationWarning" in line]
    assert [line.partition("Warning: ")[2] for line in said] == [
        "module dovetail.guard is deprecated since 0.1; use dovetail.bad_states; it goes in 0.2",
        "module dovetail.planner is deprecated since 0.1; use dovetail.planning.planner; it goes in 0.2",
    ]
    assert said[0].startswith("<string>:3:")


def test_a_module_that_never_existed_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"dovetail\.guards"):
        importlib.import_module("dovetail.guards")


def test_an_old_name_of_the_package_is_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, Deprecation("name", "dovetail.mass_solve", "dovetail.solve_m", "0.1"))
    with pytest.warns(
        DovetailDeprecationWarning, match=r"name dovetail\.mass_solve .* use dovetail\.solve_m"
    ):
        assert dovetail.mass_solve is dovetail.solve_m  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="module 'dovetail' has no attribute 'mass_salve'"):
        _ = dovetail.mass_salve  # type: ignore[attr-defined]


def test_an_old_keyword_is_passed_on_by_its_new_name(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, Deprecation("keyword", "dovetail.grow(by_factor)", "factor", "0.1"))

    @deprecation.with_old_keywords("dovetail.grow")
    def grow(size: float, *, factor: float = 1) -> float:
        return size * factor

    with pytest.warns(DovetailDeprecationWarning, match=r"keyword dovetail\.grow\(by_factor\) .* use factor"):
        assert grow(2, by_factor=3) == 6  # type: ignore[call-arg]
    assert grow(2, factor=4) == 8
    with pytest.raises(TypeError, match="got factor twice: also by its old name by_factor"):
        grow(2, factor=4, by_factor=3)  # type: ignore[call-arg]


def test_kernels_know_their_old_words() -> None:
    from dovetail.backends.lanes.kernel import Kernel, LaneLayout

    layout = LaneLayout.__new__(LaneLayout)
    object.__setattr__(layout, "frozen_model", "the model")
    kernel = Kernel.__new__(Kernel)
    object.__setattr__(kernel, "layout", layout)
    object.__setattr__(kernel, "stage", "energy")
    with pytest.warns(DovetailDeprecationWarning, match=r"energy: name k\.structure .* use k\.frozen_model"):
        assert kernel.structure == "the model"


def test_a_record_may_name_a_kernel_field_as_it_was_called() -> None:
    registry = default_registry().copy()
    with pytest.warns(
        DovetailDeprecationWarning, match=r"contact_list\.slot .* use contact_list\.index_in_pair"
    ):
        registry.add(_old(deprecated="", since="", replaced_by="", reads="qpos contact_list.slot"))
    assert registry.get("mass_matrix", "slow@numpy").reads == ("qpos", "contact_list.index_in_pair")


# ---- options, settings, variables


@pytest.mark.filterwarnings("always")
def test_an_old_option_is_taken_as_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from dovetail.cli import main

    add(monkeypatch, Deprecation("option", "fields --written-by", "--writer", "0.1"))
    for words in (["--written-by", "energy"], ["--written-by=energy"]):
        deprecation.forget()
        answer = CliRunner().invoke(main, ["fields", *words, "--json"])
        assert answer.exit_code == 0
        assert '"name": "energy"' in answer.stdout
        assert answer.stderr.strip() == (
            "warning: option fields --written-by is deprecated since 0.1; use --writer; it goes in 0.2"
        )
    assert CliRunner().invoke(main, ["fields", "--", "--written-by"]).exit_code == 2


def test_an_old_setting_and_variable_are_read_as_the_new_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add(
        monkeypatch,
        Deprecation("setting", "cpus", "threads", "0.1"),
        Deprecation("variable", "DOVETAIL_CPUS", "DOVETAIL_THREADS", "0.1"),
    )
    file = tmp_path / "dovetail.toml"
    file.write_text('backend = "numpy"\ncpus = 3\n')
    with pytest.warns(DovetailDeprecationWarning, match=r"dovetail\.toml:2: setting cpus .* use threads"):
        found = Config.of_file(file)
    assert found.settings["threads"].value == 3
    assert found.settings["threads"].origin == f"{file}:2"
    with pytest.warns(DovetailDeprecationWarning, match="variable DOVETAIL_CPUS .* use DOVETAIL_THREADS"):
        assert Config.of_environment({"DOVETAIL_CPUS": "2"}).settings["threads"].value == 2
    both = {"DOVETAIL_CPUS": "2", "DOVETAIL_THREADS": "4"}
    assert Config.of_environment(both).settings["threads"].value == 4


# ---- listing


def test_stages_lists_what_is_deprecated() -> None:
    from click.testing import CliRunner

    from dovetail.cli import main

    text = CliRunner().invoke(main, ["stages", "--deprecated"]).stdout
    assert "transmission standard" in text
    assert "dovetail.bad_states" in text
    listed = json.loads(CliRunner().invoke(main, ["stages", "--deprecated", "--json"]).stdout)["deprecated"]
    assert len(listed) >= len(deprecation.TABLE)
    assert listed[0] == {
        "kind": "implementation",
        "old": "actuation standard",
        "new": "gain_bias",
        "since": "0.1",
        "reason": "it has its algorithm's name",
        "package": "dovetail",
        "removed_in": "0.2",
    }
    answer = CliRunner().invoke(main, ["stages", "integrate", "--deprecated"])
    assert answer.exit_code == 2
    assert "leave STAGE out" in answer.stderr


def test_users_see_the_warning_without_asking_for_it() -> None:
    """Python hides DeprecationWarnings outside of `__main__`; this one it shows."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        assert not issubclass(DovetailDeprecationWarning, DeprecationWarning)
        assert issubclass(DovetailDeprecationWarning, FutureWarning)

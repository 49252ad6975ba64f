"""A package by someone else: installed with pip, found, chosen, at work, switched off; and one that is broken."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
Run = Callable[..., subprocess.CompletedProcess[str]]

MODEL = """
<mujoco model="mill">
  <option timestep="0.002" wind="3 0 0"><flag constraint="disable"/></option>
  <worldbody>
    <body name="balloon" pos="0 0 1"><freejoint/><geom size="0.1" mass="1"/></body>
    <body name="mast">
      <joint name="yaw" axis="0 0 1" damping="0.1"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0 0 1"/>
      <body name="rotor" pos="0 0.1 1">
        <joint name="spin" type="ball"/>
        <geom type="box" size="0.4 0.02 0.05" pos="0.1 0 0"/>
        <body name="blade" pos="0.4 0 0"><geom type="ellipsoid" size="0.1 0.02 0.2"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def run(start: Run, tmp_path: Path) -> Run:
    """Run Python where the named packages are installed, in an empty folder with the model in it."""
    (tmp_path / "mill.xml").write_text(MODEL)
    return partial(start, packages=("dovetail_windmill",))


@pytest.fixture
def answers(run: Run, ask: Callable[..., Any]) -> Callable[..., Any]:
    """Run a script that sets `answer` from `model`, and give it back."""

    def asked(script: str, **options: Any) -> Any:
        text = "model = dovetail.load('mill.xml')\n" + textwrap.dedent(script)
        return ask(text, **{"packages": ("dovetail_windmill",), **options})

    return asked


def listed(run: Run, **options: Any) -> dict[str, Any]:
    done = run("-c", "from dovetail.cli import main; main()", "plugins", "--json", **options)
    return {plugin["name"]: plugin for plugin in json.loads(done.stdout)["plugins"]}


def test_it_is_listed_with_its_version_and_what_it_offers(run: Run) -> None:
    windmill = listed(run)["windmill"]
    assert (windmill["distribution"], windmill["version"], windmill["status"]) == (
        "dovetail-windmill",
        "1.2.0",
        "active",
    )
    assert windmill["implementations"] == [
        "passive_force:wind quadratic@numpy",
        "passive_force:wind quadratic@native",
        "passive_force:wind quadratic@taichi",
        "bias_force projection@numpy",
    ]


def test_its_stage_is_used_when_chosen_and_the_plan_says_where_it_came_from(
    answers: Callable[..., Any],
) -> None:
    default, chosen, by_variable = (
        answers("answer = dovetail.Simulation(model).plan.explain()"),
        answers("answer = dovetail.Simulation(model, stages={'bias_force': 'projection'}).plan.explain()"),
        answers("answer = dovetail.Simulation(model).plan.explain()", DOVETAIL_STAGE_BIAS_FORCE="projection"),
    )
    assert "rne@" in default
    assert "projection@numpy" in chosen
    assert "from dovetail-windmill)" in chosen
    assert "(environment DOVETAIL_STAGE_BIAS_FORCE" in by_variable


def test_its_stage_gives_the_references_motion(answers: Callable[..., Any]) -> None:
    largest = answers(
        """
        sims = [dovetail.Simulation(model, stages={'bias_force': name}) for name in ('rne', 'projection')]
        for sim in sims:
            sim.data.qvel = np.linspace(-2, 3, model.nv)
            sim.step(50)
        a, b = (sim.data for sim in sims)
        answer = [float(abs(a.qfrc_bias - b.qfrc_bias).max()), float(abs(a.qpos - b.qpos).max())]
        """
    )
    assert max(largest) < 1e-10


def test_its_force_waits_until_it_is_asked_for(answers: Callable[..., Any]) -> None:
    """Installing a package alone changes no motion; a call, a row's name or a variable asks for it."""
    script = """
        sims = [
            dovetail.Simulation(model),
            dovetail.Simulation(model, plugins="windmill"),
            dovetail.Simulation(model, plugins=["dovetail-windmill"]),
            dovetail.Simulation(model, stages={"passive_force:wind": "quadratic"}),
        ]
        for sim in sims:
            sim.forward()
        answer = [bool(sim.data.qfrc_passive[0]) for sim in sims], sims[0].plan.explain()
        """
    acts, explained = answers(script)
    assert acts == [False, True, True, True]
    assert "installed, not asked for: passive_force:wind quadratic@numpy of dovetail-windmill" in explained
    assert answers(script, DOVETAIL_PLUGINS="windmill")[0] == [True] * 4


def test_its_force_acts_by_the_drag_law(answers: Callable[..., Any]) -> None:
    answer = answers(
        """
        sim = dovetail.Simulation(model, plugins="windmill", backend="numpy")
        sim.forward()
        still = sim.data.qfrc_passive[:3].tolist()
        force = sim.data.extra['windmill:force'][model.body('balloon').id].tolist()
        sim.step(1000)
        answer = still, force, float(sim.data.qvel[0])
        """
    )
    still, force, speed = answer
    drag = 0.5 * 1.2 * 0.47 * 3.141592653589793 * 0.1**2 * 3.0**2
    assert still == pytest.approx([drag, 0.0, 0.0], abs=1e-12)
    assert force == pytest.approx([drag, 0.0, 0.0], abs=1e-12)
    assert 0.0 < speed < 3.0


def test_its_taichi_sibling_joins_the_fused_kernel_and_agrees(answers: Callable[..., Any]) -> None:
    if not any(importlib.util.find_spec(name) for name in ("quadrants", "taichi")):
        pytest.skip("no Taichi runtime is installed")
    segments, label, error = answers(
        """
        plan = dovetail.Simulation(model, nworld=5, backend='taichi', plugins="windmill").plan
        sims = [
            dovetail.Simulation(model, nworld=5, stages={'passive_force:wind': '@' + backend}, keep='all')
            for backend in ('numpy', 'taichi')
        ]
        for sim in sims:
            sim.data.qvel = np.random.default_rng(1).normal(size=(5, model.nv))
            sim.step(20)
        a, b = (np.asarray(sim.data.qfrc_passive) for sim in sims)
        answer = len(plan.segments()), plan.choices['passive_force:wind'].record.label, float(abs(a - b).max())
        """
    )
    assert (segments, label) == (1, "quadratic@taichi")
    assert error < 1e-12


def test_it_disappears_when_disabled(run: Run, answers: Callable[..., Any]) -> None:
    script = "sim = dovetail.Simulation(model); sim.forward(); answer = sim.plan.explain(), sim.data.qfrc_passive[0]"
    text, force = answers(script, DOVETAIL_DISABLED_PLUGINS="windmill")
    assert "wind" not in text.replace("windmill", "")
    assert force == 0.0
    assert listed(run, DOVETAIL_DISABLED_PLUGINS="dovetail-windmill")["windmill"]["status"] == "disabled"
    asked = "dovetail.Simulation(model, stages={'bias_force': 'projection'}); answer = 0"
    done = run(
        "-c",
        f"import dovetail; model = dovetail.load('mill.xml'); {asked}",
        DOVETAIL_DISABLED_PLUGINS="windmill",
    )
    assert done.returncode != 0
    assert "'projection', asked for by call argument, is not installed" in done.stderr


def test_a_state_saved_under_it_warns_when_resumed_without(answers: Callable[..., Any]) -> None:
    answers(
        """
        sim = dovetail.Simulation(model, plugins='windmill', backend='numpy')
        sim.step(3)
        sim.save('run.npz')
        answer = 0
        """
    )
    warned = answers(
        """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            sim = dovetail.Simulation(model, backend='numpy')
            sim.load('run.npz')
        answer = [str(w.message) for w in caught]
        """,
        DOVETAIL_DISABLED_PLUGINS="windmill",
    )
    assert len(warned) == 1
    ran = "passive_force:wind ran as quadratic@numpy/1 of dovetail-windmill"
    assert f"{ran} and continues as nothing" in warned[0]


@pytest.mark.slow
def test_it_passes_the_house_rules(run: Run, tmp_path: Path) -> None:
    rules = HERE / "dovetail_windmill" / "tests" / "test_house_rules.py"
    shutil.copy(rules, tmp_path)
    options = ["-q", "-p", "no:cacheprovider", "-k", "not taichi"]
    done = run("-m", "pytest", *options, "test_house_rules.py")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


# ---- the broken one


def test_a_broken_package_warns_with_its_name_and_stops_nobody(run: Run) -> None:
    both = ("dovetail_rusty", "dovetail_windmill")
    made = "dovetail.Simulation('mill.xml', plugins='windmill')"
    script = f"import dovetail; sim = {made}; sim.step(); print(sim.plan.explain())"
    done = run("-c", script, packages=both)
    assert done.returncode == 0, done.stderr
    warning = "plugin 'rusty' of dovetail-rusty is broken and left out: ModuleNotFoundError: No module named"
    assert done.stderr.count(warning) == 1
    assert "from dovetail-windmill" in done.stdout
    assert listed(run, packages=both)["rusty"]["status"] == "broken"


def test_choosing_what_a_broken_package_should_offer_tells_why_it_is_not_there(run: Run) -> None:
    script = "import dovetail; dovetail.Simulation('mill.xml', stages={'bias_force': 'rusty'})"
    done = run("-W", "ignore", "-c", script, packages=("dovetail_rusty",))
    assert done.returncode != 0
    assert "plugin 'rusty' of dovetail-rusty could not be loaded: ModuleNotFoundError" in done.stderr


def test_a_disabled_broken_package_is_silent(run: Run) -> None:
    script = "import dovetail; dovetail.Simulation('mill.xml').step()"
    done = run("-W", "error", "-c", script, packages=("dovetail_rusty",), DOVETAIL_DISABLED_PLUGINS="rusty")
    assert done.returncode == 0, done.stderr

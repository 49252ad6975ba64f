"""A package by someone else: installed with pip, found, chosen, at work, switched off; and one that is broken."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
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


def pip_install(package: str, target: Path, scratch: Path) -> None:
    """Install without network from a copy, because a build writes into its source folder."""
    source = scratch / package
    shutil.copytree(
        HERE / package, source, ignore=shutil.ignore_patterns("*.egg-info", "build", "__pycache__")
    )
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *flags, "--target", str(target), str(source)],
        check=True,
        env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"},
    )


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder per package, as site-packages would be."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools, which builds the packages, is not installed")
    folders = {}
    for package in ("dovetail_windmill", "dovetail_rusty"):
        scratch = tmp_path_factory.mktemp(package)
        folders[package] = scratch / "site"
        pip_install(package, folders[package], scratch)
    return folders


@pytest.fixture
def run(installed: dict[str, Path], tmp_path: Path) -> Run:
    """Run Python where the named packages are installed, in an empty folder with the model in it."""
    (tmp_path / "mill.xml").write_text(MODEL)

    def start(*arguments: str, packages: tuple[str, ...] = ("dovetail_windmill",), **variables: str) -> Any:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("DOVETAIL_")}
        path = os.pathsep.join(str(installed[package]) for package in packages)
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**clean, "PYTHONPATH": path, **variables},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return start


@pytest.fixture
def answers(run: Run) -> Callable[..., Any]:
    """Run a script that sets `answer`, and give it back."""

    def ask(script: str, **options: Any) -> Any:
        head = "import json, dovetail, numpy as np\nmodel = dovetail.load('mill.xml')\n"
        done = run("-c", head + textwrap.dedent(script) + "\nprint('\\n' + json.dumps(answer))", **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return ask


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
    assert "rne@numpy" in default
    assert "projection@numpy     (call argument; from dovetail-windmill)" in chosen
    assert "(environment DOVETAIL_STAGE_BIAS_FORCE; from dovetail-windmill)" in by_variable


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


def test_its_force_acts_by_the_drag_law(answers: Callable[..., Any]) -> None:
    answer = answers(
        """
        sim = dovetail.Simulation(model)
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
        plan = dovetail.Simulation(model, nworld=5, backend='taichi').plan
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
    answers("sim = dovetail.Simulation(model); sim.step(3); sim.save('run.npz'); answer = 0")
    warned = answers(
        """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            sim = dovetail.Simulation(model)
            sim.load('run.npz')
        answer = [str(w.message) for w in caught]
        """,
        DOVETAIL_DISABLED_PLUGINS="windmill",
    )
    assert len(warned) == 1
    assert "passive_force:wind ran as quadratic@numpy/1 and continues as nothing" in warned[0]


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
    script = "import dovetail; sim = dovetail.Simulation('mill.xml'); sim.step(); print(sim.plan.explain())"
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

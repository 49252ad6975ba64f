"""Names of the drop-in's package: enumerations, constants, what is missing, and standing in for `mujoco`."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap

import mujoco
import numpy as np
import pytest

import dovetail.mj as ours
from dovetail.mj.enums import ENUMS


@pytest.mark.parametrize("name", sorted(ENUMS))
def test_enumerations_have_mujocos_members(name: str) -> None:
    mine, theirs = getattr(ours, name), getattr(mujoco, name)
    assert {k: int(v) for k, v in mine.__members__.items()} == {
        k: int(v) for k, v in theirs.__members__.items()
    }
    for member in mine:
        assert str(member) == f"{member}" == str(theirs(int(member)))
        assert repr(member) == repr(theirs(int(member)))
        assert pickle.loads(pickle.dumps(member)) is member


def test_there_are_all_enumerations_and_constants() -> None:
    assert sorted(ENUMS) == sorted(name for name in dir(mujoco) if name.startswith("mjt"))
    for name, value in vars(mujoco._constants).items():
        if name.startswith("mj"):
            assert getattr(ours, name) == value, name
    assert ours.__version__ == mujoco.__version__


def test_enumerations_count_index_and_are_keys() -> None:
    hinge = ours.mjtJoint.mjJNT_HINGE
    assert ("a", "b", "c", "d")[hinge] == "d"
    assert {3: "x"}[hinge] == "x"
    assert np.arange(5)[hinge] == 3
    assert (hinge | 4, hinge << 1, -hinge, hinge / 2, 7 % hinge) == (7, 6, -3, 1.5, 1)
    assert f"{hinge:03d}" == "003"
    assert np.zeros(4)[: ours.mjtJoint.mjJNT_SLIDE].shape == (2,)
    with pytest.raises(ValueError, match="1000"):
        ours.mjtJoint(1000)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("mjr_render", "dovetail.Renderer"),
        ("MjrContext", "dovetail.Renderer"),
        ("mj_loadPluginLibrary", "plugins"),
        ("HEADERS_DIR", "no C library"),
        ("MjModell", "did you mean 'MjModel'"),
        ("mj_forwart", "did you mean 'mj_forward'"),
    ],
)
def test_what_is_missing_says_what_to_use_instead(name: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=f"dovetail.mj has no {name}.*{instead}"):
        getattr(ours, name)


def test_the_names_are_listed() -> None:
    names = dir(ours)
    assert {"MjModel", "MjData", "mj_step", "mjtObj", "mjPI", "FatalError", "install"} <= set(names)
    assert all(hasattr(ours, name) for name in names)


# ---- standing in for mujoco, in processes of their own


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_installed_it_is_what_others_import() -> None:
    assert (
        run("""
        import sys
        import dovetail.mj
        assert not dovetail.mj.installed()
        dovetail.mj.install()
        import mujoco
        import mujoco._structs
        from mujoco import MjModel, _enums
        assert mujoco is dovetail.mj and dovetail.mj.installed()
        assert MjModel is dovetail.mj.structs.MjModel is mujoco._structs.MjModel
        assert sys.modules["mujoco._structs"] is sys.modules["dovetail.mj.structs"]
        assert sys.modules["dovetail.mj.structs"].__spec__.name == "dovetail.mj.structs"
        dovetail.mj.uninstall()
        assert not any(name.split(".")[0] == "mujoco" for name in sys.modules)
        import mujoco as real
        print(real is dovetail.mj, hasattr(real, "HEADERS_DIR"))
        """)
        == "False True"
    )


def test_it_is_undone_at_the_end_of_a_with() -> None:
    assert (
        run("""
        import dovetail.mj
        with dovetail.mj.install() as package:
            import mujoco
            print(mujoco is package is dovetail.mj)
        print(dovetail.mj.installed())
        """)
        == "True\nFalse"
    )


def test_after_mujoco_itself_it_is_refused() -> None:
    assert (
        run("""
        import mujoco
        import dovetail.mj
        try:
            dovetail.mj.install()
        except ImportError as error:
            print("imported already" in str(error), dovetail.mj.installed())
        """)
        == "True False"
    )


def test_modules_that_are_missing_say_so() -> None:
    assert (
        run("""
        import dovetail.mj
        dovetail.mj.install()
        try:
            import mujoco.mjx
        except ModuleNotFoundError as error:
            print(error)
        """)
        == "dovetail.mj has no mjx: a batch of worlds is dovetail.Simulation(model, nworld=…)"
    )

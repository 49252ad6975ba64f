"""The bundle mujoco-4 gives what mujoco 4.0.0 gave when record.py ran; with that version installed, what it gives."""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

import record  # noqa: E402

import dovetail  # noqa: E402

RECORDED = json.loads(record.FILE.read_text())
MODELS = RECORDED["models"]
LISTS = ("includemargin", "exclude", "dist", "qacc")
EXACT = 1e-9


def installed() -> str:
    try:
        return version("mujoco")
    except PackageNotFoundError:
        return ""


def ours(text: str, semantics: str, backend: str = "numpy") -> dict[str, Any]:
    sim = dovetail.Simulation(
        dovetail.loads(text, semantics=semantics, config=dovetail.Config()),
        backend=backend,  # type: ignore[arg-type]
        keep="all",
        config=dovetail.Config(),
    )
    sim.forward()
    data, n = sim.data, int(sim.data.ncon)
    contact = {name: np.asarray(getattr(data.contact, name))[:n].tolist() for name in LISTS[:3]}
    return {
        "sleep_tolerance": float(sim.model.opt.sleep_tolerance),
        "ncon": n,
        "nefc": int(data.nefc),
        **contact,
        "qacc": np.asarray(data.qacc).tolist(),
    }


def assert_alike(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name in ("ncon", "nefc", "sleep_tolerance"):
        assert found[name] == wanted[name], name
    for name in LISTS:
        np.testing.assert_allclose(found[name], wanted[name], rtol=EXACT, atol=EXACT, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
def test_the_bundle_gives_what_was_recorded(name: str) -> None:
    assert_alike(ours(MODELS[name]["text"], "mujoco-4"), MODELS[name])


def test_the_default_rules_do_not_give_it() -> None:
    """Else the tests above could not fail."""
    names = ("margins and gaps at 3.5 mm", "a pair's own at 4.5 mm", "override at 20.2 mm", "mesh on mesh")
    for name in (*names, "nothing said"):
        with pytest.raises(AssertionError):
            assert_alike(ours(MODELS[name]["text"], "mujoco-3.4"), MODELS[name])


def test_records_are_of_one_version_and_of_these_models() -> None:
    assert RECORDED["mujoco"] == record.VERSION
    assert {name: entry["text"] for name, entry in MODELS.items()} == record.texts()


@pytest.mark.skipif(
    installed() != record.VERSION, reason=f"needs mujoco {record.VERSION}; see tox -e mujoco4"
)
@pytest.mark.parametrize("name", MODELS)
def test_records_are_what_mujoco_says(name: str) -> None:
    assert_alike(record.said(MODELS[name]["text"]), MODELS[name])

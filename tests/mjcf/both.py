"""What MuJoCo and dovetail say of one document: the same model, or both refuse it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import comparing
import numpy as np
import pytest
from compiling import compile_file, compile_text

from dovetail.errors import DovetailError
from dovetail.mjcf import Compiled

_NEEDS_DYNAMICS = ("tendon_length", "eq_data")
"""What `finalize_model` adds."""
POSES = [f"{kind}_{part}" for kind in ("body", "geom", "site", "cam") for part in ("pos", "quat")]
POSES += ["light_pos", "light_dir", "jnt_pos", "jnt_axis"]
NONE: Mapping[str, str | bytes] = {}


def disagreement(xml: str, assets: Mapping[str, str | bytes] = NONE) -> list[str]:
    """What dovetail and MuJoCo do not agree on; a document that both refuse is agreed on."""
    return _compared(lambda: _theirs(xml, assets), lambda: compile_text(xml, assets=assets))


def disagreement_on_file(path: Path) -> list[str]:
    """The same for a file."""
    mujoco = pytest.importorskip("mujoco")
    return _compared(lambda: mujoco.MjModel.from_xml_path(str(path)), lambda: compile_file(path))


def accepted(xml: str, assets: Mapping[str, str | bytes] = NONE) -> Any:
    """MuJoCo's model; to be sure that a document is one that it accepts."""
    return _theirs(xml, assets)


def other_bits(ours: Compiled, theirs: Any) -> list[str]:
    """Poses that differ in any bit."""
    return [
        f"{name}: {int((ours.values[name] != getattr(theirs, name)).sum())} numbers"
        for name in POSES
        if not np.array_equal(ours.values[name], getattr(theirs, name))
    ]


def _theirs(xml: str, assets: Mapping[str, str | bytes]) -> Any:
    mujoco = pytest.importorskip("mujoco")
    given = {name: data.encode() if isinstance(data, str) else data for name, data in assets.items()}
    return mujoco.MjModel.from_xml_string(xml, given)


def _compared(theirs: Any, ours: Any) -> list[str]:
    (model, refusal), (compiled, error) = _outcome(theirs), _outcome(ours)
    if bool(refusal) != bool(error):
        return [f"MuJoCo: {refusal or 'accepts'}; dovetail: {error or 'accepts'}"]
    if refusal:
        return []
    found = comparing.differences(compiled, model, 1e-9)
    return [line for line in found if not line.startswith(_NEEDS_DYNAMICS)]


def _outcome(load: Any) -> tuple[Any, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return load(), ""
        except (DovetailError, ValueError) as problem:
            return None, str(problem)

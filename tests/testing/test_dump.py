"""A dump: what is written is read again, what is damaged is refused, and what changed is said."""

from __future__ import annotations

from pathlib import Path

import attrs
import numpy as np
import pytest

import dovetail
from dovetail.compare.dump import Dump, replay
from dovetail.compare.shadow import Shadow
from dovetail.errors import FileFormatError, UnknownImplementationError
from dovetail.testing.samples import sample


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Of two integrators that differ."""
    path = tmp_path / "first.npz"
    shadow = Shadow("integrate", "rk4@numpy", every=2, worlds=[1], dump=path)
    sim = dovetail.Simulation(sample("chain"), nworld=3, wrap=[shadow])
    sim.data.qvel[...] = 1.0
    sim.step(2)
    return path


def test_everything_is_read_again(dump: Path) -> None:
    found = Dump.load(dump)
    assert (found.worlds, found.nworld, found.step, found.steps) == ((1,), 1, 1, 1)
    assert found.ours.stages["integrate"] == "euler@numpy"
    assert found.theirs.stages["integrate"] == "rk4@numpy"
    assert found.model.nv == sample("chain").nv
    assert found.inputs["qvel"].shape == (1, found.model.nv)
    assert found.divergence is not None
    assert found.divergence.world == 1


def test_replay_shows_the_same_numbers(dump: Path) -> None:
    recorded = Dump.load(dump).divergence
    report = replay(dump)
    assert report.reproduced
    assert not report.ok
    assert report.divergence == recorded
    assert report.versions == ()


def test_a_dump_of_what_agrees_now_says_so(dump: Path) -> None:
    found = Dump.load(dump)
    mended = attrs.evolve(found, ours=attrs.evolve(found.ours, stages=found.theirs.stages))
    report = replay(mended)
    assert not report.reproduced
    assert report.headline().startswith("not reproduced; both sides agree now; was: step 1")


def test_other_versions_are_named(dump: Path) -> None:
    older = attrs.evolve(Dump.load(dump), versions={"numpy": "0.1"})
    assert replay(older).versions == (f"numpy {np.__version__}, then 0.1",)


def test_an_implementation_that_is_not_there_is_named(dump: Path) -> None:
    found = Dump.load(dump)
    stages = {**found.theirs.stages, "integrate": "nobodys@numpy"}
    with pytest.raises(UnknownImplementationError, match="nobodys"):
        replay(attrs.evolve(found, theirs=attrs.evolve(found.theirs, stages=stages)))


def test_files_that_are_no_dumps_are_refused(dump: Path, tmp_path: Path) -> None:
    other = tmp_path / "state.npz"
    dovetail.Simulation(sample("chain")).save(other)
    with pytest.raises(FileFormatError, match="not in the format dovetail-dump-1"):
        replay(other)
    dump.write_bytes(dump.read_bytes()[:-500])
    with pytest.raises(FileFormatError, match="damaged"):
        replay(dump)

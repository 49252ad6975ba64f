"""Small models that many tests share, compiled afresh for each test because tests edit them; and which process runs
what."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lane_backend import lanes_missing

import dovetail
from dovetail import Model
from dovetail.backend import REFERENCE
from dovetail.backends.native.poison import VARIABLE
from dovetail.errors import MissingDependencyError
from dovetail.planning import planner
from dovetail.planning.auto import Preferred

os.environ.setdefault(
    "DOVETAIL_MODEL_CACHE", "0"
)  # tests look at the compiler; those of the cache ask for it

BY_NAME_ONLY = Preferred(REFERENCE, "tests name the backend that they mean")
"""What `auto` is in tests but those of it: claims are about the reference, and no kernel is to be compiled for each
of hundreds of models."""

planner.preferred = lambda *_, **__: BY_NAME_ONLY


PENDULUM = """
<mujoco model="pendulum">
  <option timestep="0.002"><flag constraint="disable"/></option>
  <worldbody>
    <body name="arm">
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom name="rod" type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator>
</mujoco>
"""

ZOO = """
<mujoco model="zoo">
  <option timestep="0.005"><flag constraint="disable"/></option>
  <worldbody>
    <body name="target" mocap="true" pos="1 2 3" quat="0 2 0 0"><geom size="0.1"/></body>
    <body name="drone" pos="0 0 1"><freejoint name="flight"/><geom name="hull" size="0.1"/></body>
    <body name="shoulder">
      <joint name="socket" type="ball"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
      <body name="elbow" pos="0.3 0 0">
        <joint name="rail" type="slide" axis="1 0 0" stiffness="3"/>
        <joint name="bend" axis="0 1 0" ref="0.2"/>
        <geom name="forearm" type="box" size="0.1 0.02 0.02"/>
        <site name="tip" pos="0.1 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="push" joint="rail"/>
    <general name="lagged" joint="bend" dyntype="filter" dynprm="0.1"/>
  </actuator>
  <keyframe>
    <key name="rest"/>
    <key name="home" time="2.5" qpos="1 2 3 1 0 0 0 1 0 0 0 0.1 0.4" qvel="1 2 3 4 5 6 7 8 9 10 11" act="0.3"
         ctrl="0.5 0.6" mpos="4 5 6" mquat="1 0 0 0"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def pendulum() -> Model:
    """One hinge with a motor and damping."""
    return dovetail.loads(PENDULUM)


@pytest.fixture
def zoo() -> Model:
    """A joint of every type, a mocap body, an activation, names and two keyframes; nq=13, nv=11, na=1."""
    return dovetail.loads(ZOO)


POISONED = ("backends/lanes", "conformance", "kernel", "stages")
"""Folders in whose tests native kernels find NaN wherever a step must not read memory (see `native.poison`)."""


@pytest.fixture(scope="module", autouse=True)
def poisoned(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the environment says comes first: `tox -e poison` fills in huge numbers, too."""
    folder = request.path.relative_to(Path(__file__).parent).as_posix()
    with pytest.MonkeyPatch.context() as patched:
        if folder.startswith(POISONED) and VARIABLE not in os.environ:
            patched.setenv(VARIABLE, "1")
        yield


NO_LANES = bool(lanes_missing())


@contextmanager
def skipping_without_lanes() -> Iterator[None]:
    """Where nothing is there that compiles lanes (no C compiler, as a rule), what needs it is skipped."""
    try:
        yield
    except MissingDependencyError as missing:
        if NO_LANES:
            pytest.skip(str(missing))
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with skipping_without_lanes():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    with skipping_without_lanes():
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a file run in one process, so that they share its kernels, which take seconds to compile."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)

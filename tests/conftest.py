"""Small models that many tests share, compiled afresh for each test because tests edit them; what is skipped where a
compiler or MuJoCo is missing; and which process runs what."""

from __future__ import annotations

import gc
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from breadth import MARKS, mark_slow_cases
from lane_backend import lanes_missing, taichi_missing

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


TESTS = Path(__file__).parent
POISONED = ("backends/lanes", "conformance", "kernel", "stages")
"""Folders in whose tests native kernels find NaN wherever a step must not read memory (see `native.poison`)."""


@pytest.fixture(scope="module", autouse=True)
def poisoned(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the environment says comes first: `tox -e poison` fills in huge numbers, too."""
    folder = request.path.relative_to(TESTS).as_posix()
    with pytest.MonkeyPatch.context() as patched:
        if folder.startswith(POISONED) and VARIABLE not in os.environ:
            patched.setenv(VARIABLE, "1")
        yield


NO_LANES = bool(lanes_missing())
ORACLE = "mujoco"
NO_ORACLE = importlib.util.find_spec(ORACLE) is None
ABSENT = [repr(ORACLE)] * NO_ORACLE + ["'taichi'"] * bool(taichi_missing())
"""Packages that tests do without, as errors name them."""


def _wants_oracle(error: BaseException | None) -> bool:
    """Is this the import of a MuJoCo that is not here? MuJoCo 3.4.0 has no wheel for Python 3.14 and later."""
    return NO_ORACLE and isinstance(error, ImportError) and (error.name or "").split(".")[0] == ORACLE


@contextmanager
def skipping_what_is_missing() -> Iterator[None]:
    """Skip what needs lanes where nothing compiles them (no C compiler, as a rule), and what needs MuJoCo or a Taichi
    runtime where it is not installed."""
    try:
        yield
    except MissingDependencyError as missing:
        if NO_LANES or any(name in str(missing) for name in ABSENT):
            pytest.skip(str(missing))
        raise
    except ImportError as missing:
        if _wants_oracle(missing):
            pytest.skip(str(missing))
        raise


def pytest_configure(config: pytest.Config) -> None:
    for line in MARKS:
        config.addinivalue_line("markers", line)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Tests stay until the end, so that the garbage collector need not look at them, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


HEAVIEST = [
    "attacks/test_attacks",
    "backends/lanes/test_flexes_in_lanes",
    "mj/test_arrays_of_structs",
    "envs/test_v5",
    "kernel/test_edited_models",
    "kernel/test_late_fields",
    "fuzz/test_short_run",
    "thirdparty/test_acme",
    "thirdparty/test_windmill",
    "thirdparty/test_new_package",
    "distributed/test_rollouts",
    "docs/test_pages",
    "distributed/test_vector_workers",
    "backends/native/test_native_kernels",
    "conformance/golden/test_collection",
    "backends/lanes/test_steps_depend_on_state",
    "testing/test_diff_runs",
    "testing/test_certify",
]
"""Files that take longest, in descending order: begun last, one of them would keep one process busy while the others
have nothing left."""
RANK = {name: rank for rank, name in enumerate(HEAVIEST)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        return RANK.get(item.path.relative_to(TESTS).with_suffix("").as_posix(), len(RANK))

    items.sort(key=rank)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem() -> Iterator[None]:
    """The cases of a function that the default suite leaves out become slow ones (see `breadth`)."""
    made: Any = yield
    cases = [item for item in made if hasattr(item, "callspec")] if isinstance(made, list) else []
    if cases:
        mark_slow_cases(cases)
    return made


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """A file that imports MuJoCo is skipped as a whole where MuJoCo is not installed."""
    report: Any = yield
    call = getattr(report, "call", None)
    if call and call.excinfo and _wants_oracle(call.excinfo.value.__cause__):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), None, str(call.excinfo.value.__cause__))
        del report.call  # pytest would show the error to a debugger
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with skipping_what_is_missing():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    with skipping_what_is_missing():
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a file run in one process, so that they share its kernels, which take seconds to compile. Files begin
    in the order of collection, `HEAVIEST` first, not by their numbers of tests."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)

"""NaN and infinities in every input array: MuJoCo 3.4.0's warnings, resets and fields, world by world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from input_scene import BAD_WORLD, FIELDS, NWORLD, SETTINGS, Bench, differing, numbers_of

pytest.importorskip("mujoco")

INPUTS = {
    "qpos": (0, 1, 4, 5, 6, 7, 10),
    "qvel": (0, 3, 4, 5, 6),
    "act": (0, 1, 2, 3),
    "ctrl": tuple(range(10)),
    "qfrc_applied": (0, 3, 5, 8),
    "xfrc_applied": (0, 7, 13, 18, 28, 32, 36),
    "qacc_warmstart": (0, 5, 11),
    "mocap_pos": (1,),
    "mocap_quat": (2,),
    "userdata": (0,),
    "time": (0,),
}
"""Numbers of each array, of joints of every type and bodies of every kind."""
VALUES = (np.nan, np.inf, -np.inf)
NEAR = {"f32": 2e-3}
OF_ACTUATORS = ("time", "ctrl", "act", "act_dot", "actuator_force")
"""What has NaN in the same places also where nothing is reset. How far NaN spreads from joint to joint in forces and
accelerations of a state that nobody resets is chance, in MuJoCo too: it depends on the order of sums."""


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest.fixture
def set_up(bench: Bench, request: pytest.FixtureRequest) -> Iterator[str]:
    """The bench with one of the settings."""
    before = bench.edit(SETTINGS[request.param])
    yield request.param
    bench.edit(before)


def mismatch(bench: Bench, who: str, field: str, index: int, value: float, resets: bool = True) -> list[str]:
    """What is otherwise than in MuJoCo after a step with a number replaced."""
    theirs, expected = bench.theirs(field, index, value)
    ours, told = bench.ours(who, field, index, value)
    world = None if ours.nworld is None else BAD_WORLD
    near = NEAR.get(who, 1e-8)
    # what MuJoCo counted before a reset is forgotten by it
    forgotten = {"ctrl"} if resets and "qacc" in expected else set()
    found = []
    if resets or who == "numpy":
        found += [f"told of {told}, not {expected}"] if told - forgotten != expected else []
        found += differing(theirs, ours, FIELDS, world, near) if resets else []
    if not resets:
        # a kernel names the first number that was bad in a call
        found += (
            [f"told of {told}, not {expected}"] if bool(told) != bool(expected) or told - expected else []
        )
        found += differing(theirs, ours, OF_ACTUATORS, world, near)
        finite = [
            [bool(np.isfinite(numbers_of(d, n, w)).all()) for n in ("qpos", "qvel")]
            for d, w in ((theirs, None), (ours, world))
        ]
        found += [] if finite[0] == finite[1] else ["whether the state is finite"]
    return [f"{who}: {field}[{index}] = {value}: {text}" for text in found]


def all_mismatches(
    bench: Bench, who: str, setting: str, values: tuple[float, ...], every: int = 1
) -> list[str]:
    return [
        text
        for field, places in INPUTS.items()
        for index in places[::every]
        for value in values
        for text in mismatch(bench, who, field, index, value, "no autoreset" not in setting)
    ]


@pytest.mark.by_default("native-plain", "native-no limits", "batch-no autoreset")
@pytest.mark.parametrize("set_up", ["plain", "no limits", "no autoreset"], indirect=True)
@pytest.mark.parametrize("who", ["native", "batch"])
def test_a_bad_input_does_what_it_does_in_mujoco(bench: Bench, who: str, set_up: str) -> None:
    assert all_mismatches(bench, who, set_up, (np.nan,), every=3) == []
    assert mismatch(bench, who, "ctrl", 1, np.nan, "no autoreset" not in set_up) == []
    for field in ("ctrl", "qacc_warmstart"):
        assert mismatch(bench, who, field, 1, np.inf, "no autoreset" not in set_up) == []


@pytest.mark.slow
@pytest.mark.parametrize("set_up", SETTINGS, indirect=True)
@pytest.mark.parametrize("who", ["numpy", "native", "batch", "f32"])
def test_every_bad_input_does_what_it_does_in_mujoco(bench: Bench, who: str, set_up: str) -> None:
    assert all_mismatches(bench, who, set_up, VALUES) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "option",
    [
        'integrator="RK4"',
        'integrator="implicit"',
        'integrator="implicitfast"',
        'solver="CG"',
        'solver="PGS"',
        'solver="PGS" noslip_iterations="3"',
        'cone="elliptic"',
        'cone="elliptic" solver="PGS"',
        'jacobian="sparse"',
    ],
)
def test_with_every_integrator_and_solver(option: str) -> None:
    bench = Bench(option)
    found = [text for who in ("numpy", "native") for text in all_mismatches(bench, who, "plain", (np.nan,))]
    assert found == []


def test_controls_are_looked_at_before_implicit_integrators_use_them() -> None:
    """A broken control is 0 also where the derivative of forces is taken."""
    assert mismatch(Bench('integrator="implicitfast"'), "numpy", "ctrl", 1, np.nan) == []


def test_neighbours_of_a_bad_world_keep_their_bits(bench: Bench) -> None:
    clean, _ = bench.ours("batch")
    expected = {name: np.array(getattr(clean, name)) for name in FIELDS}
    others = [world for world in range(NWORLD) if world != BAD_WORLD]
    for field, places in INPUTS.items():
        for value in (np.nan, np.inf):
            data, _ = bench.ours("batch", field, places[-1], value)
            for name in FIELDS:
                now: Any = np.asarray(getattr(data, name))
                assert now[others].tobytes() == expected[name][others].tobytes(), (field, value, name)


def test_told_once_also_where_fields_are_filled_by_the_reference(bench: Bench) -> None:
    """`keep="all"` fills what the kernel does not have by another evaluation, which tells nothing again."""
    sim = bench.sim("batch")
    sim.reset()
    sim.data.ctrl[BAD_WORLD, 0] = np.nan
    with pytest.warns(RuntimeWarning, match="every control") as caught:
        sim.step()
    assert len([w for w in caught if "every control" in str(w.message)]) == 1

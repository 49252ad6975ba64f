"""What environments are given: a typed error names an argument that means nothing, before anything changes."""

import math

import gymnasium
import numpy as np
import pytest
from test_interfaces import Balance, made

from dovetail.envs import BadSeedError, DovetailEnv, Task, TaskError, Turns
from dovetail.envs.v5 import TASKS
from dovetail.errors import ArgumentError, DovetailError

NO_SEEDS = [1.5, -1, True, "3", math.nan, math.inf, np.float64(2.0), b"1", 1j, [[1, 2]], {1: 2}]
SEEDS = [None, 0, 7, 10**40, np.int64(3), np.uint8(3), np.array(3)]


@pytest.fixture(scope="module")
def single():
    return DovetailEnv(Balance())


@pytest.fixture(scope="module")
def many():
    return made(2)


def generators(env):
    return [generator.bit_generator.state for generator in env.engine.generators]


@pytest.mark.parametrize("seed", NO_SEEDS, ids=repr)
def test_what_is_no_seed_is_refused_and_changes_nothing(single, many, seed):
    for env in (single, many):
        env.reset(seed=1)
        before = generators(env)
        with pytest.raises(BadSeedError, match=r"^seed = .* should be a whole number, at least 0, or None$"):
            env.reset(seed=seed)
        assert generators(env) == before


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_seeds_are_whole_numbers_of_python_and_numpy(single, many, seed):
    for env in (single, many):
        env.reset(seed=seed)


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ([1, 2.5], r"seed\[1\] = 2.5 should be a whole number"),
        ((1, -2), r"seed\[1\] = -2 should be"),
        (["1", 2], r"seed\[0\] = '1' should be"),
        (np.array([1.0, 2.0]), r"seed\[0\] = np.float64\(1.0\) should be"),
        ([1], "seed has 1 entries for 2 environments"),
        ([], "seed has 0 entries for 2 environments"),
    ],
)
def test_a_bad_seed_among_several_is_named_and_no_world_is_seeded(many, seeds, text):
    many.reset(seed=1)
    before = generators(many)
    with pytest.raises(BadSeedError, match=text):
        many.reset(seed=seeds)
    assert generators(many) == before


def test_a_bad_seed_is_gymnasiums_error_as_well(single):
    with pytest.raises(gymnasium.error.Error):
        single.reset(seed=-1)
    with pytest.raises(ValueError, match="seed"):
        single.reset(seed=-1)


def test_seeds_give_what_gymnasium_draws(single):
    single.reset(seed=np.int64(11))
    assert single.np_random.random() == pytest.approx(draw_after_a_start(11))  # a world draws its start first


def draw_after_a_start(seed):
    generator = np.random.default_rng(seed)
    generator.uniform(-0.1, 0.1, 1)
    return generator.random()


# ---- tasks

ATTRIBUTES = {
    "frame_skip": [0, -1, 1.5, True, "2", None, math.nan, 1j],
    "control_delay": [-1, 1.5, True, "2", None],
    "max_episode_steps": [0, -1, 1.5, True, "2", math.nan],
    "unit_actions": [1, "yes", None],
    "observation_noise": [-0.1, math.nan, math.inf, "x", None, True, [0.1, -1.0], ["a"], 1j],
    "memory": [3, {"a": -1}, {"a": 1.5}, {"a": (1, -1)}, {1: 2}, None],
    "lasting": [3, [3], "gone"],
    "keep": [3, [3]],
    "per_world": [3, [3]],
    "unknown_after_reset": [3],
    "default_camera_config": [3, "far", {1: 2}],
}


@pytest.mark.parametrize(
    ("name", "value"), [(n, v) for n, values in ATTRIBUTES.items() for v in values], ids=repr
)
def test_an_attribute_of_a_task_that_means_nothing_is_named(name, value):
    task = type("Odd", (Balance,), {name: value})()
    with pytest.raises(ArgumentError, match=rf"Odd\.{name}\b"):
        DovetailEnv(task)


@pytest.mark.parametrize("task", [Balance, "ant", None])
def test_what_is_no_task_is_told(task):
    with pytest.raises(
        ArgumentError, match=r"^task = .* should be an object of a class derived from dovetail\.envs\.Task$"
    ):
        DovetailEnv(task)


def test_noise_must_be_one_number_or_one_for_each():
    with pytest.raises(TaskError, match=r"Odd.observation_noise has shape \(3,\).* one for each of the 2"):
        DovetailEnv(type("Odd", (Balance,), {"observation_noise": np.ones(3)})())
    DovetailEnv(type("Even", (Balance,), {"observation_noise": [0.1, 0.2]})()).reset(seed=0)


@pytest.mark.parametrize(
    "returned", [None, 1j, np.zeros((2, 1), complex), np.zeros((3, 1)), "x", [[None], [None]]], ids=repr
)
@pytest.mark.parametrize("delay", [0, 1])
def test_controls_of_a_task_that_are_none_are_told(returned, delay):
    class Odd(Balance):
        control_delay = delay

        def controls(self, w, action):
            return returned

    env = made(2, Odd())
    env.reset(seed=0)
    with pytest.raises(TaskError, match=r"controls of the task Odd gave .*; it should be numbers \(2, 1\)"):
        env.step(np.zeros((2, 1)))


# ---- environments

ARGUMENTS = {
    "num_envs": [0, -1, 1.5, True, "2", None],
    "max_episode_steps": [0, -1, 1.5, True, "2"],
    "physics": [3, "numpy", [1], {1: 2}],
    "render_mode": [3, "human"],
    "autoreset_mode": [3, "never"],
    "width": [0, 1.5, "2", None, True],
    "height": [-1],
    "max_geom": [0, "many"],
    "camera_id": [-2, 99, 1.5, "eye", True],
    "camera_name": ["nowhere", 3],
}


@pytest.mark.parametrize(
    ("name", "value"), [(n, v) for n, values in ARGUMENTS.items() for v in values], ids=repr
)
def test_an_argument_that_means_nothing_is_named(name, value):
    with pytest.raises(DovetailError, match=name):
        made(**{"num_envs": 2, name: value})


@pytest.mark.parametrize("options", [3, "qpos", [("qpos", 1)], {3: 4}, {"qpos": [[1j], [0.0]]}], ids=repr)
def test_options_of_a_reset_that_mean_nothing_are_told(many, options):
    with pytest.raises(ArgumentError, match="options"):
        many.reset(options=options)


def test_a_complex_state_is_refused_and_no_world_begins_anew(many):
    many.reset(seed=1)
    before = generators(many)
    width = many.engine.model.nq
    with pytest.raises(
        ArgumentError, match=r'options\["qpos"\] is no array of numbers: it has complex numbers'
    ):
        many.reset(options={"qpos": np.full((2, width), 1j)})
    assert generators(many) == before


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"parts": 0}, "parts = 0"),
        ({"parts": 1.5}, r"parts = 1\.5"),
        ({"num_envs": 0}, "num_envs = 0"),
        ({"num_envs": "4"}, "num_envs = '4'"),
    ],
)
def test_arguments_of_turns_are_checked(arguments, text):
    with pytest.raises(ArgumentError, match=text):
        Turns(made, **{"num_envs": 4, **arguments})


def test_turns_check_seeds_and_parts():
    turns = Turns(made, 4)
    with pytest.raises(BadSeedError, match=r"seed = 1\.5"):
        turns.reset(seed=1.5)
    turns.reset(seed=1)
    for part in (-1, 2, 0.5, True):
        with pytest.raises(ArgumentError, match="part"):
            turns.send(np.zeros((2, 1)), part)
    turns.close()


# ---- Gymnasium's tasks

OF_TASKS = [
    ("Ant", "frame_skip", 0),
    ("Ant", "frame_skip", 2.0),
    ("Ant", "healthy_z_range", (2.0, 1.0)),
    ("Ant", "healthy_z_range", (0.0, math.nan)),
    ("Ant", "healthy_z_range", 3.0),
    ("Ant", "healthy_reward", "much"),
    ("Ant", "healthy_reward", math.nan),
    ("Ant", "terminate_when_unhealthy", 1),
    ("Ant", "reset_noise_scale", -0.1),
    ("Ant", "xml_file", 3),
    ("Hopper", "default_camera_config", "far"),
    ("Humanoid", "contact_cost_range", (1.0,)),
    ("Reacher", "reward_dist_weight", 1j),
]


@pytest.mark.parametrize(("task", "name", "value"), OF_TASKS)
def test_arguments_of_gymnasiums_tasks_are_checked(task, name, value):
    with pytest.raises(ArgumentError, match=rf"^{name}\b"):
        TASKS[task](**{name: value})


def test_ranges_may_be_endless_and_numbers_numpys():
    TASKS["Hopper"](healthy_z_range=(np.float32(0.5), math.inf), frame_skip=np.int64(4), healthy_reward=1)


def test_a_task_of_ones_own_keeps_its_arguments_to_itself():
    class Own(Task):
        def __init__(self, frame_skip):
            self.model, self.words = "pendulum", frame_skip

    assert Own("anything").words == "anything"

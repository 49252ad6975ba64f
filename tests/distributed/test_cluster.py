"""Several nodes of Ray on this machine: work spreads over them, and a node that is lost costs time and no bits."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail.distributed import rollout, runtime, shutdown

pytest.importorskip("ray")
from test_vector_workers import Balance, action, alone, same

from dovetail.distributed import make_vec

pytestmark = pytest.mark.slow

MODEL = """
<mujoco model="pendulum">
  <worldbody>
    <body name="arm">
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom name="rod" type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" gear="0.01"/></actuator>
</mujoco>
"""
ASKED = {"nworld": 12, "nstep": 40, "block": 2, "checkpoint": 10, "noise": 0.5, "backend": "numpy"}


def steering(data, step, worlds):
    return np.sin(0.3 * step + worlds)[:, None]


@pytest.fixture(scope="module")
def cluster():
    """A head without processors for workers, where these tests are; machines join it. All listen on this machine's
    own interface."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch, runtime._quiet(), runtime._this_machine_only():
        for name, value in runtime.QUIET.items():
            patch.setenv(name, value)
        patch.setenv(runtime.CLUSTERS, "0")
        made = Cluster(initialize_head=True, head_node_args={**HERE, "num_cpus": 0})
        try:
            runtime.connect(address=made.address)
            yield made
        finally:
            shutdown()
            made.shutdown()


HERE = {"node_ip_address": "127.0.0.1", "include_dashboard": False, "object_store_memory": 100 << 20}


@pytest.fixture
def node(cluster):
    """Adds a machine; those that are left at the end of the test are removed."""
    added = []

    def add(processors=1):
        added.append(cluster.add_node(**HERE, num_cpus=processors))
        return added[-1]

    yield add
    for each in added:
        if each in cluster.list_all_nodes():
            cluster.remove_node(each)


@pytest.fixture(scope="module")
def expected():
    """What the rollout of these tests gives, computed in this process."""
    sim = dovetail.Simulation(dovetail.loads(MODEL), nworld=12, backend="numpy")
    sim.data.qvel = [0.5 * np.random.default_rng([0, world]).standard_normal(1) for world in range(12)]
    rows = []
    for step in range(40):
        sim.data.ctrl = steering(None, step, np.arange(12))
        sim.step()
        rows.append(np.array(sim.data.qpos))
    return np.stack(rows, axis=1)


def kept_busy(folder: Path):
    """The same controls, slowly, and with a note of who computes what."""

    def policy(data, step, worlds):
        import ray

        here = folder / ray.get_runtime_context().get_node_id()
        here.touch()
        time.sleep(0.02)
        return steering(data, step, worlds)

    return policy


def removed_after(cluster, machine, folder: Path, seconds: float) -> threading.Thread:
    """Takes a machine away, some time after it began to compute."""

    def wait():
        while not (folder / machine.node_id).exists():
            time.sleep(0.02)
        time.sleep(seconds)
        cluster.remove_node(machine, allow_graceful=False)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_nodes_listen_on_this_machine_alone(cluster, node) -> None:
    import ray

    node()
    assert {each["NodeManagerAddress"] for each in ray.nodes()} == {"127.0.0.1"}


def test_a_rollout_spreads_over_nodes_and_has_the_same_bits(node, expected, tmp_path) -> None:
    names = {node().node_id, node().node_id}
    result = rollout(dovetail.loads(MODEL), kept_busy(tmp_path), **ASKED)
    assert {path.name for path in tmp_path.iterdir()} == names
    assert result.workers == 2
    assert result.fetch("qpos").tobytes() == expected.tobytes()
    assert result.restarts == 0


def test_a_node_that_is_lost_costs_its_worlds_since_their_checkpoint(
    cluster, node, expected, tmp_path
) -> None:
    node()
    lost = node()
    thread = removed_after(cluster, lost, tmp_path, 0.5)
    result = rollout(dovetail.loads(MODEL), kept_busy(tmp_path), workers=2, **ASKED)
    thread.join()
    assert result.fetch("qpos").tobytes() == expected.tobytes()
    assert result.restarts == 1
    assert result.repeated_steps >= 10 * 2  # the chunk it was at; more if records went with it
    assert result.repeated_steps % (10 * 2) == 0


def test_records_that_went_with_a_node_are_computed_again(cluster, node) -> None:
    lost = node()
    # Records of more than a hundred kilobytes: small ones are kept by whoever asked.
    asked = {"nworld": 8, "nstep": 200, "block": 8, "checkpoint": 100, "noise": 0.5, "backend": "numpy"}
    result = rollout(dovetail.loads(MODEL), record=("xmat", "qpos"), **asked)
    assert result.repeated_steps == 0
    node()
    cluster.remove_node(lost, allow_graceful=False)
    found = result.fetch("xmat")
    assert result.repeated_steps == 8 * 200
    again = rollout(dovetail.loads(MODEL), record=("xmat", "qpos"), **asked)
    assert found.tobytes() == again.fetch("xmat").tobytes()
    assert result.state()["qpos"].tobytes() == again.state()["qpos"].tobytes()


def test_environments_survive_the_loss_of_a_node(cluster, node) -> None:
    node(2)
    lost = node(2)
    env = make_vec(Balance(), 6, workers=3, checkpoint=8, physics={"backend": "numpy"})
    other = alone()
    assert same([env.reset(seed=5)], [other.reset(seed=5)])
    for step in range(30):
        if step == 12:
            cluster.remove_node(lost, allow_graceful=False)
            node(2)
        assert same([env.step(action(step))], [other.step(action(step))])
    assert env.restarts >= 1
    assert env.repeated_steps > 0
    env.close()

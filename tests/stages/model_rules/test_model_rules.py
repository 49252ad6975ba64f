"""What a model uses decides which stages its plan has: one thing added, and the stage that it needs is there."""

from __future__ import annotations

import pytest

import dovetail

BARE = """<mujoco><worldbody><body name="b"><joint name="j" {joint}/><geom size=".1"/><site name="s"/></body>{world}
  </worldbody>{rest}</mujoco>"""
NEEDS = {
    "tendon": {"rest": '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'},
    "transmission": {"rest": '<actuator><motor joint="j"/></actuator>'},
    "actuation": {"rest": '<actuator><motor joint="j"/></actuator>'},
    "camera_light": {"world": "<camera/>"},
    "narrowphase": {"world": '<geom type="plane" size="1 1 1"/>'},
    "constraint_rows:limit": {"joint": 'range="-1 1" limited="true"'},
    "constraint_rows:frictionloss": {"joint": 'frictionloss="1"'},
    "constraint_rows:equality": {"rest": '<equality><joint joint1="j"/></equality>'},
    "passive_force:gravcomp": {"world": '<body gravcomp="1"><joint/><geom size=".1" contype="0"/></body>'},
    "sensor:gyro": {"rest": '<sensor><gyro site="s"/></sensor>'},
    "body_forces": {"rest": '<sensor><force site="s"/></sensor>'},
    "energy": {"rest": '<option><flag energy="enable"/></option>'},
}


def slots(**parts: str) -> set[str]:
    text = BARE.format(**{"joint": "", "world": "", "rest": "", **parts})
    return {slot.label for slot in dovetail.Simulation(dovetail.loads(text)).plan.slots}


@pytest.mark.parametrize("slot", NEEDS)
def test_a_stage_runs_only_for_models_that_need_it(slot: str) -> None:
    assert slot not in slots()
    assert slot in slots(**NEEDS[slot])

"""The house checks on laws of actuators and passive forces that the kit's own samples do not exercise."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.implementation import Implementation
from dovetail.registry import build_registry
from dovetail.testing import parametrize_with_checks

DRIVEN = """<mujoco><extension><plugin plugin="mujoco.pid"/><plugin plugin="mujoco.elasticity.cable"><instance name="c"><config key="twist" value="1e4"/><config key="bend" value="2e4"/></instance></plugin></extension>
<option density="10" viscosity=".1"><flag constraint="disable"/></option><worldbody><site name="post" pos="0 0 1.2"/>
<body pos="0 0 1" gravcomp=".5"><joint name="a" axis="0 1 0"/><geom size=".1" pos=".2 0 0" fluidshape="ellipsoid"/><site name="end" pos=".4 0 0"/>
<body pos=".4 0 0" gravcomp="1"><joint name="b" axis="0 1 1" actuatorgravcomp="true"/><geom type="capsule" size=".02 .1"/><plugin instance="c"/>
<body pos="0 0 .2"><joint type="ball" damping=".1"/><geom type="capsule" size=".02 .1"/><plugin instance="c"/></body></body></body></worldbody>
<tendon><spatial name="t" armature=".3" stiffness="3" actuatorfrclimited="true" actuatorfrcrange="-1 1"><site site="post"/><site site="end"/></spatial></tendon>
<actuator><muscle tendon="t" lengthrange=".1 1"/><general joint="a" dyntype="user" gaintype="user" biastype="user"/>
<plugin plugin="mujoco.pid" joint="b" actdim="2"><config key="kp" value="3"/><config key="ki" value="1"/><config key="slewmax" value="2"/></plugin></actuator></mujoco>"""

SLOTS = {
    *("passive_force:gravcomp", "passive_force:fluid", "passive_force:plugin", "actuator_plugin:mujoco.pid"),
    *(f"actuator_{table}:{key}" for table in ("dynamics", "gain", "bias") for key in ("muscle", "user")),
    *("mass_matrix", "bias_force", "actuation", "transmission"),
}

REGISTRY = build_registry(third_party=False)
RECORDS = [r for r in REGISTRY.implementations if r.slot in SLOTS and r.backend == "numpy"]


@parametrize_with_checks(RECORDS, registry=REGISTRY, models={"driven": DRIVEN})
def test_every_house_check_passes_on_forces(
    implementation: Implementation, check: Callable[[Any], None]
) -> None:
    check(implementation)

"""A model that has an actuator, a limit and a constraint of most kinds, and a bench that steps it from one state in
MuJoCo and here, with one number replaced."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import dovetail
from dovetail.bad_states import StateWarning

XML = """
<mujoco model="inputs">
  <option timestep="0.005" {option}><flag energy="enable"/></option>
  <size nuserdata="2"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <site name="anchor" pos="0 .4 .6"/>
    <body name="hand" mocap="true" pos="1 0 1"><geom size=".05" contype="0" conaffinity="0"/></body>
    <body name="held" pos="1 0 .9">
      <joint name="hang" type="ball" damping=".01"/><geom size=".05" pos=".1 0 0"/>
    </body>
    <body name="cart" pos="0 0 .5">
      <joint name="rail" type="slide" axis="1 0 0" range="-1 1" limited="true" frictionloss=".1" stiffness="3"/>
      <geom type="box" size=".1 .05 .05"/>
      <body name="arm" pos="0 0 .05">
        <joint name="shoulder" axis="0 1 0" damping=".1" armature=".01" actuatorfrclimited="true"
          actuatorfrcrange="-3 2"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
        <site name="wrist" pos=".3 0 0"/>
        <body name="fore" pos=".3 0 0">
          <joint name="elbow" axis="0 1 0" range="-90 90" limited="true" damping=".05" actuatorfrclimited="true"
            actuatorfrcrange="-4 4"/>
          <geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass=".2"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="-.5 0 .04"><freejoint/><geom size=".05" mass=".1"/></body>
  </worldbody>
  <tendon>
    <fixed name="pair" limited="true" range="-2 2" actuatorfrclimited="true" actuatorfrcrange="-2 2" stiffness="1"
      springlength="-.2 .1"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-.5"/></fixed>
    <spatial name="rope" stiffness="2" damping=".1"><site site="wrist"/><site site="anchor"/></spatial>
  </tendon>
  <equality><weld name="grip" body1="hand" body2="held" solref=".05 1"/></equality>
  <actuator>
    <motor name="free" joint="shoulder"/>
    <motor name="both" joint="elbow" ctrllimited="true" ctrlrange="-1 1" forcelimited="true" forcerange="-.5 .8"/>
    <general name="sum" joint="rail" dyntype="integrator" actlimited="true" actrange="-1 1" gainprm="2"
      forcelimited="true" forcerange="-3 3"/>
    <general name="lag" joint="shoulder" dyntype="filter" dynprm=".1" gainprm="1.5" ctrllimited="true"
      ctrlrange="-1 2"/>
    <general name="exact" joint="elbow" dyntype="filterexact" dynprm=".05" actearly="true" actlimited="true"
      actrange="-1 1" gainprm=".5"/>
    <position name="servo" joint="rail" kp="5" kv=".3" forcelimited="true" forcerange="-2 2"/>
    <muscle name="muscle" joint="elbow" lengthrange="-2 2" force="1"/>
    <motor name="pull" tendon="pair" gear="1.2"/>
    <velocity name="brake" tendon="pair" kv=".2" forcelimited="true" forcerange="-1 1"/>
    <damper name="damp" joint="shoulder" kv=".3" ctrlrange="0 1"/>
  </actuator>
  <sensor>
    <jointpos joint="elbow"/><jointvel joint="shoulder"/><actuatorfrc actuator="both" cutoff="5"/>
    <accelerometer site="wrist"/><framelinvel objtype="body" objname="ball"/><touch site="wrist"/><clock/>
    <tendonpos tendon="pair"/><user dim="2"/>
  </sensor>
</mujoco>
"""

STATE = (
    *("time", "qpos", "qvel", "act", "ctrl", "qacc_warmstart", "qfrc_applied", "xfrc_applied"),
    *("mocap_pos", "mocap_quat", "userdata"),
)
FIELDS = (
    *STATE,
    *("qacc", "act_dot", "actuator_force", "qfrc_actuator", "qfrc_passive", "qfrc_bias", "qfrc_smooth"),
    *("qacc_smooth", "qfrc_constraint", "xpos", "xquat", "cvel", "sensordata", "energy", "ten_length"),
    *("ten_velocity", "actuator_length", "actuator_velocity", "subtree_com"),
)
BAD_WORLD, NWORLD = 1, 3
WARNINGS = {"qpos": 4, "qvel": 5, "qacc": 6, "ctrl": 7}
"""MuJoCo's warnings (mjtWarning) of broken numbers, by field."""
LIMITS = (
    *("actuator_ctrllimited", "actuator_forcelimited", "actuator_actlimited"),
    *("jnt_actfrclimited", "tendon_actfrclimited"),
)
CLAMPCTRL, AUTORESET = 1 << 7, 1 << 16
SETTINGS: dict[str, dict[str, int]] = {
    "plain": {},
    "no clamping": {"opt.disableflags": CLAMPCTRL},
    "no limits": dict.fromkeys(LIMITS, 0),
    "no autoreset": {"opt.disableflags": AUTORESET},
    "no autoreset, no limits": {
        "opt.disableflags": AUTORESET | CLAMPCTRL,
        **dict.fromkeys(LIMITS, 0),
    },
}


class Bench:
    """One model and one state, in MuJoCo and on every backend."""

    def __init__(self, option: str = "") -> None:
        import mujoco

        xml = XML.format(option=option)
        self.mujoco = mujoco
        self.mj_model = mujoco.MjModel.from_xml_string(xml)
        self.model = dovetail.loads(xml)
        self._sims: dict[str, dovetail.Simulation] = {}
        self.start = self._moving()

    def sim(self, who: str) -> dovetail.Simulation:
        kinds: dict[str, dict[str, Any]] = {
            "numpy": {"backend": "numpy"},
            "native": {"backend": "native"},
            "batch": {"backend": "native", "nworld": NWORLD, "keep": "all"},
            "f32": {"backend": "native", "nworld": NWORLD, "keep": "all", "precision": "f32"},
        }
        if who not in self._sims:
            self._sims[who] = dovetail.Simulation(self.model, **kinds[who])
        return self._sims[who]

    def _moving(self) -> dict[str, np.ndarray]:
        """A state in which everything moves."""
        model, rng = self.mj_model, np.random.default_rng(3)
        data = self.mujoco.MjData(model)
        data.qvel[:] = 0.3 * rng.normal(size=model.nv)
        data.ctrl[:] = np.clip(0.5 * rng.normal(size=model.nu), -0.9, 0.9)
        data.act[:] = 0.3 * rng.uniform(size=model.na)
        self.mujoco.mj_step(model, data, 3)
        data.qfrc_applied[:] = 0.1 * rng.normal(size=model.nv)
        data.xfrc_applied[:] = 0.05 * rng.normal(size=data.xfrc_applied.shape)
        data.userdata[:] = 0.5, 2.0
        return {name: np.array(getattr(data, name)) for name in STATE}

    def edit(self, values: Mapping[str, Any], index: int | None = None) -> dict[str, Any]:
        """Set fields of both models (or one number of them); what they held."""
        before = {}
        for path, value in values.items():
            *groups, name = path.split(".")
            for model in (self.mj_model, self.model):
                owner: Any = model
                for group in groups:
                    owner = getattr(owner, group)
                field = getattr(owner, name)
                before.setdefault(path, np.array(field) if index is None else np.ravel(field)[index])
                if np.ndim(field):
                    numbers = field.reshape(-1)
                    chosen = np.arange(len(numbers)) if index is None else [index]
                    numbers[chosen] = np.ravel(value)
                else:
                    setattr(owner, name, type(field)(value))
        return before

    def theirs(self, field: str = "", index: int = 0, value: float = 0.0) -> tuple[Any, set[str]]:
        """MuJoCo after a step with a number of the state replaced, and the fields it warned of."""
        data = self.mujoco.MjData(self.mj_model)
        for name, numbers in self.replaced(field, index, value).items():
            if name == "time":
                data.time = float(numbers)
            else:
                getattr(data, name)[...] = numbers
        self.mujoco.mj_step(self.mj_model, data)
        return data, {name for name, kind in WARNINGS.items() if data.warning[kind].number}

    def ours(self, who: str, field: str = "", index: int = 0, value: float = 0.0) -> tuple[Any, set[str]]:
        """The same here; in a batch the number of one world is replaced, and only it may be told of."""
        sim = self.sim(who)
        sim.reset()
        data = sim.data
        for name, numbers in self.replaced(field, index, value).items():
            if data.nworld is None:
                setattr(data, name, numbers)
            else:
                every = np.repeat(np.asarray(self.start[name])[None], NWORLD, axis=0)
                every[BAD_WORLD] = numbers
                setattr(data, name, every)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sim.step()
        told = [str(w.message) for w in caught if issubclass(w.category, StateWarning) or is_of_control(w)]
        world = "" if data.nworld is None else f"world {BAD_WORLD}: "
        assert all(text.startswith(world) for text in told), told
        return data, {name for name in WARNINGS if any(text.startswith(world + name) for text in told)}

    def replaced(self, field: str, index: int, value: float) -> dict[str, np.ndarray]:
        """The start, with one number of one field replaced."""
        state = {name: np.array(numbers) for name, numbers in self.start.items()}
        if field:
            state[field].reshape(-1)[index] = value
        return state


def is_of_control(warning: warnings.WarningMessage) -> bool:
    return "every control" in str(warning.message)


def numbers_of(data: Any, name: str, world: int | None = None) -> np.ndarray:
    values = np.asarray(getattr(data, name), float)
    return values if world is None else values[world]


def differing(theirs: Any, ours: Any, names: Any, world: int | None, near: float) -> list[str]:
    """Fields that are not the same, NaN in the same places included."""
    found = []
    for name in names:
        a, b = numbers_of(theirs, name), numbers_of(ours, name, world)
        if not np.allclose(b.reshape(a.shape), a, rtol=near, atol=near, equal_nan=True):
            found.append(name)
    return found

"""States are saved, restored and replayed; a keyframe is written and used."""

import pickle

import mujoco
import numpy as np

XML = """
<mujoco>
  <size nkey="1"/>
  <worldbody>
    <geom type="plane" size="3 3 0.1"/>
    <body pos="0 0 0.5"><freejoint/><geom type="ellipsoid" size="0.1 0.15 0.2" mass="1"/></body>
    <body pos="1 0 1"><joint type="ball" damping="0.01"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/></body>
  </worldbody>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
data.qvel[-3:] = 1.0, 2.0, 3.0
sig = mujoco.mjtState.mjSTATE_INTEGRATION
size = mujoco.mj_stateSize(model, sig)
print(size)
saved = []
for step in range(6000):
    if step % 2000 == 0:
        state = np.empty(size)
        mujoco.mj_getState(model, data, state, sig)
        saved.append(state)
    mujoco.mj_step(model, data)
end = data.qpos.copy()
for number, state in enumerate(saved):
    mujoco.mj_setState(model, data, state, sig)
    mujoco.mj_step(model, data, nstep=6000 - 2000 * number)
    print(number, np.array_equal(end, data.qpos), *data.qpos[:3])
mujoco.mj_setKeyframe(model, data, 0)
again = pickle.loads(pickle.dumps(data))
mujoco.mj_resetDataKeyframe(model, data, 0)
mujoco.mj_step(model, data)
mujoco.mj_step(model, again)
print(np.abs(data.qpos - again.qpos).max() < 1e-9, *data.qvel)

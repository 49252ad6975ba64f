"""A falling box carries sensors; their readings are recorded."""

import mujoco
import numpy as np

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="3 3 0.1"/>
    <body name="box" pos="0 0 0.6" euler="20 30 10">
      <freejoint/>
      <geom type="box" size="0.1 0.15 0.1" mass="1"/>
      <site name="imu" pos="0 0 0.1"/>
    </body>
  </worldbody>
  <sensor>
    <accelerometer name="acc" site="imu"/>
    <gyro name="gyro" site="imu"/>
    <framepos name="pos" objtype="body" objname="box"/>
    <framequat name="quat" objtype="body" objname="box"/>
    <rangefinder name="range" site="imu"/>
    <subtreecom name="com" body="box"/>
  </sensor>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
record = {name: [] for name in ("acc", "gyro", "pos", "quat", "range", "com")}
while data.time < 8.0:
    mujoco.mj_step(model, data)
    for name, rows in record.items():
        rows.append(data.sensor(name).data.copy())
for name, rows in record.items():
    values = np.array(rows)
    print(name, *values[100], *values.mean(axis=0))

"""Two small models in which everything that can be drawn occurs."""

# ruff: noqa: E501  (lines of XML)

RICH = """<mujoco>
<compiler><lengthrange mode="none"/></compiler>
<asset>
  <texture name="t" type="2d" builtin="checker" width="32" height="32" rgb1="1 0 0" rgb2="0 1 0"/>
  <material name="a" texture="t" texrepeat="3 4" texuniform="true" rgba=".1 .2 .3 1" reflectance=".3" emission=".2"/>
  <material name="b" rgba="1 0 1 .5"/>
  <hfield name="h" nrow="3" ncol="4" size="1 2 .5 .1" elevation="0 .1 .2 .3 .4 .5 .6 .7 .8 .9 .95 1"/>
  <mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale=".2 .2 .2"/>
</asset>
<worldbody>
  <geom name="floor" type="plane" size="0 0 1" material="a"/>
  <geom name="hf" type="hfield" hfield="h" pos="5 5 -.5"/>
  <light pos="0 0 3" type="directional"/><light pos="1 0 3" active="false"/>
  <light pos="1 2 3" type="spot" dir="1 0 -1"/>
  <camera name="f" pos="0 -3 1" xyaxes="1 0 0 0 0 1"/>
  <camera name="i" pos="0 -3 1" xyaxes="1 0 0 0 0 1" focal=".02 .03" sensorsize=".01 .02" principal=".001 .002"
          resolution="100 200"/>
  <camera name="o" pos="1 1 1" orthographic="true" fovy="3" resolution="40 20"/>
  <site name="w0" pos="0 0 2"/><site name="w1" pos="1 0 1.5"/>
  <body name="box" pos="0 0 .09" euler="2 3 4"><freejoint/>
    <geom name="bx" type="box" size=".1 .1 .1" material="b"/>
    <site name="sb" type="box" size=".05 .03 .02" rgba="1 0 0 1"/>
  </body>
  <body name="box2" pos="0.6 0 .09"><freejoint/>
    <geom name="bx2" type="box" size=".1 .1 .1" mass="2" material="a"/>
    <geom name="bx3" type="sphere" size=".05" pos=".1 .15 .2" euler="10 20 30" rgba="1 0 0 .4" material="a"/>
  </body>
  <body name="arm" pos="0 1 1">
    <joint name="hi" type="hinge" axis="0 1 0" range="-10 30" limited="true" stiffness="1"/>
    <geom name="cap" type="capsule" fromto="0 0 0 .5 0 0" size=".05"/>
    <site name="ss" pos=".2 0 .1"/><camera name="mov" pos="0 0 .2" mode="trackcom"/>
    <light pos="0 0 .5" mode="targetbody" target="box"/>
    <body name="fore" pos=".5 0 0"><joint name="ba" type="ball"/>
      <geom name="fc" type="ellipsoid" size=".05 .1 .2" group="1"/>
      <body name="sl" pos="0 0 -.3"><joint name="sj" type="slide" axis="0 0 1" group="1"/>
        <geom name="cy" type="cylinder" size=".05 .1"/><site name="se" pos=".05 0 -.1"/>
      </body>
    </body>
  </body>
  <body name="msh" pos="2 0 1"><freejoint/><geom name="me" type="mesh" mesh="m" group="2"/><geom size=".1" group="4"/></body>
  <body name="moc" mocap="true" pos="3 0 0.5"><geom size=".2"/></body>
  <body name="welded" pos="3 3 0"><geom size=".2" rgba="1 1 0 .4"/></body>
  <body name="c1" pos="-1 0 1"><joint name="crank" type="hinge" axis="0 1 0"/>
    <geom size=".03" type="capsule" fromto="0 0 0 .2 0 0"/><site name="cs" pos=".2 0 0"/></body>
  <body name="c2" pos="-1 0 1.4"><joint name="sld" type="slide" axis="0 0 1"/><geom size=".03"/><site name="sls"/></body>
  <body name="wrapb" pos="-2 0 1">
    <geom name="wc" type="cylinder" size=".1 .2" euler="90 0 0" contype="0" conaffinity="0"/><site name="wa" pos="-.3 0 .1"/>
    <body name="wb" pos=".3 0 0"><joint name="wj" type="slide" axis="0 0 1"/>
      <geom size=".05" contype="0" conaffinity="0"/><site name="wbs"/></body>
    <site name="side" pos="0 0 .2"/>
  </body>
  <flexcomp name="cloth" type="grid" count="4 4 1" spacing=".1 .1 .1" pos="-3 0 1" dim="2" radius=".02" rgba="0 1 1 1">
    <edge equality="true"/></flexcomp>
  <flexcomp name="soft" type="grid" count="3 3 3" spacing=".1 .1 .1" pos="-4 0 1" dim="3" radius=".01" material="b"/>
  <flexcomp name="rope" type="grid" count="5 1 1" spacing=".1 .1 .1" pos="-5 0 1" dim="1" radius=".03"/>
</worldbody>
<deformable>
  <skin name="sk" material="b" inflate=".01" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 1 2 3 0 3 2">
    <bone body="arm" bindpos="0 1 1" bindquat="1 0 0 0" vertid="0 1" vertweight="1 .5"/>
    <bone body="fore" bindpos=".5 1 1" bindquat="1 0 0 0" vertid="1 2 3" vertweight=".5 1 1"/>
  </skin>
</deformable>
<tendon>
  <spatial name="sp" width=".01" rgba="1 .5 0 1" limited="true" range="0 .7"><site site="w0"/><site site="ss"/></spatial>
  <spatial name="wr" width=".01" material="a"><site site="wa"/><geom geom="wc" sidesite="side"/><site site="wbs"/></spatial>
  <spatial name="pu" springlength="1"><site site="w0"/><site site="w1"/><pulley divisor="2"/><site site="w1"/>
    <site site="se"/></spatial>
  <fixed name="fx"><joint joint="hi" coef="1"/></fixed>
</tendon>
<actuator>
  <motor name="mh" joint="hi" ctrlrange="-1 1" ctrllimited="true"/><position name="ps" joint="sj" kp="3"/>
  <motor name="ba" joint="ba" gear="1 0 0"/><motor name="te" tendon="sp"/>
  <muscle name="mu" tendon="wr" lengthrange=".3 1"/><general name="si" site="ss" gear="1 0 0 0 0 0"/>
  <general name="bo" body="box"/><general name="cr" cranksite="cs" slidersite="sls" cranklength=".5" group="1"/>
  <general name="jip" jointinparent="ba" gear="0 0 1" dyntype="integrator"/>
</actuator>
<equality>
  <connect name="co" body1="box2" anchor="0 0 .5"/><weld name="we" body1="msh" body2="box2"/>
  <joint joint1="hi" joint2="sj"/>
</equality>
</mujoco>"""
"""Every kind of object, at rest after a few steps."""

SCALED = """<mujoco>
<visual>
  <global linewidth="2" glow=".4" ellipsoidinertia="true"/>
  <map alpha=".4" force=".01" torque=".2" actuatortendon="3" znear=".02"/>
  <scale forcewidth=".11" contactwidth=".31" contactheight=".12" connect=".21" com=".41" camera=".32" light=".33"
         selectpoint=".22" jointlength="1.1" jointwidth=".12" actuatorlength=".71" actuatorwidth=".23" framelength="1.2"
         framewidth=".13" constraint=".14" slidercrank=".24" frustum="9"/>
  <rgba force="1 .4 .5 .9" inertia=".8 .2 .3 .6"/>
</visual>
<option cone="CONE"/>
<asset>
  <mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" texcoord="0 0 1 0 0 1 1 1" scale=".2 .2 .2"/>
  <mesh name="nohull" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale=".2 .2 .2"/>
  <texture name="t" type="2d" builtin="checker" width="8" height="8"/>
  <material name="tm" texture="t"/><material name="pm" rgba="1 0 0 0"/>
</asset>
<worldbody>
  <geom name="floor" type="plane" size="3 3 1" condim="COND"/><light mode="trackcom" pos="0 0 1"/>
  <geom size=".1" rgba="0 0 0 0" pos="9 0 0"/><geom size=".1" material="pm" pos="9 0 0"/>
  <body name="a" pos="0 0 .095" euler="1 2 3"><freejoint/>
    <geom name="ga" type="box" size=".1 .1 .1" condim="COND"/><site name="s" size=".02 .03" type="capsule"/></body>
  <body name="b" pos=".02 .01 .29" euler="3 1 3"><freejoint/><geom name="gb" type="box" size=".1 .1 .1" condim="COND"/>
    <geom size=".05" pos="0 0 .2" margin=".1" gap=".1"/></body>
  <body name="c" pos="1 0 1"><joint name="j" axis="1 1 0" range="0 10" limited="true"/>
    <joint type="slide" axis="0 1 0" pos=".1 0 0"/><joint name="bj" type="ball" range="0 20" limited="true"/>
    <geom type="mesh" mesh="m" material="tm" contype="0" conaffinity="0"/>
    <geom type="mesh" mesh="m" material="tm" pos="1 0 0"/>
    <geom type="mesh" mesh="nohull" pos="0 1 0" contype="0" conaffinity="0"/>
    <site name="r" pos="0 0 -.1" euler="170 0 0"/><site name="r2" pos="0 0 .5"/><site name="e1" pos="0 .1 0"/>
    <body name="nogeom" pos="0 0 1"><joint/><inertial pos="0 0 .1" mass="1" diaginertia="1 1.2 1.1"/>
      <camera name="q" focal=".1 .1" sensorsize=".1 .1" resolution="10 10" pos="0 0 .3" euler="10 20 30"/></body>
  </body>
  <body name="mc" mocap="true" pos="-1 0 1"><geom size=".1"/><body pos=".3 0 0"><geom size=".05"/></body>
    <site name="e2"/></body>
</worldbody>
<tendon><spatial name="rope" limited="true" range="0 3" width=".02"><site site="e1"/><site site="e2"/></spatial></tendon>
<actuator>
  <general joint="j" ctrlrange="-2 3" ctrllimited="true" dyntype="filter" actrange="-1 5" actlimited="true"/>
  <motor joint="bj"/><general name="fr" site="s" refsite="r" ctrlrange="-2 -1" ctrllimited="true"/>
</actuator>
<equality>
  <connect site1="e1" site2="e2"/><weld body1="a" body2="b" active="false"/><weld site1="r" site2="s"/>
  <weld body1="b" body2="c" solref="-10 -1" anchor=".1 .2 .3" relpose="1 0 0 1 0 0 0"/>
</equality>
<sensor><rangefinder site="r" cutoff="5"/><rangefinder site="r2"/></sensor>
</mujoco>"""
"""Sizes and colours of marks other than the defaults; contacts of a CONE and dimension COND; a slack rope."""

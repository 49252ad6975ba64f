"""The viewer in a real browser: what is seen is what the Data says."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browser import HEIGHT, WIDTH, Page, chromium, magenta, running, until

import dovetail
from dovetail.viewer import live_viewer
from dovetail.viewer.cameras import page_camera
from dovetail.visual import FreeCamera, view

pytestmark = pytest.mark.slow
pytest.importorskip("viser")

ARM = """<mujoco model="mesh arm"><option timestep="0.002"/><asset>
    <mesh name="link"
      vertex="-.05 -.05 0 .05 -.05 0 .05 .05 0 -.05 .05 0 -.03 -.03 .4 .03 -.03 .4 .03 .03 .4 -.03 .03 .4"/>
    <texture name="squares" type="2d" builtin="checker" width="32" height="32" rgb1=".9 .9 .9" rgb2=".4 .5 .6"/>
    <material name="floor" texture="squares" texrepeat="6 6" texuniform="true"/>
    <material name="steel" rgba=".7 .72 .75 1" metallic=".6" roughness=".4"/>
  </asset><worldbody>
  <geom type="plane" size="3 3 .1" material="floor"/>
  <camera name="side" pos="0 -2.5 1" xyaxes="1 0 0 0 .2 1" fovy="50"/>
  <body name="shoulder" pos="0 0 .2"><joint name="lift" axis="0 1 0" damping="1"/>
    <geom type="mesh" mesh="link" material="steel"/>
    <body name="elbow" pos="0 0 .4"><joint name="bend" axis="0 1 0" damping="1"/>
      <geom type="mesh" mesh="link" material="steel"/>
      <body name="tip" pos="0 0 .45"><geom size=".06" rgba="1 0 1 1"/></body></body></body>
  </worldbody><actuator><position name="lift" joint="lift" kp="60" ctrlrange="-1.5 1.5"/>
  <position name="bend" joint="bend" kp="60" ctrlrange="-1.5 1.5"/></actuator></mujoco>"""

EXPLOSIVE = """<mujoco><option timestep="0.01"/><worldbody>
  <body><joint name="lift" type="slide" axis="0 0 1"/><geom size=".2"/></body>
  </worldbody><actuator><general joint="lift" gainprm="1e9"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as made:
        yield made


@pytest.fixture(autouse=True)
def closed_pages(browser: Any) -> Iterator[None]:
    """Pages of a test that failed would go on drawing."""
    yield
    for context in browser.contexts:
        context.close()


def painted_humanoid() -> dovetail.Model:
    """The built-in humanoid with a head of a colour of its own."""
    model = dovetail.load("humanoid").copy()
    model.geom_rgba[model.name_index("geom")["skull"]] = (1, 0, 1, 1)
    return model


def test_the_humanoid_moves_and_its_head_is_where_the_data_says(browser: Any) -> None:
    model = painted_humanoid()
    head = model.name_index("geom")["skull"]
    with running(live_viewer(model, paused=True)) as viewer:
        page = Page(browser, viewer)
        camera = FreeCamera(lookat=(0, 0, 0.9), distance=4, azimuth=130, elevation=-15)
        seen = view(model, None, camera)
        client = next(iter(viewer._server.viser.get_clients().values()))
        position, wxyz, fov = page_camera(seen)
        with client.atomic():
            client.camera.wxyz, client.camera.position, client.camera.fov = tuple(wxyz), tuple(position), fov
        viewer.runner.ask(
            lambda: viewer.watched.sim.data.qvel.__setitem__(slice(0, 2), (-0.4, -0.4)), edits=True
        )
        places = []
        for steps in (1, 60, 60):
            wanted_time = viewer.watched.time + steps * model.opt.timestep
            viewer.runner.ask(lambda count=steps: viewer.runner.step_once(count))
            until(lambda t=wanted_time: viewer.watched.time > t - 1e-6)
            wanted = seen.project(viewer.watched.shown(0).geom_xpos[head], WIDTH, HEIGHT)[:2]
            until(lambda there=wanted: page.is_at(magenta, there))
            places.append(wanted)
        assert np.linalg.norm(places[-1] - places[0]) > 10, "nothing moved"
        before = page.pixels()
        page.page.get_by_role("button", name="Play", exact=True).click()
        until(lambda: not viewer.runner.paused and np.abs(page.pixels() - before).max() > 30)
        page.page.get_by_role("button", name="Pause", exact=True).click()
        until(lambda: viewer.runner.paused)
        page.page.get_by_role("button", name="Reset", exact=True).click()
        until(lambda: viewer.watched.time == 0.0)
        assert page.complaints == []
        page.page.close()


def test_an_arm_with_meshes_follows_its_sliders_in_a_fixed_camera(browser: Any) -> None:
    model = dovetail.loads(ARM)
    with running(live_viewer(model)) as viewer:
        page = Page(browser, viewer)
        viewer.runner.ask(lambda: viewer.cameras.look_through(0))
        tip = model.name_index("body")["tip"]
        until(lambda: page.centre_of(magenta) is not None)
        for value in ("0.8", "-0.6"):
            box = page.page.get_by_role("textbox").filter(visible=True)
            numbers = [b for b in box.all() if b.get_attribute("inputmode") in ("numeric", "decimal")]
            numbers[0].fill(value)
            numbers[0].press("Enter")
            until(lambda v=float(value): abs(float(viewer.watched.sim.data.ctrl[0]) - v) < 0.02)
            until(lambda v=float(value): abs(float(viewer.watched.sim.data.qpos[0]) - v) < 0.25)
            until(lambda: float(np.abs(np.asarray(viewer.watched.sim.data.qvel)).max()) < 1e-3)
            viewer.runner.ask(viewer.runner.pause)
            until(lambda: viewer.runner.paused)
            data = viewer.watched.shown(0)
            wanted = view(model, data, "side").project(data.xpos[tip], WIDTH, HEIGHT)[:2]
            until(lambda there=wanted: page.is_at(magenta, there))
            viewer.runner.ask(viewer.runner.play)
        assert page.complaints == []
        page.page.close()


def test_two_tabs_reload_and_a_lost_connection(browser: Any) -> None:
    model = painted_humanoid()
    with running(live_viewer(model, paused=True)) as viewer:
        first, second = Page(browser, viewer), Page(browser, viewer)
        until(lambda: len(viewer._server.viser.get_clients()) == 2)
        first.page.get_by_role("button", name="Play", exact=True).click()
        second.page.get_by_role("button", name="Pause", exact=True).click()
        until(lambda: viewer.runner.paused)
        first.page.reload()
        first.ready()
        assert first.centre_of(magenta) is not None
        viewer._server.viser._websock_server.disconnect_all_clients()
        until(lambda: len(viewer._server.viser.get_clients()) == 2)
        moved = viewer.watched.time
        second.page.get_by_role("button", name="Play", exact=True).click()
        until(lambda: viewer.watched.time > moved + 0.1)
        second.page.close()
        until(lambda: len(viewer._server.viser.get_clients()) == 1)
        assert first.complaints == []
        first.page.close()


def test_a_body_is_picked_by_a_click_and_pulled_with_ctrl(browser: Any) -> None:
    model = dovetail.loads(ARM)
    with running(live_viewer(model)) as viewer:
        page = Page(browser, viewer)
        viewer.runner.ask(lambda: viewer.cameras.look_through(0))
        until(lambda: page.centre_of(magenta) is not None)
        time.sleep(2)
        centre = page.centre_of(magenta)
        assert centre is not None
        page.page.mouse.click(*centre)
        until(lambda: viewer.hand.picked == model.name_index("body")["tip"])
        before = float(viewer.watched.sim.data.qpos[0])
        page.page.keyboard.down("Control")
        page.page.mouse.move(*centre)
        page.page.mouse.down()
        page.page.mouse.move(centre[0] + 60, centre[1], steps=6)
        page.page.mouse.move(centre[0] + 160, centre[1], steps=12)
        until(lambda: bool(np.asarray(viewer.watched.sim.data.xfrc_applied).any()))
        until(lambda: float(viewer.watched.sim.data.qpos[0]) > before + 0.05)
        page.page.mouse.up()
        page.page.keyboard.up("Control")
        until(lambda: not np.asarray(viewer.watched.sim.data.xfrc_applied).any())
        assert page.complaints == []
        page.page.close()


def test_a_model_that_explodes_is_told_and_can_be_reset(browser: Any) -> None:
    with running(live_viewer(dovetail.loads(EXPLOSIVE))) as viewer:
        page = Page(browser, viewer)
        viewer.runner.ask(lambda: viewer.watched.sim.data.ctrl.__setitem__(0, 1e9), edits=True)
        page.page.get_by_text("The simulation stopped").wait_for()
        assert viewer.runner.paused
        page.page.get_by_role("button", name="Reset", exact=True).click()
        until(lambda: viewer.runner.problem == "")
        page.page.get_by_text("The simulation stopped").wait_for(state="hidden")
        page.page.get_by_role("button", name="Play", exact=True).click()
        until(lambda: viewer.watched.time > 0.05)
        assert page.complaints == []
        page.page.close()


def test_a_page_of_another_origin_cannot_connect(browser: Any) -> None:
    """A page that another server on this machine serves, and the same one by the viewer's other name."""

    class Silent(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html></html>")

        def log_message(self, *_: Any) -> None:
            """No chatter."""

    other = http.server.HTTPServer(("127.0.0.1", 0), Silent)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    script = """(url) => new Promise(done => {
        const socket = new WebSocket(url, ['viser-v1.1.1']);
        socket.onopen = () => done('open'); socket.onerror = () => done('refused'); })"""
    try:
        with running(live_viewer("pendulum", backend="numpy", paused=True)) as viewer:
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{other.server_port}/")
            assert page.evaluate(script, viewer.url.replace("http", "ws")) == "refused"
            page.goto(viewer.url)
            assert page.evaluate(script, viewer.url.replace("http", "ws")) == "open"
            page.close()
    finally:
        other.shutdown()
        other.server_close()


def test_ten_thousand_geoms_stay_usable(browser: Any) -> None:
    bodies = "".join(
        f'<body pos="{x * 0.3} {y * 0.3} {1 + 0.01 * x}"><freejoint/><geom type="{kind}" size=".05 .05 .05" '
        'contype="0" conaffinity="0"/></body>'
        for x in range(50)
        for y in range(4)
        for kind in ("sphere",)
    )
    still = "".join(
        f'<geom type="box" size=".05 .05 .05" pos="{(i % 100) * 0.2} {(i // 100) * 0.2} 0" contype="0"/>'
        for i in range(9_800)
    )
    model = dovetail.loads(f"<mujoco><worldbody>{still}{bodies}</worldbody></mujoco>")
    assert model.ngeom == 10_000
    with running(live_viewer(model, paused=True)) as viewer:
        page = Page(browser, viewer)
        assert len(viewer.stage.nodes) == 2
        spent = time.process_time()
        for _ in range(20):
            viewer.stage.draw()
        assert (time.process_time() - spent) / 20 < 0.1
        page.page.get_by_role("button", name="Play", exact=True).click()
        until(lambda: viewer.watched.time > 0.1)
        assert page.complaints == []
        page.page.close()

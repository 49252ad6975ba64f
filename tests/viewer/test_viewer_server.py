"""The server and the viewer as a whole, without a browser."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import numpy as np
import pytest

import dovetail
from dovetail import viewer as viewing
from dovetail.contracts.enums import TextureType
from dovetail.errors import MissingDependencyError
from dovetail.viewer import extra
from dovetail.viewer.ab import pair_viewer
from dovetail.viewer.server import HOST, PortError, Server, listen

pytest.importorskip("viser")

BALL = """<mujoco model="ball"><asset>
    <texture name="grid" type="2d" builtin="checker" width="16" height="16" rgb1="1 0 0" rgb2="0 1 0"/>
    <texture name="cube" type="cube" builtin="flat" width="8" height="8" rgb1="1 0 0" rgb2="0 1 0"/>
    <material name="floor" texture="grid" texrepeat="4 4"/><material name="dice" texture="cube"/>
    <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <hfield name="hill" nrow="3" ncol="3" size="1 1 .2 .1" elevation="0 0 0 0 1 0 0 0 0"/>
  </asset><worldbody>
  <geom type="plane" size="0 0 1" material="floor"/><geom type="hfield" hfield="hill" pos="3 0 0"/>
  <light pos="0 0 3"/><camera name="side" pos="2 -2 1"/>
  <body name="ball" pos="0 0 1"><freejoint/><geom size=".1" rgba="1 0 0 .5"/><site name="mark"/></body>
  <body name="dice" pos="1 0 1"><freejoint/><geom type="box" size=".1 .1 .1" material="dice"/></body>
  <body name="wedge" pos="0 1 1"><freejoint/><geom type="mesh" mesh="wedge"/></body>
</worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert [t for t in threading.enumerate() if t not in before and t.is_alive()] == []


def status(url: str, **headers: str) -> int:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_the_page_is_served_on_loopback_only_and_to_no_other_origin() -> None:
    import viser
    import websockets

    server = Server()
    try:
        assert status(server.url) == 200
        assert status(server.url, Host="evil.example") == 403
        assert status(server.url, Origin="http://evil.example") == 403

        async def handshake(origin: str | None) -> int:
            try:
                protocol = [f"viser-v{viser.__version__}"]
                async with websockets.connect(
                    server.url.replace("http", "ws"), origin=origin, subprotocols=protocol
                ):
                    return 101
            except websockets.InvalidStatus as error:
                return error.response.status_code

        assert asyncio.run(handshake(server.url)) == 101
        for other in ("http://evil.example", f"http://localhost:{server.port}", "null"):
            assert asyncio.run(handshake(other)) == 403, other
        outside = [a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
        for address in {a for a in outside if not a.startswith("127.")}:
            with (
                pytest.raises(ConnectionRefusedError),
                socket.create_connection((address, server.port), timeout=120),
            ):
                pass
    finally:
        server.close()
    server.close()  # a second time does nothing


def test_a_page_cannot_publish_itself() -> None:
    from viser import _messages

    server = Server()
    try:
        handlers = server.viser._websock_server._incoming_handlers
        assert _messages.ShareUrlRequest not in handlers
    finally:
        server.close()


def test_a_port_in_use_is_named_and_without_a_name_the_next_one_is_taken() -> None:
    taken = listen(None)
    try:
        port = taken.getsockname()[1]
        with pytest.raises(PortError, match=f"{HOST}:{port}.*Name another port"):
            Server(port)
        server = Server()
        assert server.port != port
        server.close()
    finally:
        taken.close()


def test_a_server_that_is_not_guarded_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """A viser that would start otherwise is refused."""
    from dovetail.viewer import server as module

    @contextlib.contextmanager
    def unseen(sock: socket.socket, guarded: list[int]) -> Iterator[None]:
        sock.close()
        yield

    monkeypatch.setattr(module, "_guarded_serve", unseen)
    with pytest.raises(dovetail.DovetailError, match="nothing is served"):
        Server()


def test_without_the_extra_the_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra, "find_spec", lambda name: None)
    model = dovetail.load("pendulum")
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[viewer\]"):
        viewing.launch_passive(model, dovetail.make_data(model))
    with pytest.raises(MissingDependencyError, match="viser"):
        viewing.launch("pendulum")


def test_a_passive_viewer_shows_what_is_stepped_outside(capsys: pytest.CaptureFixture[str]) -> None:
    sim = dovetail.Simulation("pendulum", backend="numpy")
    with viewing.launch_passive(sim.model, sim.data, open_browser=False) as viewer:
        assert viewer.url in capsys.readouterr().out
        steps = 0
        while viewer.is_running() and steps < 5:
            sim.step()
            viewer.sync()
            steps += 1
        for node in viewer.stage.nodes:
            centred = np.flatnonzero(~node.batch.made.offset.any(axis=1))
            there = np.asarray(sim.data.geom_xpos)[node.batch.made.element[centred]]
            assert node.handle.batched_positions[centred] == pytest.approx(there, abs=1e-6)
        viewer.runner.ask(lambda: viewer.runner.reset(), edits=True)
        viewer.sync()
        assert sim.data.time == 0.0
        with viewer.lock():
            sim.data.qvel[0] = np.nan
        viewer.sync()
        assert "qvel" in viewer.runner.problem
        viewer.stop()
        viewer.sync()
        assert not viewer.is_running()
    assert "viser" not in capsys.readouterr().out


def test_every_kind_of_geom_and_every_mark_is_drawn() -> None:
    with viewing.live_viewer(dovetail.loads(BALL), backend="numpy", paused=True) as viewer:
        names = {node.batch.name for node in viewer.stage.nodes}
        assert {"ball_clear", "mesh_0", "hfield_0"} <= names
        painted = [node.batch for node in viewer.stage.nodes if node.batch.file]
        assert len(painted) == 2
        assert all(batch.file[:4] == b"glTF" for batch in painted)
        model = viewer.watched.model
        assert sorted(model.tex_type.tolist()) == [TextureType.TWO_D, TextureType.CUBE]
        for flag in range(len(viewer.opt.flags)):
            viewer.opt.flags[flag] = True
        viewer.redraw()
        viewer.runner.step_once(200)
        viewer.sync()
        assert viewer.runner.problem == ""
        for node in viewer.stage.nodes:
            assert np.isfinite(node.handle.batched_positions).all()
        viewer.opt.geomgroup[0] = False
        viewer.redraw()
        assert viewer.stage.nodes == []


def test_picking_tracking_and_worlds() -> None:
    with viewing.live_viewer("pendulum", nworld=4, backend="numpy", paused=True) as viewer:
        viewer.sync()
        viewer.hand.pick(1, 3)
        viewer.cameras.track(1, viewer.watched.shown(3).xpos[1])
        viewer.runner.ask(lambda: None)
        viewer.sync()
        assert viewer.stage.world == 3
        wanted = np.asarray(viewer.watched.shown(3).xpos[1]) + viewer.stage.offsets[3]
        assert viewer.stage.offset == pytest.approx(wanted)
        assert viewer.stage.root.position == pytest.approx(-wanted)


def test_two_implementations_have_one_picture() -> None:
    with pair_viewer("pendulum", "", "integrate=rk4", paused=True) as viewer:
        viewer.sync()
        assert any(node.batch.name.startswith("ghost_1") for node in viewer.stage.nodes)
        viewer.stage.stand(ghost=False)
        assert not any(node.batch.name.startswith("ghost") for node in viewer.stage.nodes)
        assert np.abs(viewer.stage.offsets).max() > 0
        viewer.sync()


def test_ctrl_c_ends_the_command_cleanly() -> None:
    command = [sys.executable, "-m", "dovetail", "view", "pendulum", "--no-open", "--backend", "numpy"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # who runs the tests may have it ignored
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "viewer at http://127.0.0.1:" in line
        assert status(line.split()[2]) == 200
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (0, "", "")
    finally:
        process.kill()

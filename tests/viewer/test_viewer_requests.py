"""Requests and messages that no page of the viewer sends: a plain refusal, no traceback, and the session goes on."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("viser")

import msgspec
import viser
import websockets

from dovetail.viewer.guard import LONGEST_TARGET
from dovetail.viewer.server import HOST, Server

WAIT = 60.0
encoded = msgspec.msgpack.encode


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def answer(server: Server, request: bytes) -> int | None:
    """The status of the answer to some bytes; None if the connection is closed without one."""
    with socket.create_connection((HOST, server.port), timeout=WAIT) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as stream:
            line = stream.readline()
    return int(line.split()[1]) if line else None


def get(server: Server, path: str = "/", *headers: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {HOST}:{server.port}", *headers]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


REFUSED: dict[str, tuple[str, tuple[str, ...], int]] = {
    "two hosts": ("/", (f"Host: {HOST}",), 400),
    "two hosts, one of them another": ("/", ("Host: evil.example",), 400),
    "two origins": ("/", ("Origin: http://a", "Origin: http://b"), 400),
    "a header that viser reads stands twice": ("/", ("Upgrade: websocket", "Upgrade: websocket"), 400),
    "a long path": ("/" + "a" * 5000, (), 414),
    "a long query": ("/?" + "a" * LONGEST_TARGET, (), 414),
    "a name that no file can have": ("/" + "a" * 300, (), 404),
    "a zero in a name": ("/%00", (), 404),
    "a way out": ("/%2e%2e/%2e%2e/etc/passwd", (), 404),
    "a broken handshake": (
        "/",
        ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"),
        400,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_request_that_is_none_of_the_pages_is_refused_in_silence(
    server: Server, case: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    path, headers, status = REFUSED[case]
    assert answer(server, get(server, path, *headers)) == status
    assert answer(server, get(server)) == 200
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert "".join(capfd.readouterr()) == ""


UNREADABLE: dict[str, bytes] = {
    "no HTTP": b"\x00\xff\xfe\r\n\r\n",
    "another method": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a header without a colon": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nnonsense\r\n\r\n",
    "a line beyond what websockets reads": b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n",
    "too many headers": b"GET / HTTP/1.1\r\n" + b"X: 1\r\n" * 300 + b"\r\n",
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_bytes_that_websockets_cannot_read_end_the_connection_in_silence(
    server: Server, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert answer(server, UNREADABLE[case]) is None
    assert answer(server, get(server)) == 200
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def talk(server: Server, message: str | bytes) -> int | None:
    """Send something on a connection of its own; the code with which it is closed, None if it stays open and
    goes on."""
    protocol = [websockets.Subprotocol(f"viser-v{viser.__version__}")]
    async with websockets.connect(f"ws://{HOST}:{server.port}", subprotocols=protocol) as connection:
        await connection.send(message)
        try:
            await asyncio.wait_for(await connection.ping(), WAIT)
            while True:
                await asyncio.wait_for(connection.recv(), 0.2)
        except TimeoutError:
            return None
        except websockets.ConnectionClosed as error:
            return error.rcvd.code if error.rcvd else None


BAD_MESSAGES: dict[str, str | bytes] = {
    "text": "hello",
    "no msgpack": b"\xc1\xff\x00",
    "nothing": b"",
    "a list": encoded([1, 2]),
    "no type": encoded({"a": 1}),
    "an unknown type": encoded({"type": "Nope"}),
    "fields missing": encoded({"type": "GuiUpdateMessage"}),
}


@pytest.mark.parametrize("case", BAD_MESSAGES)
def test_what_is_no_message_ends_its_own_connection_with_one_line(
    server: Server, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert asyncio.run(talk(server, BAD_MESSAGES[case])) == 1007
    assert answer(server, get(server)) == 200
    (record,) = caplog.records
    assert re.fullmatch("the viewer closes a connection that sent no message of the page: .+", record.message)
    assert record.exc_info is None


def test_a_message_that_asks_for_nonsense_is_told_in_one_line_and_the_connection_stays(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    slider = server.viser.gui.add_slider("speed", min=0.0, max=1.0, step=0.1, initial_value=0.5)
    (uuid,) = server.viser.gui._gui_input_handle_from_uuid
    nonsense = encoded({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": "fast"}})
    assert asyncio.run(talk(server, nonsense)) is None
    assert slider.value == 0.5
    (record,) = caplog.records
    assert record.message.startswith("the viewer cannot do what a page asks: ValueError: could not convert")
    assert record.exc_info is None


def test_a_server_that_was_sent_nonsense_ends_without_leaving_threads() -> None:
    before = set(threading.enumerate())
    server = Server()
    assert answer(server, get(server, "/", "Host: twice")) == 400
    server.close()
    assert [thread for thread in threading.enumerate() if thread not in before and thread.is_alive()] == []

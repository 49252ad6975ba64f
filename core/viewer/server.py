"""viser's server on a loopback socket of our own: named errors for ports, no other origins, no tunnel, no chatter.

viser opens its socket itself and takes the next port when one is busy; it checks no origins, and lets any page ask
for a public tunnel. So its call of `websockets.asyncio.server.serve` is given our socket and our check of requests
while it starts, and the tunnel's handlers are taken away. If a version of viser no longer starts in this way, that is
an error: it would be a server that nobody guards.

What a client sends that is no request, or no message of the page, ends its own connection at most. It is told in one
line of the logger `dovetail.viewer`, or in none; tracebacks are for mistakes of the viewer, and these are none.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

from dovetail.errors import DovetailError
from dovetail.viewer.extra import require_viser
from dovetail.viewer.guard import verdict

HOST = "127.0.0.1"
FIRST_PORT = 8080
"""Where a port is looked for when nobody names one."""
PORTS_TRIED = 50

LOGGER = logging.getLogger("dovetail.viewer")
LONGEST_LINE = 200
"""Characters that are told of an error."""

_starting = threading.Lock()
"""Held while viser starts, because what it calls is exchanged for that time."""


class PortError(DovetailError, OSError):
    """The viewer cannot listen on a port."""


def listen(port: int | None) -> socket.socket:
    """A listening socket on loopback: on this port, or on the first free one from FIRST_PORT on if it is None."""
    if port is not None:
        try:
            return _bound(port)
        except OSError as error:
            raise PortError(
                f"the viewer cannot listen on {HOST}:{port}: {error.strerror or error}. Name another port, "
                "or none, so that a free one is taken"
            ) from None
    for candidate in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        with contextlib.suppress(OSError):
            return _bound(candidate)
    return _bound(0)


def _bound(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A port whose last connections are still winding down is free; one that is listened on is not.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen(100)
    except (OSError, OverflowError):
        made.close()
        raise
    return made


class Server:
    """A viser server that only this machine's own pages reach; `viser` is viser's object."""

    def __init__(self, port: int | None = None, *, label: str = "dovetail") -> None:
        require_viser()
        import viser

        sock = listen(port)
        self.port: int = sock.getsockname()[1]
        guarded: list[int] = []
        try:
            with _starting, _guarded_serve(sock, guarded), quiet():
                self.viser = viser.ViserServer(host=HOST, port=self.port, label=label, verbose=False)
        except BaseException:
            sock.close()
            raise
        if not guarded:
            self._stop()
            sock.close()
            raise DovetailError(
                f"viser {viser.__version__} does not start its server in the way that the viewer guards; "
                "nothing is served. Install a version that the extra 'viewer' asks for"
            )
        _close_tunnel(self.viser)
        self._closed = False

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.port}"

    def close(self) -> None:
        """End the server and wait for its threads; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self._stop()

    def _stop(self) -> None:
        with quiet():
            self.viser.stop()
            # viser lets its pool's threads end when they will; whoever closes wants none left.
            self.viser._thread_executor.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _guarded_serve(sock: socket.socket, guarded: list[int]) -> Iterator[None]:
    """While viser starts: its WebSocket server listens on our socket and asks our guard first."""
    module: Any = importlib.import_module("websockets.asyncio.server")

    original = module.serve

    def serve(handler: Any, host: Any, port: Any, *, process_request: Any = None, **options: Any) -> Any:
        guarded.append(port)
        asyncio.get_running_loop().set_exception_handler(_tell)
        warnings.filterwarnings("ignore", message=r"\[viser\] .* does not match annotation")
        answer = _checking(process_request)
        return original(
            _closing(handler), sock=sock, process_request=answer, logger=_requests_logger(), **options
        )

    module.serve = serve
    try:
        yield
    finally:
        module.serve = original


def _checking(answer: Callable[[Any, Any], Any] | None) -> Callable[[Any, Any], Any]:
    """Viser's answer to a request, if the request may be answered; there is nothing where viser cannot look."""

    def process(connection: Any, request: Any) -> Any:
        headers = request.headers
        refused = verdict(request.path, headers.get_all("Host"), headers.get_all("Origin"))
        if refused is None and answer is not None:
            try:
                return answer(connection, request)
            except OSError:  # a name that no file can have
                refused = HTTPStatus.NOT_FOUND, "there is no such page"
            except LookupError:  # websockets: a header that may stand once stands twice
                refused = HTTPStatus.BAD_REQUEST, "a header of the request stands twice"
        return None if refused is None else connection.respond(refused[0], f"{refused[1]}\n")

    return process


def _closing(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Viser's handler of a connection, which ends when something comes that is no message of the page."""

    async def handle(connection: Any) -> None:
        from websockets.frames import CloseCode

        try:
            await handler(connection)
        except Exception as error:
            LOGGER.warning(
                "the viewer closes a connection that sent no message of the page: %s", _line(error)
            )
            await connection.close(CloseCode.INVALID_DATA, "this is no message of the page")

    return handle


def _tell(loop: Any, context: dict[str, Any]) -> None:
    """A line about something that a page asked for and that cannot be done."""
    error = context.get("exception")
    LOGGER.warning("the viewer cannot do what a page asks: %s", _line(error) or context.get("message"))


def _line(error: BaseException | None) -> str:
    """An error in one line."""
    if error is None:
        return ""
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_LINE].rstrip(":")


def _requests_logger() -> logging.Logger:
    """Where websockets tells of requests that it cannot read. They are answered or dropped, and of no interest."""
    logger = logging.getLogger(f"{LOGGER.name}.requests")
    logger.setLevel(logging.CRITICAL)
    return logger


def _close_tunnel(server: Any) -> None:
    """Nobody who sees the page may publish it."""
    from viser import _messages

    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Viser greets and says goodbye on the terminal by rich; not here."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before

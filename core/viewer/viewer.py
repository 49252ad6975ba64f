"""The viewer: a server, what is watched, its picture and the panels, brought together frame by frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from types import TracebackType
from typing import Any, Self

from dovetail.contracts.fields import Array
from dovetail.viewer.cameras import Cameras
from dovetail.viewer.hand import Hand
from dovetail.viewer.light import light_up
from dovetail.viewer.panels import Panels
from dovetail.viewer.run import FRAMES_PER_SECOND, Runner
from dovetail.viewer.server import Server, quiet
from dovetail.viewer.stage import Stage
from dovetail.viewer.watched import Watched
from dovetail.visual import VisualOptions

PANELS_PER_SECOND = 5.0
"""How often numbers and plots are renewed."""


class Viewer:
    """Shows something watched at `url` until it is closed: `run` steps it, `sync` shows what somebody else steps."""

    def __init__(
        self,
        watched: Watched,
        *,
        port: int | None = None,
        paused: bool = False,
        options: VisualOptions | None = None,
        panels: tuple[Any, ...] = (),
        passive: bool = False,
        colours: Callable[[], Array | None] | None = None,
        ghost: bool = False,
    ) -> None:
        self.watched, self.passive = watched, passive
        self._lock = RLock()
        self._closed = False
        server = Server(port, label=watched.model.modelname or "dovetail")
        self._server = server
        try:
            self.runner = Runner(watched, paused=paused)
            if not passive:
                self.runner.first_look()
            light_up(server.viser, watched.model)
            self.stage = Stage(server.viser, watched, options, colours=colours, ghost=ghost)
            self.cameras = Cameras(server.viser, watched.model)
            self.cameras.begin(watched, self.stage.offsets)
            self.hand = Hand(self.runner, self.stage)
            self.panels = Panels(self, panels)
        except BaseException:
            server.close()
            raise
        self._next_panels = 0.0
        self._pages = -1
        self.frames = 0
        """Drawn so far."""

    # ---- what a user's loop calls

    @property
    def url(self) -> str:
        """Where the page is."""
        return self._server.url

    @property
    def opt(self) -> VisualOptions:
        """What is drawn; call `redraw` after changing groups or flags."""
        return self.stage.options

    def is_running(self) -> bool:
        """Whether the viewer is open: nobody has closed it, here or in the page."""
        return not self._closed

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep the viewer from reading or writing the Data meanwhile."""
        with self._lock:
            yield

    def sync(self) -> None:
        """Show the Data as it is now, and do what was asked for in the page: controls, resets, pulling."""
        if self._closed:
            return
        with self._lock:
            if self.passive:
                self.runner.follow()
                changed = True
            else:
                changed = self.runner.frame()
            self._show(changed)

    def redraw(self) -> None:
        """Draw everything anew, for other options."""
        self.stage.rebuild()
        self.hand.bind()

    def close(self) -> None:
        """End the viewer and its threads; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self.panels.close()
            self._server.close()

    def stop(self) -> None:
        """Have the loop end; from any thread, the page's included."""
        self.runner.stopped = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- a loop of its own

    def run(self) -> None:
        """Simulate and show until somebody closes the viewer or presses Ctrl-C."""
        while self.is_running() and not self.runner.stopped:
            began = time.perf_counter()
            self.sync()
            rest = 1.0 / FRAMES_PER_SECOND - (time.perf_counter() - began)
            if rest > 0:
                time.sleep(rest)

    def _show(self, changed: bool) -> None:
        now = time.perf_counter()
        pages = len(self._server.viser.get_clients())
        if pages > self._pages >= 0:
            changed = True
        self._pages = pages
        if changed and not self.runner.problem:
            self.stage.offset = self.cameras.follow(
                self.watched, self.stage.world, self.stage.offsets[self.stage.world]
            )
            self.hand.follow()
            self.stage.draw()
            self.frames += 1
        if now >= self._next_panels:
            self._next_panels = now + 1.0 / PANELS_PER_SECOND
            with quiet():
                self.panels.renew()
        if self.runner.stopped:
            self.close()

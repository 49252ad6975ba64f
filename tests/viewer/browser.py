"""A headless Chromium that looks at a viewer, for tests."""

from __future__ import annotations

import io
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from dovetail.viewer.viewer import Viewer

WIDTH, HEIGHT = 800, 600
FLAGS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)
HARMLESS = ("THREE.Clock", "Unable to preventDefault inside passive event listener")
"""How warnings of viser's own page begin."""
PATIENCE = 120.0
"""Seconds that a slow machine may take."""
CLOSE = 3.0
"""Pixels between what is seen and what the Data says."""
LOOK = 0.2
"""Seconds between two looks."""


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, or the test is skipped where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def running(viewer: Viewer) -> Iterator[Viewer]:
    """A viewer whose loop runs on a thread of its own."""
    thread = threading.Thread(target=viewer.run)
    thread.start()
    try:
        yield viewer
    finally:
        viewer.stop()
        thread.join(120)
        viewer.close()
        assert not thread.is_alive()


class Page:
    """A tab that looks at a viewer; what its console complains about is kept."""

    def __init__(self, browser: Any, viewer: Viewer) -> None:
        self.viewer = viewer
        self.complaints: list[str] = []
        self.page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(viewer.url)
        self.ready()

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(HARMLESS):
            self.complaints.append(message.text)

    def ready(self) -> None:
        """Wait until the page is there and its scene has been drawn."""
        self.page.get_by_role("button", name="Reset", exact=True).wait_for()
        # Viser warns of software rendering, which covers a corner.
        self.page.add_style_tag(content=".mantine-Notifications-root { display: none }")
        until(lambda: self.pixels().std() > 3)

    def pixels(self) -> np.ndarray:
        """What is seen, (HEIGHT, WIDTH, 3)."""
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.page.screenshot())).convert("RGB"), float)

    def centre_of(self, wanted: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
        """The mean column and row of the pixels that a rule accepts; None if there are hardly any."""
        rows, columns = np.nonzero(wanted(self.pixels()))
        if len(rows) < 30:
            return None
        return np.array([columns.mean() + 0.5, rows.mean() + 0.5])

    def is_at(self, wanted: Callable[[np.ndarray], np.ndarray], place: np.ndarray) -> bool:
        """Whether the middle of such pixels is within three pixels of a place. A page draws a moment later than it is
        told to, so this is asked again for a while."""
        centre = self.centre_of(wanted)
        return centre is not None and bool(np.linalg.norm(centre - place) < CLOSE)


def magenta(pixels: np.ndarray) -> np.ndarray:
    """Pixels of a colour that nothing else has."""
    red, green, blue = np.moveaxis(pixels, -1, 0)
    found: np.ndarray = (red > 50) & (blue > 50) & (green < 0.55 * red) & (green < 0.55 * blue)
    return found


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens soon."""
    for _ in range(int(PATIENCE / LOOK)):
        if condition():
            return
        time.sleep(LOOK)
    raise AssertionError("it did not happen in time")

"""Viewers, with the names of `mujoco.viewer`, in the browser: dovetail's own (the extra `viewer`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dovetail.mj.structs.data import MjData
from dovetail.mj.structs.model import MjModel

__all__ = ["launch", "launch_passive"]


def launch_passive(model: MjModel, data: MjData, **more: Any) -> Any:
    """Show a simulation that you step yourself; call `sync()` of what this gives when it shall be seen."""
    viewer: Any = import_module("dovetail.viewer")
    return viewer.launch_passive(model._model, data.seen_by(model), **more)


def launch(model: MjModel, **more: Any) -> Any:
    """Show a model that the viewer simulates by itself."""
    viewer: Any = import_module("dovetail.viewer")
    return viewer.launch(model._model, **more)

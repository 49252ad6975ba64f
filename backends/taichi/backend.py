"""The Taichi backend as the plan sees it: a segment becomes one fused kernel over tiles of worlds."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dovetail.backends.lanes.backend import LaneBackend
from dovetail.distribution import requirement

if TYPE_CHECKING:
    from dovetail.backends.lanes.fuse import Sources, Target
    from dovetail.backends.taichi.device_program import DeviceProgram
    from dovetail.backends.taichi.program import Program


class TaichiBackend(LaneBackend):
    """Lane kernels printed for Taichi, or for Quadrants, which understands the same."""

    name = "taichi"
    title = "Taichi"
    install = requirement("taichi")
    settings = ("runtime", "arch")
    """Settings of a plan that are its own."""

    def missing(self) -> str:
        found = any(importlib.util.find_spec(name) for name in ("taichi", "quadrants"))
        return "" if found else "taichi"

    def preference(self, nworld: int | None) -> int:
        """Its kernels take long to compile and to launch: one world is sooner done without."""
        return 0 if nworld is None else 1

    def runtime(self, options: Mapping[str, Any]) -> str:
        """The runtime that plans with these options use."""
        from dovetail.backends.taichi.runtime import choose_runtime

        return choose_runtime(options.get("runtime", "auto"))

    def alone(self, options: Mapping[str, Any]) -> bool:
        """On a device a thread has one world; what lies side by side there is the device's own business."""
        from dovetail.backends.taichi.runtime import choose_arch

        return choose_arch(options.get("arch", "auto")) != "cpu"

    def compile_program(self, sources: Sources, target: Target) -> Program | DeviceProgram:
        from dovetail.backends.taichi.program import compile_program

        return compile_program(sources, target)

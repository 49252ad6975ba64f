"""Registers the Taichi backend; nothing of Taichi is imported until a plan uses it."""

from __future__ import annotations

from dovetail.backend import Backend
from dovetail.backends.taichi.backend import TaichiBackend
from dovetail.hookspecs.markers import hookimpl


@hookimpl
def dovetail_backends() -> list[Backend]:
    return [TaichiBackend()]

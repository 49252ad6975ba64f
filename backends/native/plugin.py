"""Registers the native backend; no compiler is looked for until a plan uses it."""

from __future__ import annotations

from dovetail.backend import Backend
from dovetail.backends.native.backend import NativeBackend
from dovetail.hookspecs.markers import hookimpl


@hookimpl
def dovetail_backends() -> list[Backend]:
    return [NativeBackend()]

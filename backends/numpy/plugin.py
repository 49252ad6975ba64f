"""Registers the NumPy backend."""

from __future__ import annotations

from dovetail.backend import Backend
from dovetail.backends.numpy import NumpyBackend
from dovetail.hookspecs.markers import hookimpl


@hookimpl
def dovetail_backends() -> list[Backend]:
    return [NumpyBackend()]

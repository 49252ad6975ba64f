"""Which models need what this package adds."""

from __future__ import annotations

from typing import Any

import numpy as np

PREFIX = "acme_speed:"
"""Begins the names of our sensors; the body's name follows."""


def cones(model: Any) -> set[str]:
    """The kind of friction cones of contacts."""
    return {("pyramidal", "elliptic")[int(model.opt.cone)]}


def speedometers(model: Any) -> str:
    """Why the row of our sensors must run."""
    count = len(of_bodies(model))
    return f"{count} speedometer{'s'[: count > 1]}" if count else ""


def of_bodies(model: Any) -> list[tuple[int, int]]:
    """Address in sensordata and body of each of our sensors."""
    names = model.object_names["sensor"]
    bodies = list(model.object_names["body"])
    return [
        (int(model.sensor_adr[n]), bodies.index(name.removeprefix(PREFIX)))
        for n, name in enumerate(names)
        if name.startswith(PREFIX)
    ]


def sticky_bodies(model: Any) -> str:
    """Why the drag must run."""
    count = int(np.count_nonzero(model.extra["acme:stickiness"]))
    return f"{count} bod{'ies' if count > 1 else 'y'} in molasses" if count else ""

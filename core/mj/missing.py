"""What the drop-in does not have, and what to use instead."""

from __future__ import annotations

import re

from dovetail.errors import nearest
from dovetail.mj.errors import MissingError

INSTEAD: tuple[tuple[str, str], ...] = (
    (r"mjr_|MjrContext|MjrRect", "pictures are made by dovetail.Renderer, which needs no OpenGL context"),
    (
        r"GLContext|gl_context|glfw|egl|osmesa",
        "pictures are made by dovetail.Renderer, which needs no OpenGL",
    ),
    (r"mjv_|Mjv", "what a model looks like is in dovetail.visual, pictures in dovetail.Renderer"),
    (r"viewer", "`dovetail view MODEL` shows a model in the browser"),
    (r"renderer|Renderer", "dovetail.Renderer draws pictures"),
    (r"mjx", "a batch of worlds is dovetail.Simulation(model, nworld=…)"),
    (
        r"mj_(load(All)?Plugin|.*Plugin)|PLUGIN",
        "engine plugins are dovetail plugins: `dovetail plugins` lists them, and MuJoCo's own are built in",
    ),
    (
        r"mj_(get|set|clear)Cache|mj_.*Cache",
        "models that were loaded are cached by dovetail.load; `dovetail doctor`",
    ),
    (r".*user_(malloc|free)", "NumPy allocates the memory"),
    (r"mju_thread|.*[Tt]hread", "a batch of worlds uses all cores: dovetail.Simulation(model, nworld=…)"),
    (r"HEADERS_DIR|PLUGINS_DIR", "there is no C library"),
)
"""Patterns of names, and what a message says of them; the first that fits."""


def error_for(name: str) -> MissingError:
    """The error for a name that is not here."""
    for pattern, text in INSTEAD:
        if re.match(pattern, name):
            return MissingError(f"dovetail.mj has no {name}: {text}")
    import dovetail.mj

    return MissingError(f"dovetail.mj has no {name}{nearest(name, dir(dovetail.mj))}")

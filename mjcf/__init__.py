"""The MJCF front end: `compile_file` and `compile_text` turn a MuJoCo XML model into mjModel's values.

Schema as data (`schema`), one class per attribute kind (`kinds`), default classes (`defaults`), includes with
file and line of every element (`source`), a typed tree (`tree`), and a compiler to arrays (`compile`).
"""

from __future__ import annotations

from dovetail.mjcf.model.compile import Compiled, compile_file, compile_text
from dovetail.mjcf.model.tables import Tables

__all__ = ["Compiled", "Tables", "compile_file", "compile_text"]

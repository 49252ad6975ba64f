"""The MJCF front end: `compile_file` and `compile_text` turn a MuJoCo XML model into mjModel's values.

Five storeys, each standing on those before it:

- `geometry`: hulls, polygons, inertia, rotations; knows no XML.
- `read`: text to checked elements with file and line; the schema as data.
- `compose`: `<replicate>`, `<attach>` and `<composite>` put one document together out of parts.
- `elements`: one module per element: its item, how it is read and resolved, which fields of the model it fills.
- `model`: default classes, the compilation as a whole, and the arrays that come out.

Begin with `model/compile.py`, where `_compile`, `_read` and `_resolve` are lists of what happens, in order. Stages of
loading come in through `Tables`. Tests: `tests/mjcf`, most of them against MuJoCo's own compiler.
"""

from __future__ import annotations

from dovetail.mjcf.model.compile import Compiled, compile_file, compile_text
from dovetail.mjcf.model.tables import Tables

__all__ = ["Compiled", "Tables", "compile_file", "compile_text"]

"""The elements of MJCF, one module each.

A module of an element has, in this order: its item (attributes with MuJoCo's defaults), the fields of the Model that
it fills (`COLUMNS`: one row per item, `Pieces`: several), how it is read, how it is resolved once all is read.

- the tree: `worldbody` reads it; `body`, `joint`, `geom`, `site`, `camera`, `light`, `flexcomp`.
- assets: `asset` lists their readers; `mesh`, `hfield`, `texture`, `material`, `skin`.
- `deformable`: `flex`, `skin`.
- between parts of the tree: `contact`, `equality`, `tendon`, `actuator`, `sensor`.
- the rest: `compiler`, `settings`, `visual`, `custom`, `keyframe`, `plugins` with `plugin_rules`.
- what they share: `items`, `columns`, `object_kinds`, `poses`, `shapes`, `contact_settings`, `same_frames`, and
  `targets`.

`mesh_fields` and `flex_fields` are the columns of `mesh` and `flex`, which are many. Begin with `site`, the shortest.
`model/compile.py` says in which order elements are read and resolved. Tests: `tests/mjcf/test_<element>s.py`, and for
all attributes of all elements `test_attributes.py`; `test_columns.py` for the fields.
"""

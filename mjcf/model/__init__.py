"""The compilation of one model, from its elements to mjModel's arrays.

- `compile`: what happens, in order: read, resolve, count, build.
- `context`: what elements share meanwhile: settings, objects by kind and name; `defaults`: default classes;
  `tables`: the stages of loading that the compiler calls.
- `bodies`: poses and inertia of the tree; `discard`, `fuse`: bodies and assets that are left out.
- `arrays`: all fields of the Model; `bounds`, `sparsity`, `names`: those that follow from the whole tree.
- `after_constants`, `first_step`, `plugin_fields`: what is settled when the loaded Model exists.

Begin with `compile._compile`. Tests: `tests/mjcf/test_columns.py`, `test_random_models.py`, `test_fusestatic.py`,
`test_discardvisual.py`, `test_names.py`, `test_lengthrange.py`, `test_first_step.py`.
"""

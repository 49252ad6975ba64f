"""The contracts: what Model and Data are. Every field is declared once, and all else derives from its declaration.

Begin with `fields` (how a field is declared) and `data/state.py` (a short example); then `types`, where the
declarations become Model and Data.

declarations
    `model/`, `option`, `visual`    the fields of Model, one file per entity, and its groups `opt`, `stat`, `vis`
    `data/`                         the fields of Data, one file per part of the pipeline
    `kernel_fields`                 what lane stages leave for each other inside a kernel
    `plugin_fields`                 fields that plugins add
    `sizes`, `enums`, `choices`     names in shapes; MuJoCo's closed sets; words that calls take
memory and access
    `arena`                         all numbers in one buffer per dtype, tiled by worlds
    `bound`, `types`                fields as attributes; Model and Data
    `named`                         `data.body("torso").xpos`
    `protocols`                     the same for type checkers, generated (`docs/generate_types.py`)
what follows
    `derive`                        build, reset, validate
    `store`, `model_store`          save and load, bit for bit
    `indices`                       are the integers of a Model in their ranges (door of `index_*`)
answers of compile-time rows
    `pairs`, `sdf_shapes`, `flexcomp`, `engine_plugins`

Tests: `tests/contracts`, `tests/kernel/test_index_checks.py` and `tests/typing`. `docs/reference/fields.md` lists all
fields; "Add a field" in `docs/contributing.md` says how to add one.
"""

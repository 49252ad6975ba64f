"""Putting one document together out of parts, before anything is compiled.

- `submodels`: all documents of one compilation, each with its own settings.
- `composer`: walks the tree of a document and replaces what stands for something else.
- `document`: what a document holds so far: names, classes, sections to append to.
- `replicate`, `attach`, `composite`: the three elements that stand for something else.
- `namespace`: names and references of elements, read off the schema; `copies`: elements under other names;
  `plugin_instances`: engine plugins that elements use.
- `key_copies`, `key_layout`: keyframes of what was copied, and whose numbers they hold.

Begin with `Composer.compose`. Tests: `tests/mjcf/test_replicate*.py`, `test_attach*.py`, `test_composite.py`,
`test_composed_models.py`.
"""

"""`MjSpec` and its elements: models that can be edited (see docs/adr/0038-editable-specs.md)."""

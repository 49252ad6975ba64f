"""Handlers of MJCF elements, one small file per group: each turns schema-checked nodes into typed items."""

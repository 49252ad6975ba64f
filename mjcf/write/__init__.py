"""Writing MJCF: `text` prints a tree of elements, `compiled` makes one of a Model's arrays."""

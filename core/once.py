"""What is said once in a process, however often the same is found.

The command line imports this: nothing heavy here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class Once:
    """What was said already."""

    def __init__(self) -> None:
        self._said: set[Hashable] = set()

    @contextmanager
    def new(self, what: Hashable) -> Iterator[bool]:
        """Whether this was not said before; it is said meanwhile. A warning that is made an error leaves by an
        exception, and stays new."""
        if what in self._said:
            yield False
            return
        yield True
        self._said.add(what)

    def forget(self) -> None:
        """Everything is new again."""
        self._said.clear()

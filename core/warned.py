"""Warnings that can be given again: a Model from the cache says what loading it from its files said.

Who warns while a model is loaded does so with `warn`, which is `warnings.warn` and, where somebody collects them,
also a note of what was said from where. `Told.repeat` says it again, as if from there, so that the filters of the
moment decide once more.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import attrs


@attrs.frozen
class Told:
    """One warning, and where it came from."""

    text: str
    category: str
    """`module:class`."""
    module: str
    file: str
    line: int
    lasting: bool = True
    """Whether the same files give it again; else it has to do with the state of the machine."""

    def repeat(self) -> None:
        """Give the warning again."""
        registry = _shown_from(self.module)
        warnings.warn_explicit(self.text, self._class(), self.file, self.line, self.module, registry)

    def _class(self) -> type[Warning]:
        """The category, which is dovetail's own or Python's; nothing else is imported because a note says so."""
        module, _, name = self.category.partition(":")
        if module.partition(".")[0] not in ("dovetail", "builtins"):
            raise ValueError(f"{self.category} is no category of dovetail's warnings")
        found = getattr(importlib.import_module(module), name, None)
        if not isinstance(found, type) or not issubclass(found, Warning):
            raise ValueError(f"{self.category} is no category of warnings")
        return found


_collecting: ContextVar[list[Told] | None] = ContextVar("collecting", default=None)
_shown: dict[str, dict[Any, Any]] = {}
"""What was shown already, of modules that are not imported."""


def _shown_from(module: str) -> dict[Any, Any]:
    """Where Python notes what a module has warned of, so that the same is shown once."""
    if module in sys.modules:
        noted: dict[Any, Any] = vars(sys.modules[module]).setdefault("__warningregistry__", {})
        return noted
    return _shown.setdefault(module, {})


def warn(text: str, category: type[Warning], *, stacklevel: int = 1, lasting: bool = True) -> None:
    """Warn as `warnings.warn` does; `lasting`: whether whoever does the same with the same files is told again."""
    told = _collecting.get()
    if told is not None:
        frame = sys._getframe(stacklevel)
        kind = f"{category.__module__}:{category.__qualname__}"
        module = frame.f_globals.get("__name__", "<unknown>")
        told.append(Told(text, kind, module, frame.f_code.co_filename, frame.f_lineno, lasting))
    warnings.warn(text, category, stacklevel=stacklevel + 1)


@contextmanager
def collected() -> Iterator[list[Told]]:
    """What is warned of meanwhile, in this thread."""
    told: list[Told] = []
    token = _collecting.set(told)
    try:
        yield told
    finally:
        _collecting.reset(token)

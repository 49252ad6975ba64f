"""The errors of the drop-in: MuJoCo's two by their names, and those of models that cannot be read."""

from __future__ import annotations

import re

from dovetail.errors import DovetailError, MJCFError


class FatalError(DovetailError):
    """What MuJoCo calls an error that ends a computation: bad arguments of an engine function, no more room."""


class UnexpectedError(DovetailError):
    """Something that should not happen: a fault of the drop-in itself."""


class ModelError(DovetailError, ValueError):
    """A model cannot be read or written: MuJoCo's bindings raise a ValueError there."""


def model_text(problem: DovetailError) -> str:
    """What is wrong with a model, and after it, as MuJoCo says it and programs look for it, where: an element by tag
    and line if it cannot be read, an object by name, number and line if it cannot be compiled."""
    if not isinstance(problem, MJCFError) or not problem.line:
        return f"XML Error: {problem}"
    if problem.about is not None:
        name, number = problem.about
        return f"Error: {problem}\nElement name '{name}', id {number}, line {problem.line}"
    tag = re.match(r"<([^\s>]+)", problem.element)
    element = f"Element '{tag[1]}', " if tag else ""
    return f"XML Error: {problem}\n{element}line {problem.line}"


class InstallError(DovetailError, ImportError):
    """The drop-in cannot take MuJoCo's place, because MuJoCo itself is there already."""


class MissingError(DovetailError, AttributeError):
    """A name of MuJoCo's Python that the drop-in does not have; the text says what to use instead."""


__all__ = ["FatalError", "UnexpectedError"]

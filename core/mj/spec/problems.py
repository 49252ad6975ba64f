"""Errors of specs, and MuJoCo's words for the few that scripts look for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dovetail.mj.errors import ModelError

if TYPE_CHECKING:
    from dovetail.errors import MJCFError
    from dovetail.mj.spec.element import Element


class SpecError(ModelError):
    """A spec cannot be built, changed, compiled or written as was asked."""


WORDS: tuple[tuple[str, str], ...] = (
    (r"size\[?(\d?)\]? .*must be positive|needs? .*positive size|size .*positive", "size {} must be positive in {kind}"),
    (r"elevation has .* numbers", "elevation data length must match nrow*ncol"),
    (r"has no attribute '(\w+)'", "unrecognized attribute 'plugin:{0}'"),
    (r"name '(.*?)' is used twice", "repeated name '{0}' in {kind}"),
)
"""Patterns of our reasons, and what MuJoCo says there."""


def compile_problem(problem: MJCFError, element: Element | None) -> SpecError:
    """What went wrong when a spec was compiled, with the element that it is about."""
    text = f"Error: {_reason(problem, element)}"
    if element is not None:
        text += f"\nElement name '{element._values['name']}', id {max(element.id, 0)}"
        told = [element._values["info"]] if element._values["info"] else []
        file, line = element._place
        told += [f"{file}:{line}"] if file else []
        text += "".join(f", {word}" for word in told)
    return SpecError(text)


def _reason(problem: MJCFError, element: Element | None) -> str:
    kind = element.KIND if element is not None else "model"
    for pattern, words in WORDS:
        found = re.search(pattern, problem.reason)
        if found:
            said = words.format(*[g or "" for g in found.groups()], kind=kind)
            return f"{said} ({problem.reason})"
    return problem.reason

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
    (r"positive size number", "size {size} must be positive in {kind}"),
    (r"elevation has .* numbers", "elevation data length must match nrow*ncol"),
    (r"has no attribute '(\w+)'", "unrecognized attribute 'plugin:{0}'"),
    (r"name '(.*?)' is used twice", "repeated name '{0}' in {kind}"),
)
"""Patterns of the compiler's reasons, and MuJoCo's words for them."""


def compile_problem(problem: MJCFError, element: Element | None) -> SpecError:
    """What went wrong when a spec was compiled, with the element that it is about; where MuJoCo has words for it that
    scripts may look for, they come first and the compiler's reason last."""
    words = _known_words(problem.reason, element)
    lines = [f"Error: {words or problem.reason}"]
    if element is not None:
        file, line = element._place
        place = f"{file}:{line}" if file else ""
        told = [text for text in (element._values["info"], place) if text]
        name = element._values["name"]
        lines.append(
            "".join([f"Element name '{name}', id {max(element.id, 0)}", *(f", {text}" for text in told)])
        )
    return SpecError("\n".join([*lines, *([problem.reason] if words else [])]))


def _known_words(reason: str, element: Element | None) -> str:
    kind = element.KIND if element is not None else "model"
    sizes = list(element._values.get("size", ())) if element is not None and kind in ("geom", "site") else []
    first = next((place for place, size in enumerate(sizes) if size <= 0), 0)
    for pattern, words in WORDS:
        found = re.search(pattern, reason)
        if found:
            return words.format(*found.groups(), kind=kind, size=first)
    return ""

"""Who casts the rays: the reference in NumPy, or C where there is a compiler."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from dovetail.contracts.fields import Array
from dovetail.distribution import requirement
from dovetail.errors import MissingDependencyError
from dovetail.rendering.drawing import Drawing

logger = logging.getLogger(__name__)


class Caster(Protocol):
    """Makes pictures of drawings."""

    name: str

    def colours(self, drawing: Drawing, height: int, width: int) -> Array:
        """(nworld, height, width, 3) bytes."""

    def hits(self, drawing: Drawing, height: int, width: int) -> tuple[Array, Array]:
        """Depth (nworld, height, width) and objects (nworld, height, width, 2)."""


class NumpyCaster:
    """The reference."""

    name = "numpy"

    def colours(self, drawing: Drawing, height: int, width: int) -> Array:
        from dovetail.rendering import picture_numpy

        return picture_numpy.colours(drawing, height, width)

    def hits(self, drawing: Drawing, height: int, width: int) -> tuple[Array, Array]:
        from dovetail.rendering import picture_numpy

        return picture_numpy.hits(drawing, height, width)


def _compiled(threads: int | None) -> Caster:
    """Rays in C, if there is a compiler."""
    from dovetail.backends.native.compilers import choose_compiler
    from dovetail.backends.native.raycaster.launch import NativeCaster

    compiler = choose_compiler()
    if compiler is None:
        raise MissingDependencyError(
            'Renderer(backend="native") needs a C compiler, and there is none: install clang or gcc, or run '
            f'pip install "{requirement("native")}"; backend="numpy" needs none'
        )
    return NativeCaster(compiler, threads)


def _reference(threads: int | None) -> Caster:
    return NumpyCaster()


def _quickest(threads: int | None) -> Caster:
    """The reference only where nothing can be compiled."""
    from dovetail.backends.native.compilers import CompilerError

    try:
        return _compiled(threads)
    except (CompilerError, MissingDependencyError) as problem:
        logger.warning("pictures are made by the reference, which is slow: %s", problem)
        return _reference(threads)


BACKENDS: dict[str, Callable[[int | None], Caster]] = {
    "auto": _quickest,
    "native": _compiled,
    "numpy": _reference,
}
"""Who makes pictures, by the name that a user says."""

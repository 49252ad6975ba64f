"""Who casts the rays: the reference in NumPy, or C where there is a compiler."""

from __future__ import annotations

import logging
from typing import Protocol

from dovetail.contracts.fields import Array
from dovetail.distribution import requirement
from dovetail.errors import MissingDependencyError
from dovetail.rendering.drawing import Drawing

logger = logging.getLogger(__name__)

BACKENDS = ("auto", "native", "numpy")


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


def caster(backend: str, threads: int | None) -> Caster:
    """The one that is asked for; "auto" is the reference only where nothing can be compiled."""
    if backend == "numpy":
        return NumpyCaster()
    from dovetail.backends.native.compilers import CompilerError, choose_compiler

    try:
        compiler = choose_compiler()
        if compiler is not None:
            from dovetail.backends.native.raycaster.launch import NativeCaster

            return NativeCaster(compiler, threads)
    except CompilerError:
        if backend == "native":
            raise
        logger.warning("pictures are made by the slow reference: no kernel could be compiled", exc_info=True)
        return NumpyCaster()
    if backend == "native":
        raise MissingDependencyError(
            'Renderer(backend="native") needs a C compiler, and there is none: install clang or gcc, or run pip install '
            f'"{requirement("native")}"; backend="numpy" needs none'
        )
    return NumpyCaster()

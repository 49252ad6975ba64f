"""The errors of the drop-in: MuJoCo's two by their names, and those of models that cannot be read."""

from dovetail.errors import DovetailError


class FatalError(DovetailError):
    """What MuJoCo calls an error that ends a computation: bad arguments of an engine function, no more room."""


class UnexpectedError(DovetailError):
    """Something that should not happen: a fault of the drop-in itself."""


class ModelError(DovetailError, ValueError):
    """A model cannot be read or written: MuJoCo's bindings raise a ValueError there."""


class InstallError(DovetailError, ImportError):
    """The drop-in cannot take MuJoCo's place, because MuJoCo itself is there already."""


class MissingError(DovetailError, AttributeError):
    """A name of MuJoCo's Python that the drop-in does not have; the text says what to use instead."""


__all__ = ["FatalError", "UnexpectedError"]

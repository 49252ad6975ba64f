"""How a plugin makes itself known. Hooks here are called once, when the registry is filled; keep them cheap."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dovetail.hookspecs.markers import hookspec

if TYPE_CHECKING:
    from dovetail.backend import Backend
    from dovetail.contracts.kernel_fields import Transfer
    from dovetail.features import FeatureGroup
    from dovetail.implementation import Implementation
    from dovetail.semantics import Semantics


@hookspec
def dovetail_implementations() -> Iterable[Implementation]:  # type: ignore[empty-body]
    """Return the records of the implementations this plugin offers. Import no backend here."""


@hookspec
def dovetail_backends() -> Iterable[Backend]:  # type: ignore[empty-body]
    """Return runtimes that can execute implementations (a name, what it needs, how it compiles a segment)."""


@hookspec
def dovetail_features() -> Iterable[FeatureGroup]:  # type: ignore[empty-body]
    """Return groups of features that models may have, which the `supports` of records and the keys of part tables
    name."""


@hookspec
def dovetail_transfers() -> Iterable[Transfer]:  # type: ignore[empty-body]
    """Return how kernel fields become Data at the end of a kernel, and Data kernel fields at its beginning."""


@hookspec
def dovetail_function_versions(record: Implementation) -> Iterable[Implementation]:  # type: ignore[empty-body]
    """Return versions for other backends of a function that is written for the reference: one that a caller puts
    into a slot, or that of a package's record (`record.load()`). None for slots that it knows nothing about; for
    others raise NoVersionError if this function cannot have one: the plan says why."""


@hookspec
def dovetail_semantics() -> Iterable[Semantics]:  # type: ignore[empty-body]
    """Return bundles of stage choices and loading defaults, for `semantics=` and `--semantics`."""

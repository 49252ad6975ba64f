"""The record of an implementation: what it is and where it lives, cheap to make and to import.

The target is imported only when a plan selects the record.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

from dovetail.backend import REFERENCE
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.kernel_fields import KernelField
from dovetail.errors import PluginError, nearest
from dovetail.signatures import signature

_NAME = re.compile(r"[a-z][a-z0-9_]*$")
_MINOR = re.compile(r"\d+\.\d+$")
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*$")


TOUCHES = "dovetail_touches"
"""Attribute of a function that says which fields it reads and writes."""

F = TypeVar("F", bound=Callable[..., Any])


def touches(*, reads: str | None = None, writes: str | None = None) -> Callable[[F], F]:
    """Say which Data fields a function that is given as a stage reads and writes.

    Without it a plan takes it that the function may read all that its stage may, and runs on the reference whatever
    would keep any of that to a kernel.
    """

    def mark(function: F) -> F:
        setattr(function, TOUCHES, {"reads": reads, "writes": writes})
        return function

    return mark


def _split(value: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
    return tuple(value.split()) if isinstance(value, str) else value


def _tuple(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value.split()) if isinstance(value, str) else tuple(value)


def _split_values(value: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {key: _tuple(names) for key, names in value.items()}


@attrs.frozen(kw_only=True)
class Implementation:
    """One way to compute a stage (or one row of a table stage) on one backend."""

    stage: str
    name: str
    """The algorithm, e.g. `crb`; the same name on two backends means the same results."""
    backend: str
    """Where it runs: a backend, or `lanes` for a builder that every lane backend prints."""
    target: str
    """`module:function`, imported when selected."""
    key: str | None = None
    """Row of a table stage, e.g. `spring`."""
    summary: str = ""
    reads: tuple[str, ...] | None = attrs.field(default=None, converter=_split)
    """Data and kernel fields it reads, if fewer or other than the stage's; the plan checks that something writes
    them. `group.*` means all kernel fields of a group."""
    reads_with: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, converter=_split_values, eq=False)
    """What it reads besides in models with a feature: `{"trn.body": "contact_list.*"}`."""
    writes: tuple[str, ...] | None = attrs.field(default=None, converter=_split)
    """Data and kernel fields it writes, if other than the stage's."""
    requires: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    """Importable modules it needs besides its backend's."""
    install: str = ""
    """What to pip-install if a required module is missing."""
    supports: tuple[str, ...] = attrs.field(default=(), converter=_tuple)
    """Model features it handles, as `joint.ball`. A feature group it does not mention it handles wholly."""
    fields: tuple[FieldSpec, ...] = ()
    """Data fields of its own, named `namespace:field`."""
    model_fields: tuple[FieldSpec, ...] = ()
    """Model fields of its own, made by `model_field`."""
    kernel_fields: tuple[KernelField, ...] = ()
    """Kernel fields of its own, named `namespace:field`."""
    needed: str = ""
    """`module:function` of the Model that says why a model needs this row, or gives an empty string; for rows that
    a plugin adds to a table stage. Without one, every model needs it."""
    facts: Mapping[str, Any] = attrs.field(factory=dict, eq=False)
    """What a dispatching stage must know of a part, as `{"most_contacts": 4}` of a `collide_pair` row; of any stage,
    `looks_first` names a function `f(model, data)` that says whether the plan is to evaluate once before it goes on,
    as after a reset of trees that begin asleep, and `most_lanes` a function `f(model)` that says how many worlds per
    tile pay at most (0: any number)."""
    evaluations: int = 1
    """For `integrate`: forward evaluations per step."""
    default: bool = False
    """Whether it is the one to use when nobody chooses."""
    version: str = "1"
    """Changes when results change; saved beside a state."""
    deprecated: str = ""
    """Why it is superseded: it works on, warns once when a plan takes it, and goes a minor version after `since`."""
    replaced_by: str = ""
    """What to use instead, as `name` or `name@backend`."""
    since: str = ""
    """The minor version of its package that superseded it, as `0.1`."""
    provider: str = attrs.field(default="dovetail", eq=False)
    """The distribution it came from; set by the registry."""
    function: Callable[..., Any] | None = attrs.field(default=None, eq=False, repr=False)
    """What `target` names, if it is at hand already: a function given in a call."""
    captures: Any = attrs.field(default=None, eq=False, repr=False)
    """What a function worked into a kernel takes from around it: `captures.hold()` says whether it still is so."""

    @classmethod
    def of_function(cls, slot: str, function: Callable[..., Any]) -> Implementation:
        """A record for a function that a caller puts into a slot (`stage` or `stage:key`), on the reference."""
        stage, _, key = slot.partition(":")
        name = re.sub(r"\W+", "_", getattr(function, "__name__", type(function).__name__)).strip("_").lower()
        name = name if _NAME.match(name) else f"function_{name}".rstrip("_")
        declared = getattr(function, TOUCHES, {})
        return cls(
            stage=stage,
            key=key or None,
            name=name,
            backend=REFERENCE,
            target=f"{__name__}:{name}",
            summary="A function given in the call",
            provider="the call",
            function=function,
            reads=declared.get("reads"),
            writes=declared.get("writes"),
        )

    def __attrs_post_init__(self) -> None:
        for what, text, pattern in (
            ("name", self.name, _NAME),
            ("backend", self.backend, _NAME),
            ("target", self.target, _TARGET),
        ):
            if not pattern.match(text):
                raise PluginError(f"implementation of {self.stage!r}: {what} {text!r} is not valid")
        if bool(self.deprecated) != bool(self.since) or (self.since and not _MINOR.match(self.since)):
            raise PluginError(
                f"implementation of {self.stage!r}: {self.label} says deprecated = {self.deprecated!r} and since = "
                f"{self.since!r}; say both, since as a minor version: since='0.1'"
            )
        if self.replaced_by and not self.deprecated:
            raise PluginError(
                f"implementation of {self.stage!r}: {self.label} is replaced_by {self.replaced_by!r}; say with "
                "deprecated= why, and since= when"
            )

    @property
    def label(self) -> str:
        """`name@backend`, as users write it."""
        return f"{self.name}@{self.backend}"

    @property
    def slot(self) -> str:
        """`stage` or `stage:key`."""
        return self.stage if self.key is None else f"{self.stage}:{self.key}"

    @property
    def is_builtin(self) -> bool:
        """Whether it comes with dovetail, whose own tests look at it."""
        return self.function is None and self.target.startswith("dovetail.")

    @property
    def identity(self) -> str:
        """`name@backend/version`, and who it comes from if that is somebody else: what a saved state records."""
        return f"{self.label}/{self.version}" + (
            "" if self.provider == "dovetail" else f" of {self.provider}"
        )

    def deferred(self) -> Callable[..., Any]:
        """The target, to be imported when it is first called: the builder of a kernel that is at hand never is. Of a
        built-in one only; whether others fit their stage must be seen before."""
        return _deferred.setdefault(self.target, Deferred(self)) if self.is_builtin else self.load()

    def load(self) -> Callable[..., Any]:
        """Import the target; a broken one is a PluginError that names its distribution."""
        if self.function is not None:
            return self.function
        return self._import(self.target)

    def _import(self, target_name: str) -> Callable[..., Any]:
        module_name, _, attribute = target_name.partition(":")
        try:
            module = importlib.import_module(module_name)
        except Exception as error:
            raise PluginError(
                f"{self.slot} {self.label} from {self.provider}: importing {module_name} failed: "
                f"{type(error).__name__}: {error}"
            ) from error
        try:
            target: Callable[..., Any] = getattr(module, attribute)
        except AttributeError:
            raise PluginError(
                f"{self.slot} {self.label} from {self.provider}: {module_name} has no {attribute!r}"
                f"{nearest(attribute, vars(module))}"
            ) from None
        return target


class Deferred:
    """A function that is imported when it is first called, or asked for its arguments."""

    def __init__(self, record: Implementation) -> None:
        self._record = record

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._record.load()(*arguments, **named)

    @property
    def __signature__(self) -> inspect.Signature:
        return signature(self._record.load())

    def __repr__(self) -> str:
        return f"<{self._record.target}, imported when needed>"


_deferred: dict[str, Deferred] = {}
"""One for each target: who calls rows looks whether two of them are the same function."""


def data_field(name: str, *shape: str | int, unit: str = "", doc: str, tolerance: float = 1e-10) -> FieldSpec:
    """A Data field of an implementation's own, named `namespace:field`, for its record's `fields`."""
    if not re.match(r"[a-z]\w*:\w+$", name):
        raise PluginError(f"field {name!r} of a plugin should be named 'namespace:field'")
    return FieldSpec(
        name=name,
        shape=shape,
        dtype="real",
        unit=unit,
        doc=doc,
        writer=None,
        tolerance=tolerance,
        state=False,
        init=0,
    )

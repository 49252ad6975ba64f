"""Every error dovetail raises on purpose. The text says what was asked, where, what exists, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class DovetailError(Exception):
    """Base of all of dovetail's own errors."""


class MJCFError(DovetailError):
    """A model file cannot be read as MJCF; the message starts with `file:line:`."""

    def __init__(self, message: str, *, file: str = "<string>", line: int = 0, element: str = "") -> None:
        self.file, self.line, self.element, self.reason = file, line, element, message
        where = f"{file}:{line}: " if line else f"{file}: "
        super().__init__(where + (f"{element}: " if element else "") + message)


class UnsupportedMJCFError(MJCFError):
    """Valid MJCF that dovetail does not support yet."""


class ValidationError(DovetailError):
    """Arrays do not satisfy the contract; all problems are listed together."""

    def __init__(self, subject: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
        super().__init__(f"{subject}: {count}\n" + "\n".join(f"  - {p}" for p in problems))


class FileFormatError(DovetailError):
    """A saved file is not what it should be (wrong format, wrong model, truncated)."""


class NotKeptError(DovetailError, AttributeError):
    """A field lives only inside the fused kernel of this plan and was not asked for with `keep=`."""


class CapacityError(DovetailError):
    """Memory asked for is larger than the caller allows."""


class SelectionError(DovetailError):
    """A stage choice cannot be satisfied."""


class UnknownStageError(SelectionError):
    """A choice names a stage that does not exist."""


class UnknownImplementationError(SelectionError):
    """A choice names an implementation or backend that nobody registered."""

    asked_by_model = False
    """Whether the model itself asked (by an option, or by needing the stage), not the user."""


class UnsuitableImplementationError(SelectionError):
    """The chosen implementation does not handle something this model uses."""

    asked_by_model = False
    """Whether nobody chose it: it is the default, and nothing else would do either."""


class MissingDependencyError(SelectionError):
    """The chosen implementation needs a package that is not installed."""


class PlanError(DovetailError):
    """A plan cannot be compiled from otherwise valid choices."""


class PerWorldError(PlanError):
    """A Model field cannot differ between the worlds of a batch in the way that was asked for."""


class MissingStageError(PlanError):
    """The model needs a stage that no installed plugin implements."""


class DataFlowError(PlanError):
    """A stage reads a field that nothing before it writes."""


class PluginError(DovetailError):
    """A plugin is broken: it cannot be imported or its records are wrong."""


class RowResultError(DovetailError):
    """What a row of a table returned does not fit: another shape than asked for, or not numbers."""


class ConfigError(DovetailError):
    """A configuration file or environment variable cannot be understood."""


class BadStateError(DovetailError):
    """NaN or infinity appeared where numbers are expected."""


def nearest(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the closest candidate, or an empty string."""
    close = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def listing(names: Iterable[str]) -> str:
    """Names for an error message: sorted, comma-separated, or `none`."""
    return ", ".join(sorted(names)) or "none"

"""Every error dovetail raises on purpose. The text says what was asked, where, what exists, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

MOST_LISTED = 100
"""Names or problems in one message."""
MOST_COMPARED = 2000
"""Names that are looked at for the one that was meant."""
LONGEST_WORD, LONGEST_PATH, LONGEST_MESSAGE = 100, 400, 12_000
"""Characters in a message."""
LONGEST_NUMBER = 40
"""Digits."""


class DovetailError(Exception):
    """Base of all of dovetail's own errors. Texts stay readable whatever was given: long ones lose their middle."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(_cut(a) if isinstance(a, str) else a for a in arguments))


class ArgumentError(DovetailError, ValueError, TypeError):
    """A call was given something that means nothing there: another type, a number out of range, an unknown word."""


class UnknownNameError(DovetailError, KeyError):
    """No object of a model has this name or number."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class UnknownFieldError(DovetailError, AttributeError):
    """A Model, Data or object has no field of this name."""


class UnknownIndexError(DovetailError, IndexError):
    """There is no object of this number."""


class UnknownWorldError(UnknownIndexError):
    """A batch has no world of this number."""


class FileError(DovetailError, OSError):
    """A file cannot be opened, read or written; `reason` is the message without the path."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"{shown_path(path)}: {reason}")


class MJCFError(DovetailError):
    """A model file cannot be read as MJCF; the message starts with `file:line:`."""

    def __init__(self, message: str, *, file: str = "<string>", line: int = 0, element: str = "") -> None:
        self.file, self.line, self.element, self.reason = file, line, element, message
        self.about: tuple[str, int] | None = None
        """Name and number of the object that cannot be compiled; None where it cannot be read."""
        self.node: Any = None
        """Its element, while it is compiled."""
        where = f"{file}:{line}: " if line else f"{file}: "
        super().__init__(where + (f"{element}: " if element else "") + message)


class UnsupportedMJCFError(MJCFError):
    """Valid MJCF that dovetail does not support yet."""


class CannotWriteError(DovetailError, ValueError):
    """A model has something that MJCF cannot say; the message names it."""


class ValidationError(DovetailError):
    """Arrays do not satisfy the contract; all problems are listed together."""

    def __init__(self, subject: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
        lines = [f"  - {p}" for p in problems[:MOST_LISTED]]
        lines += [f"  - and {len(problems) - MOST_LISTED} more"] if len(problems) > MOST_LISTED else []
        super().__init__(f"{subject}: {count}\n" + "\n".join(lines))


class FileFormatError(DovetailError):
    """A saved file is not what it should be (wrong format, wrong model, truncated)."""


class NotKeptError(DovetailError, AttributeError):
    """A field lives only inside the fused kernel of this plan and was not asked for with `keep=`."""


class StaleFieldError(DovetailError):
    """A field is computed when somebody reads it, and what the last step computed it from was edited since."""


class CapacityError(DovetailError):
    """Memory asked for is larger than the caller allows."""


class TooLargeError(MJCFError, CapacityError):
    """A model asks for more than a limit allows; see the reference of limits."""


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


class LockError(SelectionError):
    """What would run is not what a stage lock allows."""


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


class NoVersionError(DovetailError):
    """A function for the reference has no version for another backend; the text says why."""


class UndeclaredFieldError(PluginError):
    """A stage touches a field that its record does not declare; found where that is watched."""


class WrittenKindError(PluginError):
    """A stage writes numbers of another kind than the field's; found where that is watched."""


class RowResultError(DovetailError):
    """What a row of a table returned does not fit: another shape than asked for, or not numbers."""


class ConfigError(DovetailError):
    """A configuration file or environment variable cannot be understood."""


class BadStateError(DovetailError):
    """NaN or infinity appeared where numbers are expected."""


def nearest(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the closest candidate, or an empty string. Only so many are looked at, and none that
    is no word: comparing takes time."""
    if len(name) > LONGEST_WORD:
        return ""
    words = [c for c in islice(candidates, MOST_COMPARED) if abs(len(c) - len(name)) <= len(name)]
    close = difflib.get_close_matches(name, words, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def listing(names: Iterable[str]) -> str:
    """Names for an error message: sorted, comma-separated, or `none`; of very many the first."""
    known = sorted(names)
    rest = [f"and {len(known) - MOST_LISTED} more"] if len(known) > MOST_LISTED else []
    return ", ".join([*(name[:LONGEST_WORD] for name in known[:MOST_LISTED]), *rest]) or "none"


def shown(value: object) -> str:
    """A value that somebody gave, for a message: as Python writes it, cut when it is long, and never in the way."""
    if isinstance(value, int) and abs(value) >= 10**LONGEST_NUMBER:
        return f"a number of {value.bit_length()} bits"
    try:
        text = repr(value[:LONGEST_WORD]) if isinstance(value, str | bytes) else repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_WORD else text[:LONGEST_WORD] + "…"


def shown_path(path: object) -> str:
    """A path for a message: printable, and cut when it is long."""
    text = str(path).replace("\0", "\\0")
    return text if len(text) <= LONGEST_PATH else text[:LONGEST_PATH] + "…"


def _cut(text: str) -> str:
    if len(text) <= LONGEST_MESSAGE:
        return text
    head, tail = LONGEST_MESSAGE * 3 // 4, LONGEST_MESSAGE // 4
    return f"{text[:head]} […] {text[-tail:]}"

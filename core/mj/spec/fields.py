"""Attributes of spec elements: one small class per kind, which checks what is assigned and says its MJCF name.

An element class lists its attributes as class attributes, in the order in which MuJoCo lists them as keywords:

    class MjsNumeric(Element):
        data = Vector(MjDoubleVec)
        size = Whole(0)

The same list gives the keywords of `add_numeric`, the copy of an element, and what is written to MJCF: `mjcf` is the
attribute's name there, if it is another one, and an empty text where MJCF says it in another way.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dovetail.errors import ArgumentError, shown
from dovetail.mj.enums import ENUMS
from dovetail.mj.spec.vectors import SpecVector

if TYPE_CHECKING:
    from dovetail.mj.spec.element import Record


class Field:
    """One attribute of an element."""

    expected: ClassVar[str] = "a value"
    complaint: ClassVar[str] = "{} is the wrong type."
    """MuJoCo's words for a keyword argument of another type."""

    def __init__(self, default: Any = None, mjcf: str | None = None) -> None:
        self.default, self.written = default, mjcf
        self.name = self.mjcf = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.mjcf = name if self.written is None else self.written

    def __get__(self, element: Record | None, owner: type | None = None) -> Any:
        return self if element is None else element._read(self)

    def __set__(self, element: Record, value: Any) -> None:
        element._alive()
        try:
            converted = self.converted(value)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(f"{self._told()} It takes {self._wanted()}, not {shown(value)}") from None
        element._write(self, converted)

    def from_keyword(self, element: Record, value: Any) -> None:
        """Set from a keyword argument: as MuJoCo, a bad one is told in one short sentence."""
        try:
            converted = self.converted(value)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(self._told(value)) from None
        element._values[self.name] = converted

    def _told(self, value: Any = None) -> str:
        return self.complaint.format(self.name)

    def _wanted(self) -> str:
        return self.expected

    def converted(self, value: Any) -> Any:
        """The value to be kept, or a TypeError or ValueError."""
        return value

    def initial(self) -> Any:
        """The value of a new element."""
        return self.default

    def copied(self, value: Any) -> Any:
        """The same value for another element."""
        return value


class Text(Field):
    """A text, as a name."""

    expected = "a text"
    complaint = "{} should be a string."

    def __init__(self, mjcf: str | None = None) -> None:
        super().__init__("", mjcf)

    def converted(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError
        return value


class Real(Field):
    """A real number; `single` if MuJoCo keeps it in single precision."""

    expected = "a number"

    def __init__(self, default: float, mjcf: str | None = None, *, single: bool = False) -> None:
        super().__init__(float(np.float32(default)) if single else default, mjcf)
        self.single = single

    def converted(self, value: Any) -> float:
        if isinstance(value, str | bytes):
            raise TypeError
        number = float(value)
        return float(np.float32(number)) if self.single else number


class Whole(Field):
    """A whole number."""

    expected = "a whole number"

    def converted(self, value: Any) -> int:
        if isinstance(value, str | bytes | float | np.floating):
            raise TypeError
        return int(value)


class Choice(Field):
    """A member of one of MuJoCo's enumerations."""

    def __init__(self, enum: str, default: int, mjcf: str | None = None) -> None:
        self.enum = ENUMS[enum]
        super().__init__(self.enum(default), mjcf)

    def _wanted(self) -> str:
        return f"a member of {self.enum.__name__}"

    def converted(self, value: Any) -> Any:
        if not isinstance(value, self.enum):
            raise TypeError
        return value


class Numbers(Field):
    """So many numbers, as an array that can be written into."""

    def __init__(self, default: Any, mjcf: str | None = None, *, dtype: type = np.float64) -> None:
        super().__init__(np.array(default, dtype), mjcf)
        self.dtype = dtype

    @property
    def size(self) -> int:
        return int(self.default.size)

    def _told(self, value: Any = None) -> str:
        counted = value is not None and np.ndim(value) > 0 and not _has_text(value)
        return f"{self.name} should be a list/array{f' of size {self.size}' if counted else ''}."

    def _wanted(self) -> str:
        return f"{self.size} numbers"

    def converted(self, value: Any) -> np.ndarray:
        array = np.array(value)
        if array.dtype.kind not in "fiub" or array.size != self.size or array.ndim == 0:
            raise ValueError
        return array.astype(self.dtype).reshape(self.default.shape)

    def initial(self) -> np.ndarray:
        return self.default.copy()

    def copied(self, value: Any) -> np.ndarray:
        return np.array(value)


def _has_text(value: Any) -> bool:
    return np.array(value, dtype=object).size > 0 and any(
        isinstance(item, str) for item in np.array(value, dtype=object).reshape(-1)
    )


class Vector(Field):
    """A list of any length."""

    complaint = "{} has the wrong type."

    def __init__(self, kind: type[SpecVector], default: Any = (), mjcf: str | None = None) -> None:
        super().__init__(default, mjcf)
        self.kind = kind

    def _wanted(self) -> str:
        return "a list of texts" if self.kind.numbers is None else "a list of numbers"

    def converted(self, value: Any) -> SpecVector:
        if isinstance(value, str) or (isinstance(value, bytes) and self.kind.numbers is not np.uint8):
            raise TypeError
        return self.kind(value)

    def initial(self) -> SpecVector:
        return self.kind(self.default)

    def copied(self, value: Any) -> Any:
        return value.copied()


class Letters(Vector):
    """A list of letters with a fixed length."""

    complaint = "{} should be a list/array."

    def _wanted(self) -> str:
        return f"{len(self.default)} letters"

    def converted(self, value: Any) -> SpecVector:
        letters = self.kind(value)
        if len(letters) != len(self.default):
            raise ValueError
        return letters


class Nested(Field):
    """A list of lists of numbers."""

    complaint = "{} has the wrong type."
    expected = "a list of lists of numbers"

    def __init__(self, number: type) -> None:
        super().__init__(None, "")
        self.number = number

    def converted(self, value: Any) -> list[list[Any]]:
        return [[self.number(item) for item in row] for row in value]

    def initial(self) -> list[list[Any]]:
        return []

    def copied(self, value: Any) -> Any:
        return copy.deepcopy(value)


class Part(Field):
    """A structure inside an element, made anew for each: an orientation, the use of a plugin."""

    def __init__(self, kind: type) -> None:
        super().__init__(None, "")
        self.kind = kind

    def _wanted(self) -> str:
        return f"a {self.kind.__name__}"

    def converted(self, value: Any) -> Any:
        if not isinstance(value, self.kind):
            raise TypeError
        return value

    def initial(self) -> Any:
        return self.kind()

    def copied(self, value: Any) -> Any:
        return value.copied()

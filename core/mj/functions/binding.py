"""How functions with MuJoCo's names take their arguments: as pybind11 does, results are written into arrays.

    @function("res: w3, vec: v3, quat: v4")
    def mju_rotVecQuat(res, vec, quat): ...

Kinds: `v3` three numbers (anything that NumPy makes an array of), `v` any number of them, `M` a matrix; `w3`, `w`,
`W` the same to be written: arrays of the right type in one piece. `i` in front stands for int32, `f` for float32, `b`
for bytes; `?` behind for None. `m` and `d` are MjModel and MjData; `int`, `float`, `bool`, `str` what they say. What
does not fit is a TypeError before anything is computed. Vectors reach the function flat, matrices with two axes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.structs.lasting import plain

Convert: TypeAlias = Callable[[Any], Any]
Function: TypeAlias = Callable[..., Any]


class UnfitError(Exception):
    """An argument that a function cannot take; says what it should be."""


@attrs.frozen
class Kind:
    """What an argument may be."""

    convert: Convert
    wanted: str
    """In words."""
    annotation: str
    """As signatures show it."""


_DTYPES = {"": np.dtype(float), "i": np.dtype(np.int32), "f": np.dtype(np.float32), "b": np.dtype(np.uint8)}


def _numbers(value: Any, dtype: Any) -> Array:
    """An array of this type, converted if need be."""
    if value is None:
        raise UnfitError
    array: Array = np.asarray(plain(value))
    if array.dtype is not dtype:
        if array.dtype.kind not in "biuf":
            raise UnfitError
        array = array.astype(dtype)
    return array


def _read_vector(dtype: Any, size: int | None) -> Convert:
    """A flat array of numbers, converted if need be."""

    def convert(value: Any) -> Array:
        array = _numbers(value, dtype)
        if array.ndim != 1:
            if array.ndim == 0 or (array.ndim == 2 and array.shape[1] == 1):
                array = array.reshape(-1)
            else:
                raise UnfitError
        if size is not None and len(array) != size:
            raise UnfitError
        return array

    return convert


def _read_matrix(dtype: Any, _: int | None) -> Convert:
    def convert(value: Any) -> Array:
        return _as_matrix(_numbers(value, dtype))

    return convert


def _as_matrix(array: Array) -> Array:
    """Two axes; a vector is a column."""
    if array.ndim == 2:
        return array
    if array.ndim > 2:
        raise UnfitError
    return array.reshape(-1, 1)


def _write_vector(dtype: Any, size: int | None) -> Convert:
    """A flat view of an array that results go into."""

    def convert(value: Any) -> Array:
        if not isinstance(value, np.ndarray) or value.dtype != dtype or not value.flags.writeable:
            raise UnfitError
        value = flat = _memory(value)
        if value.ndim != 1:
            if value.ndim != 2 or value.shape[1] != 1:
                raise UnfitError
            flat = value.reshape(-1)
        if not flat.flags.c_contiguous or (size is not None and len(flat) != size):
            raise UnfitError
        return flat

    return convert


def _write_matrix(dtype: Any, _: int | None) -> Convert:
    def convert(value: Any) -> Array:
        if not isinstance(value, np.ndarray) or value.dtype != dtype or not value.flags.writeable:
            raise UnfitError
        if not value.flags.c_contiguous:
            raise UnfitError
        return _as_matrix(_memory(value))

    return convert


def _memory(array: Array) -> Array:
    """What a C function sees of an array: its numbers, whatever a class of its own does when it is written to."""
    return np.asarray(plain(array))


_ARRAYS = {
    "v": (_read_vector, "{n}{type} numbers", ""),
    "M": (_read_matrix, "a matrix of {type} numbers", ""),
    "w": (_write_vector, "a writable, contiguous {type} array of {n}numbers", ', "flags.writeable"'),
    "W": (
        _write_matrix,
        "a writable, C-contiguous {type} matrix",
        ', "flags.writeable", "flags.c_contiguous"',
    ),
}


def _array_kind(code: str) -> Kind:
    """The kind that a code such as `w3` or `iv` stands for."""
    dtype = _DTYPES[code[0] if code[0] in _DTYPES else ""]
    code = code.lstrip("ifb")
    make, wanted, flags = _ARRAYS[code[0]]
    size = int(code[1:]) if code[1:] else None
    shape = "[m, n]" if code[0] in "MW" else f"[{size or 'm'}, 1]"
    return Kind(
        make(dtype, size),
        wanted.format(n=f"{size} " if size else "", type=dtype.name),
        f'typing.Annotated[numpy.typing.NDArray[numpy.{dtype.name}], "{shape}"{flags}]',
    )


def _whole(value: Any) -> int:
    if isinstance(value, float | np.floating):
        raise UnfitError
    try:
        return operator.index(value)
    except TypeError:
        try:
            return int(value)
        except (TypeError, ValueError):
            raise UnfitError from None


def _real(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UnfitError from None


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise UnfitError
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise UnfitError
    return bool(value)


def _struct(name: str) -> Kind:
    """An object of one of the drop-in's classes; the class is looked up when first needed."""

    def convert(value: Any) -> Any:
        if not any(base.__name__ == name for base in type(value).__mro__):
            raise UnfitError
        return value

    return Kind(convert, f"an {name}", f"mujoco._structs.{name}")


_SIMPLE = {
    "int": Kind(_whole, "a whole number", "typing.SupportsInt"),
    "float": Kind(_real, "a number", "typing.SupportsFloat"),
    "str": Kind(_text, "a text", "str"),
    "bool": Kind(_flag, "True or False", "bool"),
    "m": _struct("MjModel"),
    "d": _struct("MjData"),
}


def _or_none(kind: Kind) -> Kind:
    convert = kind.convert
    return Kind(
        lambda value: None if value is None else convert(value),
        f"{kind.wanted}, or None",
        f"{kind.annotation} | None",
    )


def kind_of(code: str) -> Kind:
    """The kind that a code stands for."""
    if code.endswith("?"):
        return _or_none(kind_of(code[:-1]))
    if code in _SIMPLE:
        return _SIMPLE[code]
    return _struct(code) if code.startswith("Mj") else _array_kind(code)


@attrs.frozen
class Argument:
    name: str
    kind: Kind
    default: str = ""


def _arguments(signature: str) -> list[Argument]:
    given = []
    for part in filter(None, signature.split(", ")):
        name, _, rest = part.partition(": ")
        code, _, default = rest.partition(" = ")
        given.append(Argument(name, kind_of(code), default))
    return given


def function(signature: str, returns: str = "None") -> Callable[[Function], Function]:
    """A function that takes these arguments, in this order or by name."""
    arguments = _arguments(signature)
    converts = [argument.kind.convert for argument in arguments]
    count = len(arguments)

    def bind(body: Function) -> Function:
        name = body.__name__

        def call(*given: Any, **named: Any) -> Any:
            if named or len(given) != count:
                given = tuple(_in_order(name, arguments, given, named))
            try:
                values = [convert(value) for convert, value in zip(converts, given, strict=True)]
            except UnfitError:
                _refuse(name, arguments, given)
            return body(*values)

        call.__name__ = call.__qualname__ = name
        call.__module__ = body.__module__
        call.__wrapped__ = body  # type: ignore[attr-defined]
        call.__doc__ = f"{_shown(name, arguments, returns)}\n\n{(body.__doc__ or '').strip()}\n"
        return call

    return bind


def _shown(name: str, arguments: list[Argument], returns: str) -> str:
    """The signature, as help shows it."""
    parts = [f"{a.name}: {a.kind.annotation}" + (f" = {a.default}" if a.default else "") for a in arguments]
    return f"{name}({', '.join(parts)}) -> {returns}"


def _in_order(name: str, arguments: list[Argument], given: Any, named: dict[str, Any]) -> list[Any]:
    """Positional and named arguments, and defaults, as one list."""
    if len(given) > len(arguments):
        _wrong(name, f"it takes {len(arguments)}, and got {len(given)}")
    values = list(given)
    for argument in arguments[len(given) :]:
        if argument.name in named:
            values.append(named.pop(argument.name))
        elif argument.default:
            values.append(None if argument.default == "None" else int(argument.default))
        else:
            _wrong(name, f"{argument.name} is missing")
    if named:
        _wrong(
            name, f"it has none called {', '.join(named)}; arguments: {', '.join(a.name for a in arguments)}"
        )
    return values


def _refuse(name: str, arguments: list[Argument], given: Any) -> NoReturn:
    """Say which argument does not fit."""
    for argument, value in zip(arguments, given, strict=True):
        try:
            argument.kind.convert(value)
        except UnfitError:
            _wrong(name, f"{argument.name} should be {argument.kind.wanted}, and is {_described(value)}")
    raise AssertionError("an argument that did not fit fits now")


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        extra = "" if value.flags.writeable else ", read-only"
        extra += "" if value.flags.c_contiguous else ", not contiguous"
        return f"an array of {value.dtype} with shape {value.shape}{extra}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) < 80 else text[:77] + '...'}"


def _wrong(name: str, problem: str) -> NoReturn:
    raise TypeError(f"{name}(): incompatible function arguments: {problem}")


def need(good: bool, message: str) -> None:
    """A TypeError about sizes that do not go together."""
    if not good:
        raise TypeError(message)

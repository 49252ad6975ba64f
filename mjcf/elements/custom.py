"""`<custom>`: numbers, texts and tuples that the compiler only stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.enums import ObjType
from dovetail.mjcf.elements.columns import Pieces, text
from dovetail.mjcf.elements.items import Item
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

_MAX_NUMERIC = 500
"""Most numbers in one `<numeric>` (MuJoCo's own limit)."""
_LISTS = {ObjType.XBODY: "body"}
"""Kinds whose objects are listed under another kind's name."""


@attrs.define(eq=False, kw_only=True)
class NumericItem(Item):
    """A `<numeric>`."""

    data: Vec = ()


@attrs.define(eq=False, kw_only=True)
class TextItem(Item):
    """A `<text>`."""

    data: str = ""


@attrs.define(eq=False, kw_only=True)
class TupleItem(Item):
    """A `<tuple>`."""

    elements: list[tuple[int, str, float, Node]] = attrs.field(factory=list)
    """Object type, object name, parameter, place."""
    objid: list[int] = attrs.field(factory=list)


NUMBERS = Pieces(
    rows={"numeric_data": lambda numeric: numeric.data},
    begins={"numeric_adr": "numeric_data"},
    numbers={"numeric_size": "numeric_data"},
)
TEXTS = Pieces(
    rows={"text_data": lambda item: text([item.data.encode() + b"\0"])},
    begins={"text_adr": "text_data"},
    numbers={"text_size": "text_data"},
)
TUPLES = Pieces(
    rows={
        "tuple_objtype": lambda item: [element[0] for element in item.elements],
        "tuple_objid": lambda item: item.objid,
        "tuple_objprm": lambda item: [element[2] for element in item.elements],
    },
    begins={"tuple_adr": "tuple_objid"},
    numbers={"tuple_size": "tuple_objid"},
)


def read_custom(context: Context, section: Node) -> None:
    """Read a `<custom>` section."""
    for node in section.children:
        _READERS[node.tag](context, node)


def _numeric(context: Context, node: Node) -> None:
    data = node.values.get("data", ())
    size = node.values.get("size", len(data))
    if not 1 <= size <= _MAX_NUMERIC:
        raise node.error(f"a numeric has 1 to {_MAX_NUMERIC} numbers; give data, or size", "size")
    if len(data) > size:
        raise node.error(f"data has {len(data)} numbers but size is {size}", "data")
    context.add("numeric", NumericItem(node=node, data=data + (0.0,) * (size - len(data))))


def _text(context: Context, node: Node) -> None:
    if not node.values["data"]:
        raise node.error("the text is empty; write some data", "data")
    context.add("text", TextItem(node=node, data=node.values["data"]))


def _tuple(context: Context, node: Node) -> None:
    if not node.children:
        raise node.error("the tuple is empty; add <element> children")
    field = TupleItem(node=node)
    for element in node.children:
        objtype = _object_type(element)
        field.elements.append((objtype, element.values["objname"], element.values.get("prm", 0.0), element))
    context.add("tuple", field)


def _object_type(element: Node) -> int:
    word = element.values["objtype"]
    try:
        return int(ObjType.from_keyword(word))
    except ValueError as problem:
        raise element.error(str(problem), "objtype") from None


_READERS = {"numeric": _numeric, "text": _text, "tuple": _tuple}


def compile_tuples(context: Context) -> None:
    """Resolve the names that tuples refer to."""
    for field in context.objects["tuple"]:
        for objtype, name, _, node in field.elements:
            kind = _LISTS.get(ObjType(objtype), ObjType(objtype).keyword)
            if kind not in context.objects:
                raise node.error(
                    f"a tuple cannot refer to a {kind}; choose a named kind of object", "objtype"
                )
            field.objid.append(context.find(kind, name, node, "objname"))

"""`<custom>`: numbers, texts and tuples that the compiler only stores."""

from __future__ import annotations

from dovetail.contracts.enums import ObjType
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.tree import Numeric, TextField, TupleField

_MAX_NUMERIC = 500
"""Most numbers in one `<numeric>` (MuJoCo's own limit)."""
_LISTS = {ObjType.XBODY: "body"}
"""Kinds whose objects are listed under another kind's name."""


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
    context.add("numeric", Numeric(node=node, data=data + (0.0,) * (size - len(data))))


def _text(context: Context, node: Node) -> None:
    if not node.values["data"]:
        raise node.error("the text is empty; write some data", "data")
    context.add("text", TextField(node=node, data=node.values["data"]))


def _tuple(context: Context, node: Node) -> None:
    if not node.children:
        raise node.error("the tuple is empty; add <element> children")
    field = TupleField(node=node)
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

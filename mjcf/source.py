"""Reading model files: hardened XML, `<include>` expansion, and the place of every element for messages.

The parser resolves no entities, loads no DTD and opens no network connection; documents with DTD declarations
are refused before they are parsed. Sizes are capped: bytes, number of files, depth of nesting.
Includes follow MuJoCo (`mjIncludeXML`): a path is tried relative to the main model's directory, then
relative to the including file's; a file may be included once only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from dovetail.errors import MJCFError, UnsupportedMJCFError, listing, nearest

from .kinds import shorten

MAX_DEPTH = 500
"""Deepest nesting of elements; MuJoCo itself becomes unreliable around a thousand."""
MAX_BYTES = 256 * 2**20
"""Most bytes of XML that one model may have, includes together."""
MAX_FILES = 1000
"""Most files that one model may include."""
_TOO_LARGE = f"the model has more than {MAX_BYTES >> 20} MB of XML; split off binary assets"


@attrs.define(eq=False)
class Node:
    """One XML element with its place; `values` holds the parsed attributes once the schema has checked it."""

    tag: str
    file: str
    line: int
    raw: dict[str, str]
    children: list[Node] = attrs.field(factory=list)
    values: dict[str, Any] = attrs.field(factory=dict)
    schema: Any = None
    """Its row of the schema, once checked."""
    model: int = 0
    """Which model it was written in: 0 for the main one, else a number of `Context.submodels`."""

    def describe(self, attribute: str | None = None) -> str:
        """The element as a message shows it: tag, name, and the attribute in question."""
        shown = [key for key in ("name", attribute) if key and key in self.raw]
        return (
            f"<{' '.join([self.tag] + [f'{key}={_quoted(self.raw[key])}' for key in dict.fromkeys(shown)])}>"
        )

    def error(self, message: str, attribute: str | None = None) -> MJCFError:
        """An error at this element's place."""
        return MJCFError(message, file=self.file, line=self.line, element=self.describe(attribute))

    def unsupported(self, what: str, attribute: str | None = None) -> UnsupportedMJCFError:
        """An error for valid MJCF that nobody has implemented yet."""
        message = f"{what} is valid MJCF but not supported yet"
        return UnsupportedMJCFError(message, file=self.file, line=self.line, element=self.describe(attribute))


def _quoted(text: str) -> str:
    return '"' + shorten(text) + '"'


def walk(root: Node) -> Iterator[Node]:
    """The element and everything below it, in document order, without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


@attrs.frozen
class Place:
    """Where something is asked for: by an element, or by the caller (line 0)."""

    file: str
    line: int = 0
    element: str = ""

    @classmethod
    def of(cls, node: Node) -> Place:
        return cls(node.file, node.line, node.describe("file"))

    def error(self, message: str) -> MJCFError:
        return MJCFError(message, file=self.file, line=self.line, element=self.element)


@attrs.define
class Loader:
    """Finds and reads the files of one model, within the caps and inside the jail if there is one."""

    directory: Path
    """Directory of the main model file."""
    assets: Mapping[str, bytes | str] = attrs.field(factory=dict)
    asset_root: Path | None = None
    bytes_read: int = 0
    opened: set[str] = attrs.field(factory=set)

    def read_main(self, path: Path) -> str:
        """Text of the main model file."""
        self.opened.add(_identity(path))
        return self._text(self._bytes(path, Place(str(path))), str(path))

    def check_text(self, xml: str | bytes, file: str) -> str:
        """A main model given as text."""
        content = xml.encode("utf-8", errors="surrogatepass") if isinstance(xml, str) else bytes(xml)
        return self._text(self._metered(content, Place(file)), file)

    def read_include(self, node: Node) -> tuple[str, str]:
        """Text of an included file, and the name under which messages mention it."""
        name, place = node.raw["file"], Place.of(node)
        for key in (name, os.path.normpath(name)):
            if key in self.assets:
                self._register(f"asset:{os.path.normpath(name)}", place)
                data = self.assets[key]
                content = data.encode() if isinstance(data, str) else bytes(data)
                return self._text(self._metered(content, place), key), key
        path = self._find(node, name)
        self._register(_identity(path), place)
        return self._text(self._bytes(path, place), str(path)), str(path)

    def open_model(self, node: Node) -> tuple[str, str, str, Loader]:
        """Text of an attached model, its name in messages, what identifies it, and the loader of its files."""
        name, place = node.raw["file"], Place.of(node)
        for key in (name, os.path.normpath(name)):
            if key in self.assets:
                data = self.assets[key]
                content = data.encode() if isinstance(data, str) else bytes(data)
                text, path = self._text(self._metered(content, place), key), Path(key)
                break
        else:
            path = self.directory / name
            text, key = self._text(self._bytes(path, place), str(path)), str(path)
        own = Loader(path.parent, self.assets, self.asset_root, self.bytes_read)
        return text, key, _identity(path), own

    def read_asset(self, node: Node, attribute: str, name: str, directory: str) -> tuple[bytes, str]:
        """Content of a mesh, image or the like, and the name under which messages mention it."""
        place = Place(node.file, node.line, node.describe(attribute))
        full = os.path.join(directory, name)
        key = self._asset_key(full)
        if key is not None:
            data = self.assets[key]
            return self._metered(data.encode() if isinstance(data, str) else bytes(data), place), key
        path = self.directory / full
        if not path.exists():
            known = (
                f"; assets given: {listing(self.assets)}{nearest(name, self.assets)}" if self.assets else ""
            )
            raise place.error(f"file not found, looked for {path}{known}; check the path")
        if path.is_dir():
            raise place.error(f"{path} is a directory; give the path of a file")
        return self._bytes(path, place), str(path)

    def _asset_key(self, path: str) -> str | None:
        """The given asset that a path means: the same path, or else the same file name in any case."""
        if os.path.normpath(path) in self.assets:
            return os.path.normpath(path)
        name = os.path.basename(path).lower()
        return next((key for key in self.assets if os.path.basename(key).lower() == name), None)

    def _find(self, node: Node, name: str) -> Path:
        candidates = [self.directory / name, Path(node.file).parent / name]
        for path in candidates:
            if path.exists():
                return path
        known = f"; assets given: {listing(self.assets)}{nearest(name, self.assets)}" if self.assets else ""
        raise node.error(f"file not found, looked for {candidates[0]}{known}; check the path", "file")

    def _register(self, identity: str, place: Place) -> None:
        if identity in self.opened:
            raise place.error("this file is already included (or includes itself); include it once")
        if len(self.opened) >= MAX_FILES:
            raise place.error(f"more than {MAX_FILES} files are included; merge some")
        self.opened.add(identity)

    def _bytes(self, path: Path, place: Place) -> bytes:
        self._check_jail(path, place)
        try:
            if path.stat().st_size > MAX_BYTES:
                raise place.error(_TOO_LARGE)
            return self._metered(path.read_bytes(), place)
        except FileNotFoundError:
            raise place.error("no such file; check the path") from None
        except IsADirectoryError:
            raise place.error(f"{path} is a directory; give the path of an XML file") from None
        except (OSError, ValueError) as problem:
            raise place.error(f"cannot read: {problem}") from None

    def _check_jail(self, path: Path, place: Place) -> None:
        if self.asset_root is None:
            return
        root = self.asset_root.resolve()
        if not path.resolve().is_relative_to(root):
            raise place.error(f"{path} is outside asset_root {root}; move the file, or widen asset_root")

    def _metered(self, content: bytes, place: Place) -> bytes:
        self.bytes_read += len(content)
        if self.bytes_read > MAX_BYTES:
            raise place.error(_TOO_LARGE)
        return content

    def _text(self, content: bytes, file: str) -> str:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            line = content[: problem.start].count(b"\n") + 1
            raise Place(file, line).error("is not UTF-8 text; save it as UTF-8") from None
        if not text.strip():
            raise Place(file, 1).error("the file is empty; an MJCF model starts with <mujoco>")
        return text


def _identity(path: Path) -> str:
    return os.path.realpath(path)


_PROLOG = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->", re.DOTALL)


def _refuse_declarations(text: str, file: str) -> None:
    """Refuse a DOCTYPE that declares entities or names a DTD: neither has a place in a model."""
    position = 0
    while match := _PROLOG.match(text, position):
        position = match.end()
    if not text.startswith("<!DOCTYPE", position):
        return
    end = text.find(">", position)
    if re.search(r"\[|SYSTEM|PUBLIC", text[position : end if end > 0 else len(text)]):
        line = text.count("\n", 0, position) + 1
        place = Place(file, line, "<!DOCTYPE>")
        raise place.error("a DOCTYPE with declarations is refused; remove it, MJCF needs none")


def parse(text: str, file: str) -> Node:
    """The element tree of one XML document."""
    from lxml import etree  # imported late: it is only needed once a model is read

    _refuse_declarations(text, file)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as problem:
        place = Place(file, problem.lineno or 1)
        raise place.error(
            f"malformed XML: {problem.msg}; check the tags and quotes around this line"
        ) from None
    return _to_nodes(root, file)


def _to_nodes(root: Any, file: str) -> Node:
    """Our own tree from lxml's, refusing excessive depth; iterative, so depth costs no Python stack."""
    top = _to_node(root, file)
    stack = [(root, top, 1)]
    while stack:
        element, node, depth = stack.pop()
        for child in element:
            if not isinstance(child.tag, str):
                raise node.error("has an entity reference; write the text itself")
            below = _to_node(child, file)
            _check_depth(below, depth + 1)
            node.children.append(below)
            stack.append((child, below, depth + 1))
    return top


def _to_node(element: Any, file: str) -> Node:
    return Node(str(element.tag), file, element.sourceline or 0, {str(k): str(v) for k, v in element.items()})


def _check_depth(node: Node, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise node.error(f"elements are nested more than {MAX_DEPTH} deep; flatten the model")


def load(text: str, file: str, loader: Loader) -> Node:
    """The main document with every `<include>` replaced by the content of its file."""
    root = parse(text, file)
    stack = [(root, 1)]
    while stack:
        node, depth = stack.pop()
        _check_depth(node, depth)
        node.children = list(_expanded(node.children, loader))
        stack.extend((child, depth + 1) for child in node.children)
    return root


def _expanded(children: list[Node], loader: Loader) -> Iterator[Node]:
    pending = list(reversed(children))
    while pending:
        child = pending.pop()
        if child.tag != "include":
            yield child
            continue
        pending.extend(reversed(_included(child, loader)))


def _included(node: Node, loader: Loader) -> list[Node]:
    """The top-level elements of the file that an `<include>` names; its root element is only a container."""
    unknown = set(node.raw) - {"file"}
    if unknown:
        raise node.error(f"unknown attribute {min(unknown)!r}; <include> has only file", min(unknown))
    if not node.raw.get("file"):
        raise node.error("required attribute missing; write <include file=…>")
    if node.children:
        raise node.error("cannot have children; put them in the file or beside the include", "file")
    text, name = loader.read_include(node)
    children = parse(text, name).children
    if not children:
        raise node.error("the included file has no elements; add some or remove the include", "file")
    return children

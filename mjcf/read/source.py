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
from typing import Any, TypeVar

import attrs

from dovetail import files, limits
from dovetail.errors import (
    ArgumentError,
    FileError,
    MJCFError,
    TooLargeError,
    UnsupportedMJCFError,
    listing,
    nearest,
    shown,
)
from dovetail.mjcf.read import xml_text
from dovetail.mjcf.read.kinds import shorten

MAX_DEPTH = limits.ELEMENT_DEPTH
"""Deepest nesting of elements; MuJoCo itself becomes unreliable around a thousand."""
MAX_BYTES = limits.MODEL_BYTES
"""Most bytes that the files of one model may have together."""
MAX_FILES = limits.INCLUDED_FILES
"""Most files that one model may include."""
_TOO_LARGE = f"the files of the model have more than {limits.LIMITS['MODEL_BYTES']}; make it smaller"


Problem = TypeVar("Problem", bound=MJCFError)


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
    prefix: str = ""
    """What attaching put before the names of the assets of the model it was written in."""
    rules: Any = None
    """Compiler settings of its own, in a document that was put together out of several specs."""

    def describe(self, attribute: str | None = None) -> str:
        """The element as a message shows it: tag, name, and the attribute in question."""
        shown = [key for key in ("name", attribute) if key and key in self.raw]
        return (
            f"<{' '.join([self.tag] + [f'{key}={_quoted(self.raw[key])}' for key in dict.fromkeys(shown)])}>"
        )

    def error(self, message: str, attribute: str | None = None) -> MJCFError:
        """An error at this element's place."""
        return self._problem(MJCFError, message, attribute)

    def too_large(self, message: str, attribute: str | None = None) -> TooLargeError:
        """An error for what would take more memory than a limit allows."""
        return self._problem(TooLargeError, message, attribute)

    def unsupported(self, what: str, attribute: str | None = None) -> UnsupportedMJCFError:
        """An error for valid MJCF that nobody has implemented yet."""
        message = f"{what} is valid MJCF but not supported yet"
        return self._problem(UnsupportedMJCFError, message, attribute)

    def _problem(self, kind: type[Problem], message: str, attribute: str | None) -> Problem:
        problem = kind(message, file=self.file, line=self.line, element=self.describe(attribute))
        problem.node = self
        return problem


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
        key = self._asset_key(str(path))
        if key is not None:
            return self.check_text(self.assets[key], str(path))
        self.opened.add(_identity(path))
        return self._text(self._bytes(path, Place(str(path))), str(path))

    def check_text(self, xml: str | bytes, file: str) -> str:
        """A main model given as text."""
        return self._text(self._metered(_content(xml), Place(file)), file)

    def read_include(self, node: Node) -> tuple[str, str]:
        """Text of an included file, and the name under which messages mention it."""
        name, place = node.raw["file"], Place.of(node)
        key = self._asset_key(name)
        if key is not None:
            self._register(f"asset:{key}", place)
            return self._text(self._metered(_content(self.assets[key]), place), key), key
        path = self._find(node, name)
        self._register(_identity(path), place)
        return self._text(self._bytes(path, place), str(path)), str(path)

    def has_asset(self, node: Node, name: str) -> bool:
        """Whether there is such a file in the main model's directory; what is outside the jail is not there."""
        try:
            return self._asset_key(name) is not None or self._exists(
                _joined(self.directory, name), Place.of(node)
            )
        except MJCFError:
            return False

    def open_model(self, node: Node) -> tuple[str, str, str, Loader]:
        """Text of an attached model, its name in messages, what identifies it, and the loader of its files.

        Unlike other files, it is only looked for beside the document that names it.
        """
        name, place = node.raw["file"], Place.of(node)
        key = self._asset_key(name)
        if key is not None:
            text, path = self._text(self._metered(_content(self.assets[key]), place), key), Path(key)
        else:
            path = _joined(Path(node.file).parent, name)
            text, key = self._text(self._bytes(path, place), str(path)), str(path)
        own = Loader(path.parent, self.assets, self.asset_root, self.bytes_read)
        return text, key, _identity(path), own

    def read_asset(self, node: Node, attribute: str, name: str, directory: str) -> tuple[bytes, str]:
        """Content of a mesh, image or the like, and the name under which messages mention it."""
        place = Place(node.file, node.line, node.describe(attribute))
        full = os.path.join(directory, name)
        key = self._asset_key(full)
        if key is not None:
            return self._metered(_content(self.assets[key]), place), key
        path = _joined(self.directory, full)
        if not self._exists(path, place):
            known = (
                f"; assets given: {listing(self.assets)}{nearest(name, self.assets)}" if self.assets else ""
            )
            raise place.error(f"file not found, looked for {path}{known}; check the path")
        return self._bytes(path, place), str(path)

    def _asset_key(self, path: str) -> str | None:
        """The given asset that a path means: the same path, or else the same file name in any case."""
        if os.path.normpath(path) in self.assets:
            return os.path.normpath(path)
        name = os.path.basename(path).lower()
        return next((key for key in self.assets if os.path.basename(key).lower() == name), None)

    def _find(self, node: Node, name: str) -> Path:
        candidates = [_joined(self.directory, name), _joined(Path(node.file).parent, name)]
        outside: MJCFError | None = None
        for path in candidates:
            try:
                if self._exists(path, Place.of(node)):
                    return path
            except MJCFError as problem:
                outside = outside or problem
        if outside:
            raise outside
        known = f"; assets given: {listing(self.assets)}{nearest(name, self.assets)}" if self.assets else ""
        raise node.error(f"file not found, looked for {candidates[0]}{known}; check the path", "file")

    def _register(self, identity: str, place: Place) -> None:
        if identity in self.opened:
            raise place.error("this file is already included (or includes itself); include it once")
        if len(self.opened) >= MAX_FILES:
            raise place.error(f"more than {MAX_FILES} files are included; merge some")
        self.opened.add(identity)

    def _exists(self, path: Path, place: Place) -> bool:
        """Whether there is something at a path; outside the jail nobody looks."""
        try:
            return files.exists(path, root=self.asset_root)
        except FileError as problem:
            raise place.error(_told(problem)) from None
        except (OSError, ValueError):
            return True  # reading it will say what is wrong

    def _bytes(self, path: Path, place: Place) -> bytes:
        try:
            return self._metered(files.read_bytes(path, MAX_BYTES, root=self.asset_root), place)
        except FileError as problem:
            raise place.error(_told(problem)) from None

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
        _check_count(text, file)
        return text


def _content(given: str | bytes) -> bytes:
    """A model or asset that was given as text or bytes."""
    if isinstance(given, str):
        return given.encode("utf-8", errors="surrogatepass")
    if isinstance(given, bytes | bytearray | memoryview):
        return bytes(given)
    raise ArgumentError(f"models and assets are given as text or bytes, not as {shown(given)}")


def _told(problem: FileError) -> str:
    """What is wrong with a file; its path only where the sentence wants it."""
    return f"{problem.path} {problem.reason}" if problem.reason.startswith("is ") else problem.reason


def _check_count(text: str, file: str) -> None:
    """Refuse a document with absurdly many elements before there are objects for them."""
    if text.count("<") - text.count("</") > limits.XML_ELEMENTS:
        raise Place(file, 1).error(f"the file has more than {limits.LIMITS['XML_ELEMENTS']}; make it smaller")


def _joined(directory: Path, name: str) -> Path:
    """A path in a directory; like in MuJoCo, `..` undoes a folder whether it exists or not."""
    return Path(os.path.normpath(directory / name))


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


_OWN_RULES = re.compile(r"""<\?(?!xml\s)|xmlns|\0|=\s*+(?:"[^"\t\n\r]*+[\t\n\r]|'[^'\t\n\r]*+[\t\n\r])""")
"""What the standard's parser reads in another way than MuJoCo's: declarations, namespaces, lines in values."""


def parse(text: str, file: str) -> Node:
    """The element tree of one XML document, by MuJoCo's rules where they are not those of the standard."""
    _refuse_declarations(text, file)
    if not _OWN_RULES.search(text):
        root = _parse_standard(text, file)
        if root is not None:
            return root
    try:
        return _to_nodes(xml_text.parse(text), file)
    except xml_text.XMLTextError as problem:
        place = Place(file, problem.line)
        raise place.error(f"malformed XML: {problem}; check the tags and quotes around this line") from None


def _parse_standard(text: str, file: str) -> Node | None:
    """The tree as the quick parser sees it; None if it does not know what to make of the text."""
    from lxml import etree  # imported late: it is only needed once a model is read

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
        return _from_lxml(etree.fromstring(text.encode(), parser), file)
    except (etree.XMLSyntaxError, UnicodeEncodeError):
        return None


def _from_lxml(root: Any, file: str) -> Node | None:
    """Our own tree from lxml's, or None at excessive depth; iterative, so depth costs no Python stack."""
    top = _from_lxml_element(root, file)
    stack = [(root, top, 1)]
    while stack:
        element, node, depth = stack.pop()
        for child in element:
            if not isinstance(child.tag, str) or depth >= xml_text.MAX_OPEN:
                return None
            below = _from_lxml_element(child, file)
            node.children.append(below)
            stack.append((child, below, depth + 1))
    return top


def _from_lxml_element(element: Any, file: str) -> Node:
    tag, line = str(element.tag), element.sourceline or 0
    _check_attributes(len(element.attrib), tag, file, line)  # lxml takes time by the square of their number
    return Node(tag, file, line, {str(k): str(v) for k, v in element.items()})


def _check_attributes(count: int, tag: str, file: str, line: int) -> None:
    if count > limits.ELEMENT_ATTRIBUTES:
        place = Place(file, line, f"<{shorten(tag)}>")
        raise place.error(
            f"has more than {limits.LIMITS['ELEMENT_ATTRIBUTES']}; remove those that mean nothing"
        )


def _to_nodes(root: xml_text.XMLElement, file: str) -> Node:
    """Our own tree from that of the forgiving parser."""
    top = _to_node(root, file)
    stack = [(root, top)]
    while stack:
        element, node = stack.pop()
        for child in element.children:
            below = _to_node(child, file)
            node.children.append(below)
            stack.append((child, below))
    return top


def _to_node(element: xml_text.XMLElement, file: str) -> Node:
    _check_attributes(len(element.attributes), element.tag, file, element.line)
    return Node(element.tag, file, element.line, element.attributes)


def _check_depth(node: Node, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise node.error(f"elements are nested more than {MAX_DEPTH} deep; flatten the model")


def load(text: str, file: str, loader: Loader) -> Node:
    """The main document with every `<include>` replaced by the content of its file."""
    from dovetail.mjcf.read import urdf  # it makes nodes itself

    root = parse(text, file)
    if urdf.is_urdf(root):
        return urdf.to_mjcf(root)
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
    if not node.raw.get("file"):
        raise node.error("required attribute missing; write <include file=…>")
    if node.children:
        raise node.error("cannot have children; put them in the file or beside the include", "file")
    text, name = loader.read_include(node)
    children = parse(text, name).children
    if not children:
        raise node.error("the included file has no elements; add some or remove the include", "file")
    return children

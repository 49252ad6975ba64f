"""Where the files are that included documents name: beside the main model, or else beside the included file.

A file is looked for in the main model's directory, in the directory that `<compiler>` gives for its kind. If it is
not there and was named in an included file, it is taken from the directory of that file, whatever `<compiler>` says.
With the main model's `strippath`, only the last part of a name counts, and only the first place. See `mjXReader`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.mjcf.read.source import Loader, Node, walk

if TYPE_CHECKING:
    from dovetail.mjcf.elements.compiler import CompilerSettings

_SIDES = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_FILES: dict[str, tuple[str, ...]] = {
    "mesh": ("file",),
    "hfield": ("file",),
    "skin": ("file",),
    "texture": ("file", *_SIDES),
    "flexcomp": ("file",),
}
"""Attributes that name files."""


def locate_files(root: Node, loader: Loader, settings: CompilerSettings, strip: bool) -> None:
    """Rewrite the names of all files as they are to be looked for; `strip` leaves nothing but their last part."""
    directories = _directories(settings)
    for node, attribute in _named(root):
        name = node.values[attribute]
        # the file of a flexcomp is read with its document, before that is attached to another
        if settings.strippath if node.tag == "flexcomp" else strip:
            name = name.replace("\\", "/").rpartition("/")[2]
        elif node.file != root.file and not os.path.isabs(name):
            looked_for = os.path.join(directories[node.tag], name)
            name = name if loader.has_asset(node, looked_for) else _beside(node, name, loader, settings)
        node.values[attribute] = os.path.normpath(name) if name else name


def _named(root: Node) -> Iterator[tuple[Node, str]]:
    """Elements with the attributes that name a file."""
    for node in walk(root):
        for attribute in _FILES.get(node.tag, ()):
            if node.values.get(attribute):
                yield node, attribute


def _directories(settings: CompilerSettings) -> dict[str, str]:
    """Where each kind is looked for first; of some only `assetdir` counts, like in MuJoCo 3.4."""
    return {
        "mesh": settings.meshdir,
        "texture": settings.texturedir,
        "hfield": settings.assetdir,
        "skin": settings.assetdir,
        "flexcomp": "",
    }


def _beside(node: Node, name: str, loader: Loader, settings: CompilerSettings) -> str:
    """Path of a file beside the document that names it; absolute if it could be taken for another otherwise."""
    path = os.path.normpath(Path(node.file).parent / name)
    plain = loader.directory == Path() and not (settings.meshdir or settings.texturedir)
    return path if plain else os.path.abspath(path)

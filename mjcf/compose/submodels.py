"""The documents of one compilation: the main model and every model it attaches, each with its own settings.

Angles, Euler sequences, asset directories and inertia rules of an element are those of the document it was
written in, as are its default classes; `Node.model` is that document's number. Global settings (option,
size, visual, statistic) of attached models have no effect.
"""

from __future__ import annotations

from functools import partial

import attrs

from dovetail.mjcf.compose.composer import MAX_MODELS, Composer, Submodel
from dovetail.mjcf.compose.document import MAX_ELEMENTS, Budget, Document
from dovetail.mjcf.elements.compiler import CompilerSettings, apply_compiler
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.dialects import Rewrite
from dovetail.mjcf.read.places import locate_files
from dovetail.mjcf.read.source import MAX_FILES, Loader, Node, load, walk
from dovetail.mjcf.read.validate import validate


@attrs.define
class Library:
    """All documents, the main model first."""

    roots: list[Node] = attrs.field(factory=list)
    settings: list[CompilerSettings] = attrs.field(factory=list)
    loaders: list[Loader] = attrs.field(factory=list)
    """What reads the files of each document."""
    composers: list[Composer] = attrs.field(factory=list)
    budget: Budget = attrs.field(factory=lambda: Budget(MAX_ELEMENTS))
    custom: frozenset[str] = frozenset()
    """Tags of elements that third parties read."""
    rewrites: tuple[Rewrite, ...] = ()
    """What the dialect changes in a document before it is checked."""

    def check(self, root: Node) -> None:
        """Translate a document from its dialect and check it against the schema."""
        for rewrite in self.rewrites:
            rewrite(root)
        validate(root, self.custom)

    @property
    def known(self) -> list[tuple[int, str, int]]:
        """Document, prefix, attached document: its default classes are known under that prefix.

        To be used from the last to the first, so that inner documents come first and, of one document, those that it
        attaches first.
        """
        return [
            (n, *pair)
            for n, composer in enumerate(self.composers)
            for pair in composer.document.attached[::-1]
        ]

    def add(self, root: Node, loader: Loader, above: tuple[str, ...]) -> Submodel:
        """Number a checked document; `above` are the models that attach it."""
        number = len(self.roots)
        settings = CompilerSettings()
        for section in root.children:
            if section.tag == "compiler":
                apply_compiler(settings, section)
        self.roots.append(root)
        self.settings.append(settings)
        locate_files(root, loader, settings, self.settings[0].strippath)
        self.loaders.append(loader)
        for node in walk(root):
            node.model = number
        composer = Composer(
            Document(root, self.budget),
            partial(self._load, loader=loader, above=above),
            partial(_turn, settings),
        )
        self.composers.append(composer)
        return Submodel(number, composer)

    def _load(self, node: Node, loader: Loader, above: tuple[str, ...]) -> Submodel:
        text, name, identity, own = loader.open_model(node)
        if identity in above:
            raise node.error("this model attaches itself; break the circle", "file")
        if len(above) > MAX_MODELS or len(self.roots) > MAX_FILES:
            raise node.error(f"too many models attach one another; at most {MAX_MODELS} deep", "file")
        root = load(text, name, own)
        loader.bytes_read = own.bytes_read
        self.check(root)
        return self.add(root, own, (*above, identity))


def _turn(settings: CompilerSettings, node: Node, angles: Vec) -> Vec:
    return rotation.resolve("euler", angles, settings.degrees, settings.eulerseq)

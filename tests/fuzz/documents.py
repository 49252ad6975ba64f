"""What the fuzzer tries: real models with the files they name, random ones, and both of them damaged.

Everything follows from a seed: `document(seed, number)` is the same document on every machine with the same
versions of gymnasium and dm_control.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

import attrs
import generator
from lxml import etree

from . import mutate

MAIN = "over/here/model.xml"
"""Where the model lies: deep enough for files that are named with `..`."""
LARGEST_MODEL = 25_000
"""Bytes of XML; larger models take too long to be tried often."""
LARGEST_ASSETS = 3_000_000
_BESIDE = "over/here/attached.xml"

_UNSUITED = ("schema.xml", "attribute_test_schema.xml")
"""XML files of dm_control that are no models."""


@attrs.frozen
class Document:
    """A model file with the files that it names, and the recipe that made it."""

    text: bytes
    files: Mapping[str, bytes] = attrs.field(factory=dict, repr=False)
    recipe: str = ""

    def write(self, root: Path) -> Path:
        """The model's path in a folder that has the files too; folders with the same files are shared."""
        digest = hashlib.sha256()
        for name in sorted(self.files):
            digest.update(name.encode() + b"\0" + self.files[name])
        folder = root / digest.hexdigest()[:16]
        if not folder.exists():
            for name, content in self.files.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        path = folder / MAIN
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.text)
        return path


def parsed(text: bytes) -> Any:
    """The root of a document; comments and white space between elements are dropped."""
    parser = etree.XMLParser(remove_blank_text=True, remove_comments=True, remove_pis=True, huge_tree=True)
    return etree.fromstring(text, parser)


def written(root: Any) -> bytes:
    return bytes(etree.tostring(root, pretty_print=True))


# ---- real models


@functools.cache
def real_models() -> dict[str, Path]:
    """Model files of gymnasium and dm_control, by name."""
    found = {}
    for package, folder in (("gymnasium", "envs/mujoco/assets"), ("dm_control", ".")):
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            continue
        base = Path(spec.origin).parent
        for path in sorted((base / folder).rglob("*.xml")):
            if path.name not in _UNSUITED:
                found[f"{package}/{path.relative_to(base)}"] = path
    return found


@functools.cache
def whole_models() -> dict[str, Path]:
    """Model files for the stepper, by name: those above, the built-in ones, and gymnasium-robotics' if it is there.
    Files without a body of their own are parts of others."""
    from dovetail.simulation import MODELS

    found = {**real_models(), **{f"dovetail/{path.name}": path for path in sorted(MODELS.glob("*.xml"))}}
    spec = importlib.util.find_spec("gymnasium_robotics")
    if spec is not None and spec.origin is not None:
        base = Path(spec.origin).parent
        found |= {f"gymnasium_robotics/{p.relative_to(base)}": p for p in sorted(base.rglob("*.xml"))}
    return {name: path for name, path in found.items() if b"<worldbody" in path.read_bytes()}


@functools.cache
def real(name: str) -> Document:
    """A real model: what it includes is put in its place, files it names are read."""
    path = (real_models() if name in real_models() else whole_models())[name]
    root = parsed(path.read_bytes())
    _inline(root, path.parent)
    return Document(written(root), dict(_assets(root, path.parent)), name)


@functools.cache
def usual_models() -> list[str]:
    """Real models that are small enough to be tried by the thousand."""
    return [name for name in real_models() if _usual(name)]


def _usual(name: str) -> bool:
    if real_models()[name].stat().st_size > LARGEST_MODEL:
        return False
    model = real(name)
    return len(model.text) <= LARGEST_MODEL and sum(map(len, model.files.values())) <= LARGEST_ASSETS


def _inline(root: Any, folder: Path) -> None:
    """Put what is included in its place, also what that includes."""
    for include in list(root.iter("include")):
        path = folder / (include.get("file") or "")
        if path.is_file():
            parent, at = include.getparent(), include.getparent().index(include)
            parent.remove(include)
            included = parsed(path.read_bytes())
            _inline(included, folder)
            for offset, child in enumerate(included):
                parent.insert(at + offset, child)


def _assets(root: Any, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Files that a model names, by their place relative to the folder of all; meshdir and the like count."""
    where = ["", *(c.get(k) for c in root.iter("compiler") for k in _DIRECTORIES if c.get(k))]
    here = PurePosixPath(MAIN).parent
    for element in root.iter():
        for attribute in _FILES:
            for directory in where if element.get(attribute) else ():
                place = (
                    f"{directory}/{element.get(attribute)}".lstrip("/")
                    if directory
                    else element.get(attribute)
                )
                if (folder / place).is_file():
                    yield _normal(here / place), (folder / place).read_bytes()


_DIRECTORIES = ("meshdir", "texturedir", "assetdir")
_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


# ---- documents by seed


def document(seed: int, number: int) -> Document:
    """The document of that number: a real or a random model, nearly always damaged."""
    random = Random(f"{seed} {number}")
    base = _base(random)
    if random.random() < 0.02:
        return base
    try:
        root = parsed(base.text)
    except etree.XMLSyntaxError:
        return base
    donor = functools.partial(_donor, random)
    done = mutate.damage(root, random, donor)
    attached = mutate.separate(root)
    files = base.files if attached is None else {**base.files, _BESIDE: attached}
    text = written(root)
    if random.random() < 0.06:
        text, what = mutate.damaged_text(text, random)
        done.append(what)
    return Document(text, files, f"{base.recipe}: {', '.join(done)} (seed {seed}, number {number})")


def to_step(seed: int, number: int) -> Document:
    """The document of that number for the stepper: often a whole model, as it is."""
    random = Random(f"{seed} {number} step")
    if random.random() < 0.2:
        return real(random.choice(list(whole_models())))
    return document(seed, number)


def _base(random: Random) -> Document:
    if random.random() < 0.5:
        number = random.randrange(2**32)
        return Document(generator.document(Random(number)).encode(), {}, f"random model {number}")
    return real(random.choice(usual_models()))


def _donor(random: Random) -> Any:
    """The root of another model, to take elements from."""
    while True:
        try:
            return parsed(_base(random).text)
        except etree.XMLSyntaxError:
            continue

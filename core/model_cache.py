"""Compiled models, kept between runs: `load` gives the Model of last time if nothing has changed that it came from.

An entry is found by the hash of what was asked for: the main file's path and content or the text, other assets that
the call gives, the root of files, the dialect, all that decides which implementations load it, and what is installed
(`installation`). It holds what compiling asked of the file system (contents of includes, meshes, images; places where
nothing was), and is used only if the answers are the same today; the warnings, which are given again; and the Model
as its memory. Every part has its hash, and nothing in an entry is run or unpickled.

Not kept are models in whose loading something else than dovetail's own took part (a function of the call, another
package's stage: what they depend on is not known), and those that are compiled as quickly as they are read.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import attrs

from dovetail import files, installation, limits, warned
from dovetail.cache_folder import (
    Bound,
    cache_directory,
    make_private,
    make_room,
    mark_used,
    remove,
    why_others_write,
    why_unsafe,
    write_whole,
)
from dovetail.contracts import model_image
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.types import Model
from dovetail.errors import FileError

if TYPE_CHECKING:
    from dovetail.planning.loading_selection import Loading

logger = logging.getLogger(__name__)

SWITCH = "DOVETAIL_MODEL_CACHE"
OFF = ("0", "off", "no", "false")
KIND = "models"
"""Name of the folder in the cache."""
SUFFIX = ".model"
MAGIC = b"dovetail compiled model 1\n"
"""What an entry begins with; changes with its format."""
WORTHWHILE = 0.05
"""Seconds of compiling, imports included, from which a model is kept: reading one back takes some milliseconds."""
MOST_BYTES = limits.GIGA
MOST_ENTRIES = 2000
LARGEST_SHARE = 4
"""One entry may have this part of all the room."""
_DIGEST = hashlib.sha256().digest_size
_LENGTH = 8
"""Bytes that hold the length of the description."""


@attrs.frozen
class Key:
    """What was asked for, as far as it is known before anything is compiled."""

    name: str
    """A hash of it all."""
    root: Path | None
    """The folder that files may come from."""
    own: tuple[FieldSpec, ...]
    """Model fields that plugins add."""


def key_of_file(path: Path, root: Path | None, dialect: str, loading: Loading) -> Key | None:
    """The key of a model file; None if the model is not to be kept, or the file cannot be read."""
    if is_off():
        return None
    try:
        content = files.read_bytes(path, limits.MODEL_BYTES, root=root)
    except FileError:
        return None
    return _key(["file", str(path), os.path.abspath(path), _hash(content)], root, dialect, loading)


def key_of_text(
    xml: str | bytes, assets: Mapping[str, Any], root: Path | None, dialect: str, loading: Loading
) -> Key | None:
    """The key of a model given as text with files beside it; None if the model is not to be kept."""
    if is_off() or not all(isinstance(a, str | bytes | bytearray | memoryview) for a in assets.values()):
        return None
    given = [[name, _hash(content)] for name, content in assets.items()]
    return _key(["text", _hash(xml), given], root, dialect, loading)


def is_off() -> bool:
    """Whether the environment says that nothing is to be kept."""
    return os.environ.get(SWITCH, "").strip().lower() in OFF


def _key(asked: list[Any], root: Path | None, dialect: str, loading: Loading) -> Key | None:
    installed, chosen = installation.state(), loading.described()
    if installed is None or chosen is None:
        return None
    text = json.dumps([MAGIC.decode(), installed, asked, str(root), dialect, chosen])
    return Key(_hash(text), root, tuple(loading.registry.model_fields().values()))


def _hash(content: str | bytes) -> str:
    encoded = content.encode("utf-8", errors="surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(encoded).hexdigest()


def kept(key: Key | None, make: Callable[[], Model], loading: Loading) -> Model:
    """The Model from the cache, or else a new one, which is then kept if that is of use."""
    if key is None:
        return make()
    folder = cache_directory(KIND)
    entry = folder / f"{key.name}{SUFFIX}"
    found = _found(entry, key)
    if found is not None:
        return found
    began = time.perf_counter()
    with files.recorded() as seen, warned.collected() as told:
        model = make()
    slow = time.perf_counter() - began >= WORTHWHILE
    if slow and loading.is_all_builtin() and all(each.lasting for each in told):
        _keep(entry, Kept(seen, told, model_image.described(model)), model)
    return model


# ---- entries


class DamagedError(ValueError):
    """An entry is not as it was written."""


@attrs.frozen
class Kept:
    """The description of an entry: what its model came from, what was said, and what the model is."""

    seen: files.Seen
    told: list[warned.Told]
    model: Mapping[str, Any]

    def as_plain(self) -> dict[str, Any]:
        """As JSON can say it."""
        contents = {path: attrs.astuple(content) for path, content in self.seen.contents.items()}
        return {
            "contents": contents,
            "looked_for": self.seen.looked_for,
            "told": [attrs.astuple(each) for each in self.told],
            "model": self.model,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Kept:
        contents = {path: files.Content(*content) for path, content in plain["contents"].items()}
        told = [warned.Told(*each) for each in plain["told"]]
        return cls(files.Seen(contents, plain["looked_for"]), told, plain["model"])


def _found(entry: Path, key: Key) -> Model | None:
    """The Model of an entry, its warnings given again; None if there is none that holds. A damaged one is removed."""
    try:
        with open(entry, "rb") as file:
            unsafe = why_unsafe(entry.parent) or why_others_write(entry, os.fstat(file.fileno()))
            if unsafe:
                logger.info("compiled models are not taken from %s: %s", entry.parent, unsafe)
                return None
            read = _read(file, key)
    except DamagedError as problem:
        logger.info("%s is removed: %s", entry, problem)
        remove(entry)
        return None
    except OSError:
        return None
    if read is None:
        return None
    mark_used(entry)
    model, told = read
    for each in told:
        each.repeat()
    return model


def _read(file: IO[bytes], key: Key) -> tuple[Model, list[warned.Told]] | None:
    """What is in an entry, if its files are as they were."""
    try:
        plain = _description(file)
        description = Kept.from_plain(plain)
        if not description.seen.still_holds(limits.MODEL_BYTES, root=key.root):
            return None
        model = model_image.unfilled(description.model, key.own)
        _fill(file, model, plain["blocks"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise DamagedError(f"it is damaged: {problem}") from None
    return model, description.told


def _description(file: IO[bytes]) -> dict[str, Any]:
    """The description at the beginning of an entry, which is whole, and as long as it says."""
    head = file.read(len(MAGIC) + _DIGEST + _LENGTH)
    digest, length = head[len(MAGIC) : -_LENGTH], int.from_bytes(head[-_LENGTH:], "little")
    size = os.fstat(file.fileno()).st_size
    if not head.startswith(MAGIC) or length > size:
        raise DamagedError("it is no compiled model")
    text = file.read(length)
    if hashlib.sha256(text).digest() != digest:
        raise DamagedError("its description does not match its hash")
    plain: dict[str, Any] = json.loads(text)
    if len(head) + length + sum(count for _, count, _ in plain["blocks"]) != size:
        raise DamagedError("it is cut, or has too much")
    return plain


def _fill(file: IO[bytes], model: Model, blocks: list[tuple[str, int, str]]) -> None:
    """Read the memory of a Model."""
    for (name, memory), (expected, count, digest) in zip(model_image.blocks(model), blocks, strict=True):
        whole = name == expected and memory.nbytes == count and file.readinto(memory.data) == count  # type: ignore[attr-defined]
        if not whole or hashlib.sha256(memory.data).hexdigest() != digest:
            raise DamagedError(f"the numbers of {expected} do not match their hash")


def _keep(entry: Path, description: Kept, model: Model) -> None:
    """Write an entry, if there is a place for it; where there is none, the model is compiled again next time."""
    memory = [(name, block.data) for name, block in model_image.blocks(model)]
    blocks = [(name, block.nbytes, hashlib.sha256(block).hexdigest()) for name, block in memory]
    if sum(count for _, count, _ in blocks) > MOST_BYTES // LARGEST_SHARE:
        return
    text = json.dumps({**description.as_plain(), "blocks": blocks}).encode()
    head = MAGIC + hashlib.sha256(text).digest() + len(text).to_bytes(_LENGTH, "little")
    try:
        make_private(entry.parent)
        unsafe = why_unsafe(entry.parent)
        if unsafe:
            logger.info("compiled models are not kept in %s: %s", entry.parent, unsafe)
            return
        write_whole(entry, head, text, *(block for _, block in memory))
        make_room(entry.parent, SUFFIX, Bound(MOST_BYTES, MOST_ENTRIES))
    except OSError as problem:
        logger.info("%s cannot be kept: %s", entry, problem.strerror or problem)

"""From MJCF to a spec: the compiler's own reader, up to the point where elements become objects of a spec.

Includes, replicated and attached parts are put in place first, and every element is laid over its default class as
the compiler does it, so that a spec has the values that the model will have.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dovetail import files
from dovetail.errors import ArgumentError, DovetailError, MJCFError, shown
from dovetail.mj.errors import model_text
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.spec import MjSpec


def read_text(xml: Any, include: Mapping[str, Any] | None, assets: Mapping[str, Any] | None) -> MjSpec:
    """A spec from MJCF text."""
    if not isinstance(xml, str | bytes):
        raise ArgumentError(f"from_string takes MJCF text, not {shown(xml)}; from_file takes a path")
    from dovetail.mjcf.read.source import Loader

    loader = Loader(Path(), assets=_given(include, assets))
    return _read(lambda: loader.check_text(xml, "<string>"), "<string>", loader, "", assets)


def read_file(path: Any, include: Mapping[str, Any] | None, assets: Mapping[str, Any] | None) -> MjSpec:
    """A spec from an MJCF file."""
    from dovetail.mjcf.read.source import Loader

    main = files.checked_path(path)
    loader = Loader(main.parent, assets=_given(include, assets))
    return _read(lambda: loader.read_main(main), str(main), loader, str(main.parent), assets)


def _given(*parts: Mapping[str, Any] | None) -> dict[str, Any]:
    """Files by name; what was given must be a dictionary of texts or bytes."""
    together: dict[str, Any] = {}
    for part in parts:
        if part is not None and not isinstance(part, Mapping):
            raise ArgumentError(f"files are given as a dictionary by name, not as {shown(part)}")
        together |= {os.path.normpath(name): content for name, content in (part or {}).items()}
    return together


def _read(
    text: Callable[[], str], source: str, loader: Any, folder: str, assets: Mapping[str, Any] | None
) -> MjSpec:
    from dovetail.mj.spec.reading_elements import fill
    from dovetail.mjcf.model.compile import DEFAULT_DIALECT, composed
    from dovetail.mjcf.read.source import load

    spec = MjSpec()
    spec.modelfiledir = folder
    spec._assets = dict(assets or {})
    try:
        root = load(text(), source, loader)
        fill(spec, composed(root, source, loader, DEFAULT_DIALECT, frozenset()))
    except MJCFError as problem:
        raise SpecError(model_text(problem)) from problem
    except SpecError:
        raise
    except DovetailError as problem:
        raise SpecError(f"ParseXML: {problem}") from problem
    spec._changed()
    return spec


# zip files


def read_zip(file: Any) -> MjSpec:
    """A spec from a zip file: its only .xml file at the top, or in the only folder, with all else as assets."""
    try:
        with zipfile.ZipFile(file) as archive:
            content = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except (OSError, zipfile.BadZipFile) as problem:
        raise SpecError(f"{shown(file)} is no zip file that can be read: {problem}") from None
    models = sorted((name for name in content if name.endswith(".xml")), key=lambda name: name.count("/"))
    if not models:
        raise SpecError(f"{shown(file)} has no .xml file")
    main = models[0]
    folder = os.path.dirname(main)
    assets = {
        name.removeprefix(f"{folder}/") if folder else name: data
        for name, data in content.items()
        if name != main
    }
    return read_text(content[main].decode("utf-8"), None, assets)


def write_zip(spec: MjSpec, file: Any) -> None:
    """Write a spec and its assets into a zip file, or a file that is open for it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{spec.modelname}.xml", spec.to_xml())
        for name, content in spec.assets.items():
            archive.writestr(name, content)
    if hasattr(file, "write"):
        file.write(buffer.getvalue())
        return
    with files.replacing(files.checked_path(file)) as handle:
        handle.write(buffer.getvalue())

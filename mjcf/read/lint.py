"""Every problem of a model file that the schema can see, not only the first.

Compiling stops at the first problem, because what follows from it would be noise. Names, values and places of
elements can be checked independently of one another, so a person who mends a file is told of all at once.
"""

from __future__ import annotations

from pathlib import Path

from dovetail.errors import MJCFError
from dovetail.mjcf.read.source import Loader, load
from dovetail.mjcf.read.validate import problems


def schema_problems(
    path: str | Path, *, asset_root: str | Path | None = None, custom: frozenset[str] = frozenset()
) -> list[MJCFError]:
    """What the schema does not allow in a file and in what it includes; an unreadable file is one problem."""
    main = Path(path)
    jail = None if asset_root is None else Path(asset_root).resolve()
    loader = Loader(main.parent if jail is None else main.parent.resolve(), asset_root=jail)
    try:
        root = load(loader.read_main(main), str(main), loader)
    except MJCFError as problem:
        return [problem]
    return list(problems(root, custom))

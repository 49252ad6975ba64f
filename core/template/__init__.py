"""A new plugin package from a template: files with `{{word}}` in them, filled in and written into a new folder."""

from __future__ import annotations

import keyword
import re
import sys
from importlib import resources, util
from pathlib import Path

import attrs

from dovetail.distribution import DISTRIBUTION
from dovetail.errors import ArgumentError, FileError, shown
from dovetail.registry import Registry, default_registry
from dovetail.template.slots import contents, record_code

NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*$")
COMMON = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    ".github/workflows/tests.yml": "ci.yml.txt",
    "src/{package}/__init__.py": "init.py.txt",
    "src/{package}/plugin.py": "plugin.py.txt",
    "src/{package}/py.typed": "py.typed.txt",
    "tests/test_house_rules.py": "test_house_rules.py.txt",
}
"""Templates of what every package has, by where it goes."""


CERTIFY_STEP = """\
      - run: dovetail certify {{distribution}} --output certificate.json
      - uses: actions/upload-artifact@v4
        with:
          name: certificate-${{ matrix.python }}
          path: certificate.json
"""
"""Of CI, where there is something to certify."""


@attrs.frozen(kw_only=True)
class Written:
    """What was written, and where."""

    folder: Path
    distribution: str
    package: str
    slot: str
    files: tuple[str, ...]
    certified: bool = True
    """Whether `dovetail certify` finds it at work on models of its own."""


def new_package(
    name: str,
    parent: Path,
    *,
    slot: str = "passive_force",
    lanes: bool | None = None,
    registry: Registry | None = None,
) -> Written:
    """Write a package called `name` into a new folder of `parent`.

    `slot`: any stage, row or part; where something is built in, the new one begins as a call of that, elsewhere as an
    example. `lanes`: with a sibling for kernels; where there is something to begin with, if nobody says.
    """
    package = checked_name(name)
    folder = parent / name
    if folder.exists():
        raise FileError(folder, "is there already; choose another name, or remove it first")
    if not isinstance(slot, str):
        raise ArgumentError(f"slot = {shown(slot)} should be the name of a stage or row, as passive_force")
    found = contents(slot, package, lanes, registry or default_registry())
    words = {
        "distribution": name,
        "package": package,
        "plugin": package,
        "slot": found.slot,
        "engine": DISTRIBUTION,
        "imports": ", ".join(("Implementation", *found.imports, "hookimpl")),
        "above": found.above,
        "records": "".join(map(record_code, found.records)),
        "models": "",
        "with_models": "",
        "certify": f"dovetail certify {name} --output certificate.json\n" if found.certified else "",
        "certify_step": CERTIFY_STEP.replace("{{distribution}}", name) if found.certified else "",
        **found.words,
    }
    files = {**COMMON, **found.files}
    filled = {target.format(package=package): _filled(source, words) for target, source in files.items()}
    for target, text in filled.items():
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Written(
        folder=folder,
        distribution=name,
        package=package,
        slot=found.slot,
        files=tuple(sorted(filled)),
        certified=found.certified,
    )


def checked_name(name: str) -> str:
    """The name of the Python package that goes with a distribution's, or an error that says what is wrong."""
    if not isinstance(name, str) or len(name) > 60 or not NAME.match(name):
        raise ArgumentError(
            f"{name!r:.100} is no name for a package: use lower-case letters, digits and hyphens, as dovetail-wind"
        )
    package = name.replace("-", "_")
    if keyword.iskeyword(package) or package in sys.stdlib_module_names or package == "dovetail":
        raise ArgumentError(
            f"{package!r} has another meaning in Python; choose another name, as dovetail-{name}"
        )
    if util.find_spec(package) is not None:
        raise ArgumentError(f"a package {package!r} is installed already; choose another name")
    return package


def _filled(source: str, words: dict[str, str]) -> str:
    text = (resources.files(__name__) / "files" / source).read_text(encoding="utf-8")
    return re.sub(r"(?<!\$)\{\{(\w+)\}\}", lambda match: words[match[1]], text)

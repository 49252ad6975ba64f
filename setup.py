"""Lists the packages: every folder with an `__init__.py` under the four that `pyproject.toml` mounts as one."""

import tomllib
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
MOUNTS = tomllib.loads((HERE / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]

setup(
    packages=sorted(
        name
        for root, folder in MOUNTS.items()
        for name in (root, *(f"{root}.{inner}" for inner in find_packages(HERE / folder)))
    )
)

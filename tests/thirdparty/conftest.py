"""The packages here are installed as a stranger would, each into a folder, and run in processes of their own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = ["dovetail_*"]

HERE = Path(__file__).parent
Run = Callable[..., subprocess.CompletedProcess[str]]


def pip_install(package: str, target: Path, scratch: Path) -> None:
    """Install a package that stands here."""
    install_folder(HERE / package, target, scratch)


def install_folder(folder: Path, target: Path, scratch: Path) -> None:
    """Install without network from a copy, because a build writes into its source folder."""
    source = scratch / "sources" / folder.name
    shutil.copytree(folder, source, ignore=shutil.ignore_patterns("*.egg-info", "build", "__pycache__"))
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *flags, "--target", str(target), str(source)],
        check=True,
        env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"},
    )


@pytest.fixture(scope="session")
def install() -> Callable[[Path, Path, Path], None]:
    """Installs any folder with a package."""
    return install_folder


@pytest.fixture(scope="session")
def site_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a package, as site-packages would be; installed when first asked for."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools, which builds the packages, is not installed")

    @cache
    def folder(package: str) -> Path:
        scratch = tmp_path_factory.mktemp(package)
        pip_install(package, scratch / "site", scratch)
        return scratch / "site"

    return folder


@pytest.fixture
def start(site_of: Callable[[str], Path], tmp_path: Path) -> Run:
    """Run Python where the named packages are installed, in an empty folder, without settings from outside."""

    def run(*arguments: str, packages: tuple[str, ...], **variables: str) -> Any:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("DOVETAIL_")}
        kept = {k: v for k, v in os.environ.items() if k in ("DOVETAIL_CACHE_DIR", "DOVETAIL_MODEL_CACHE")}
        path = os.pathsep.join(str(site_of(package)) for package in packages)
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**clean, **kept, "PYTHONPATH": path, **variables},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.fixture
def ask(start: Run) -> Callable[..., Any]:
    """Run a script that sets `answer`, and give it back."""

    def asked(script: str, **options: Any) -> Any:
        head = "import json, dovetail, numpy as np\n"
        text = head + textwrap.dedent(script) + "\nprint('\\n' + json.dumps(answer))"
        done = start("-c", text, **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return asked

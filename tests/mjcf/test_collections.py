"""The models that come with Gymnasium and dm_control load to MuJoCo's numbers, every field of mjModel compared.

Of dm_control only the XML files are used: the package itself need not be importable. The models that its tasks
build in Python are compared too (marked slow) where its own dependencies are installed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import whole_model

import dovetail


def folder_of(package: str, *below: str) -> Path | None:
    """A folder of an installed package, which is not imported."""
    spec = find_spec(package)
    return (
        Path(*spec.submodule_search_locations, *below) if spec and spec.submodule_search_locations else None
    )


GYMNASIUM = folder_of("gymnasium", "envs", "mujoco", "assets")
SUITE = folder_of("dm_control", "suite")
FILES = {
    f"{folder.name if folder is SUITE else 'gymnasium'}/{path.stem}": path
    for folder in (GYMNASIUM, SUITE)
    if folder
    for path in sorted(folder.glob("*.xml"))
}
KNOWN_GYMNASIUM = 14
KNOWN_SUITE = 19


@pytest.mark.parametrize(
    ("package", "prefix", "count"),
    [("gymnasium", "gymnasium/", KNOWN_GYMNASIUM), ("dm_control", "suite/", KNOWN_SUITE)],
)
def test_no_model_is_left_out(package: str, prefix: str, count: int) -> None:
    if folder_of(package) is None:
        pytest.skip(f"{package} is not installed")
    assert sum(name.startswith(prefix) for name in FILES) == count


@pytest.mark.slow_cases("suite/dog")
@pytest.mark.parametrize("name", FILES)
def test_model_file(name: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_path(str(FILES[name]))
    assert whole_model.differences(dovetail.load(FILES[name]), theirs) == []


def test_every_field_is_compared_or_excluded_with_a_reason() -> None:
    mujoco = pytest.importorskip("mujoco")
    names = set(whole_model.field_names(mujoco.MjModel.from_xml_string("<mujoco/>")))
    model = dovetail.loads("<mujoco/>")
    assert set(whole_model.EXCLUDED) <= names
    for name in names - set(whole_model.EXCLUDED):
        whole_model.attribute(model, name)
    assert len(names) > 600


def task_models() -> Iterator[tuple[str, str, dict[str, bytes]]]:
    """The distinct models that dm_control's tasks build: name of the first task, XML, files."""
    suite = pytest.importorskip("dm_control.suite", exc_type=ImportError)
    engine = pytest.importorskip("dm_control.mujoco.engine", exc_type=ImportError)
    seen = set()
    for domain, task in suite.ALL_TASKS:
        xml, files = _built(
            engine.Physics, lambda d=domain, t=task: suite.load(d, t, task_kwargs={"random": 0})
        )
        key = hashlib.sha256(xml.encode()).digest()
        if key not in seen:
            seen.add(key)
            yield f"{domain}-{task}", xml, files


def _built(physics: type, build: object) -> tuple[str, dict[str, bytes]]:
    """The text and files that `build` passes to dm_control's Physics."""
    caught: list[tuple[str, dict[str, bytes]]] = []
    original = vars(physics)["from_xml_string"]

    def spy(cls: type, xml_string: str | bytes, assets: dict[str, bytes | str] | None = None) -> object:
        text = xml_string.decode() if isinstance(xml_string, bytes) else xml_string
        files = {k: v.encode() if isinstance(v, str) else v for k, v in (assets or {}).items()}
        caught.append((text, files))
        return original.__func__(cls, xml_string, assets)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(physics, "from_xml_string", classmethod(spy))
        build()  # type: ignore[operator]
    return caught[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # dm_control's own
def test_models_that_tasks_build(monkeypatch: pytest.MonkeyPatch) -> None:
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.setenv("MUJOCO_GL", "disable")
    found = {}
    for name, xml, files in task_models():
        theirs = mujoco.MjModel.from_xml_string(xml, files)
        found[name] = whole_model.differences(dovetail.loads(xml, assets=files), theirs)
    assert len(found) > 30
    assert {name: lines for name, lines in found.items() if lines} == {}

"""The cache of compiled models: what comes from it is what compiling gives, and nothing that has changed comes from
it; what is damaged, unsafe or without room does not matter."""

from __future__ import annotations

import io
import logging
import os
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import Model, cache_folder, files, installation, mjcf, model_cache, warned
from dovetail.config import Config
from dovetail.errors import DovetailError, MJCFError
from dovetail.implementation import Implementation
from dovetail.registry import Registry

CORNERS = np.array([[0, 0, 0], [0.4, 0, 0], [0, 0.2, 0], [0, 0, 0.6]])
WEDGE = (
    '<mujoco model="wedge"><asset><mesh name="w" file="w.stl"/></asset><worldbody><body><freejoint/>'
    '<geom type="mesh" mesh="w"/></body></worldbody></mujoco>'
)


def stl(scale: float = 1.0) -> bytes:
    """A tetrahedron, as a binary STL file."""
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    rows = [struct.pack("<12fH", 0, 0, 0, *(scale * CORNERS[face]).ravel(), 0) for face in faces]
    return bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows)


def png(shade: int) -> bytes:
    """A picture of one row."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.array([[shade, 0, 255, 7]], np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def content(model: Model) -> dict[str, Any]:
    """All that a Model is, but for where its memory lies."""
    arena = model.arena
    views = {name.partition(".")[0] for name in model.specs} | {"_name_indices", "_numbers"}
    return {
        "numbers": {
            name: (np.asarray(v).dtype, v.shape, np.array(v).tobytes()) for name, v in model.fields()
        },
        "specs": dict(model.specs),
        "places": arena.layout.places,
        "rows": arena.layout.rows,
        "memory": (arena.lanes, arena.ntile, arena.precision, arena.max_bytes, arena.subject, model._nworld),
        "aligned": all(buffer.ctypes.data % 64 == 0 for buffer in arena.buffers.values()),
        "writeable": all(buffer.flags.writeable for buffer in arena.buffers.values()),
        "sizes": list(model.sizes.items()),
        "size attributes": [getattr(model, name) for name in model.sizes],
        "names": list(model.object_names.items()),
        "kinds of names": {type(names) for names in model.object_names.values()},
        "described": (model.modelname, model.source, repr(model)),
        "stages": list(model.stages.items()),
        "extra": list(model.extra),
        "attributes": sorted((name, type(v)) for name, v in vars(model).items() if name not in views),
    }


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that keeps every model, however quick, and does not ask when dovetail itself was edited."""
    root = tmp_path_factory.mktemp("cache")
    root.chmod(0o700)
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(root))
    monkeypatch.delenv(model_cache.SWITCH, raising=False)
    monkeypatch.setattr(model_cache, "WORTHWHILE", 0.0)
    monkeypatch.setattr(installation, "state", lambda: "as installed")
    return root / model_cache.KIND


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is compiled, one after the other."""
    found: list[str] = []
    for name in ("compile_file", "compile_text"):
        real = getattr(mjcf, name)

        def noting(*arguments: Any, real: Any = real, **said: Any) -> Any:
            found.append(str(arguments[0])[:80])
            return real(*arguments, **said)

        monkeypatch.setattr(mjcf, name, noting)
    return found


def entries(cache: Path) -> list[Path]:
    return sorted(cache.glob("*")) if cache.exists() else []


def uncached(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Model]) -> Model:
    with monkeypatch.context() as patch:
        patch.setenv(model_cache.SWITCH, "0")
        return make()


def put(folder: Path, parts: Mapping[str, str | bytes]) -> Path:
    """Write files, and return the first."""
    for name, text in parts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder / next(iter(parts))


# ---- what comes from the cache


def folder_of(package: str, *below: str) -> Path | None:
    spec = find_spec(package)
    return (
        Path(*spec.submodule_search_locations, *below) if spec and spec.submodule_search_locations else None
    )


GYMNASIUM, SUITE = folder_of("gymnasium", "envs", "mujoco", "assets"), folder_of("dm_control", "suite")
QUICK = ("ant", "humanoid", "pusher_v5", "quadruped", "stacker")
"""Of the collections: contacts, tendons, meshes by their shape, textures and sensors."""
COLLECTED = [
    pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow)
    for folder in (GYMNASIUM, SUITE, Path(dovetail.__file__).parent / "bench" / "models")
    if folder
    for path in sorted(folder.glob("*.xml"))
]


@pytest.mark.parametrize("source", [*dovetail.builtin_models(), *COLLECTED])
def test_a_model_from_the_cache_is_equal_in_every_respect(
    cache: Path, compiled: list[str], source: str | Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = uncached(monkeypatch, lambda: dovetail.load(source))
    assert entries(cache) == []
    first, again = dovetail.load(source), dovetail.load(source)
    assert len(compiled) == 2
    assert content(first) == content(fresh)
    assert content(again) == content(fresh)


def test_what_comes_from_the_cache_can_be_edited_and_is_not_shared(cache: Path, compiled: list[str]) -> None:
    dovetail.load("pendulum")
    one, other = dovetail.load("pendulum"), dovetail.load("pendulum")
    one.body_mass[1] *= 2
    one.opt.timestep = 0.5
    assert content(other) == content(dovetail.load("pendulum")) != content(one)
    assert len(compiled) == 1


def test_a_new_process_takes_it_without_importing_the_compiler(cache: Path, tmp_path: Path) -> None:
    robot = put(tmp_path, {"robot.xml": WEDGE, "w.stl": stl()})
    program = (
        "import sys, dovetail\nfrom dovetail import installation, model_cache\n"
        "installation.state = lambda: 'as installed'\n"
        f"print(dovetail.load({str(robot)!r}).nmeshvert, [m for m in ('dovetail.mjcf', 'scipy', 'lxml') if m in "
        "sys.modules])"
    )
    printed = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True) for _ in "ab"]
    assert [run.stderr for run in printed] == ["", ""]
    assert printed[0].stdout == "4 ['dovetail.mjcf', 'scipy', 'lxml']\n"
    assert printed[1].stdout == "4 []\n"


def test_texts_are_kept_too(cache: Path, compiled: list[str]) -> None:
    made = [dovetail.loads(text, assets={"w.stl": stl()}) for text in (WEDGE, WEDGE.encode(), WEDGE)]
    assert len(compiled) == 1
    assert content(made[0]) == content(made[1]) == content(made[2])
    for changed in ({"w.stl": stl(2)}, {"x.stl": stl(2), "W.STL": stl()}, {"W.STL": stl(), "x.stl": stl(2)}):
        dovetail.loads(WEDGE, assets=changed)
    assert len(compiled) == 4


# ---- what makes it compile again

FILES: dict[str, tuple[dict[str, str | bytes], str, str | bytes]] = {
    "main": ({"m.xml": WEDGE, "w.stl": stl()}, "m.xml", WEDGE.replace("<freejoint/>", "<joint/>")),
    "mesh": ({"m.xml": WEDGE, "w.stl": stl()}, "w.stl", stl(2)),
    "include": (
        {"m.xml": '<mujoco><include file="b.xml"/></mujoco>', "b.xml": "<m><option timestep='1'/></m>"},
        "b.xml",
        "<m><option timestep='2'/></m>",
    ),
    "texture": (
        {"m.xml": "<mujoco><asset><texture type='2d' file='t.png'/></asset></mujoco>", "t.png": png(1)},
        "t.png",
        png(2),
    ),
    "height field": (
        {
            "m.xml": "<mujoco><asset><hfield name='h' file='t.png' size='1 1 1 1'/></asset><worldbody>"
            "<geom type='hfield' hfield='h'/></worldbody></mujoco>",
            "t.png": png(1),
        },
        "t.png",
        png(2),
    ),
    "attached model": (
        {
            "m.xml": "<mujoco><asset><model name='o' file='sub/o.xml'/></asset><worldbody>"
            "<attach model='o' body='b' prefix='o'/></worldbody></mujoco>",
            "sub/o.xml": "<mujoco><asset><mesh name='w' file='w.stl'/></asset><worldbody><body name='b'>"
            "<geom type='mesh' mesh='w'/></body></worldbody></mujoco>",
            "sub/w.stl": stl(),
        },
        "sub/w.stl",
        stl(2),
    ),
    "flexcomp": (
        {
            "m.xml": "<mujoco><worldbody><flexcomp name='f' type='mesh' file='w.stl' dim='2'/></worldbody></mujoco>",
            "w.stl": stl(),
        },
        "w.stl",
        stl(2),
    ),
    "URDF": (
        {
            "m.urdf": "<robot name='r'><link name='a'><collision><geometry><mesh filename='w.stl'/></geometry>"
            "</collision></link></robot>",
            "w.stl": stl(),
        },
        "w.stl",
        stl(2),
    ),
}
"""Files of a model, the one that changes, and what it becomes."""


@pytest.mark.parametrize("kind", FILES)
def test_another_content_of_any_file_is_another_model(
    cache: Path, compiled: list[str], tmp_path: Path, kind: str
) -> None:
    parts, name, new = FILES[kind]
    main = put(tmp_path, parts)
    before, kept = dovetail.load(main), dovetail.load(main)
    assert len(compiled) == 1
    assert content(kept) == content(before)
    times = (tmp_path / name).stat()
    put(tmp_path, {name: new})
    os.utime(tmp_path / name, ns=(times.st_atime_ns, times.st_mtime_ns))  # the time says nothing
    after = dovetail.load(main)
    assert len(compiled) == 2
    assert content(after) != content(before)
    assert content(dovetail.load(main)) == content(after)
    put(tmp_path, {name: parts[name]})
    assert content(dovetail.load(main)) == content(before)


APPEARS: dict[str, tuple[dict[str, str | bytes], str, str | bytes]] = {
    "include": (
        {
            "m.xml": '<mujoco><include file="sub/a.xml"/></mujoco>',
            "sub/a.xml": '<m><include file="b.xml"/></m>',
            "sub/b.xml": "<m><option timestep='1'/></m>",
        },
        "b.xml",
        "<m><option timestep='2'/></m>",
    ),
    "mesh": (
        {
            "m.xml": '<mujoco><include file="sub/a.xml"/></mujoco>',
            "sub/a.xml": WEDGE,
            "sub/w.stl": stl(),
        },
        "w.stl",
        stl(2),
    ),
}
"""Files of a model, and one that is looked for before one of them."""


@pytest.mark.parametrize("kind", APPEARS)
@pytest.mark.parametrize("jailed", [False, True])
def test_a_file_where_none_was_is_found(
    cache: Path, compiled: list[str], tmp_path: Path, kind: str, jailed: bool
) -> None:
    parts, name, new = APPEARS[kind]
    main, root = put(tmp_path, parts), tmp_path if jailed else None
    before = dovetail.load(main, asset_root=root)
    dovetail.load(main, asset_root=root)
    assert len(compiled) == 1
    put(tmp_path, {name: new})
    assert content(dovetail.load(main, asset_root=root)) != content(before)
    (tmp_path / name).unlink()
    assert content(dovetail.load(main, asset_root=root)) == content(before)


def test_a_file_that_is_gone_is_missed(cache: Path, tmp_path: Path) -> None:
    main = put(tmp_path, {"m.xml": WEDGE, "w.stl": stl()})
    dovetail.load(main)
    (tmp_path / "w.stl").unlink()
    with pytest.raises(MJCFError, match=r"file not found, looked for .*w\.stl"):
        dovetail.load(main)
    main.unlink()
    with pytest.raises(DovetailError, match="no such file"):
        dovetail.load(main)


def test_a_link_that_leads_out_of_the_root_meanwhile_is_refused(cache: Path, tmp_path: Path) -> None:
    main = put(tmp_path / "inside", {"m.xml": WEDGE, "w.stl": stl()})
    dovetail.load(main, asset_root=main.parent)
    mesh = main.parent / "w.stl"
    mesh.rename(tmp_path / "w.stl")
    mesh.symlink_to(tmp_path / "w.stl")
    with pytest.raises(MJCFError, match="outside asset_root"):
        dovetail.load(main, asset_root=main.parent)
    assert dovetail.load(main).nmesh == 1


def test_the_same_words_in_another_folder_are_other_files(
    cache: Path, compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, folder in enumerate("ab", start=1):
        put(tmp_path / folder, {"m.xml": WEDGE, "w.stl": stl(number)})
        monkeypatch.chdir(tmp_path / folder)
        made = dovetail.load("m.xml"), dovetail.loads(WEDGE)
        again = dovetail.load("m.xml"), dovetail.loads(WEDGE)
        assert len(compiled) == 2 * number
        assert [model.mesh_vert.max() for model in made] == [model.mesh_vert.max() for model in again]
        assert [model.source for model in again] == ["m.xml", "<string>"]


def test_what_a_call_says_is_part_of_the_key(cache: Path, compiled: list[str], tmp_path: Path) -> None:
    main = put(tmp_path, {"m.xml": WEDGE, "w.stl": stl()})
    calls: list[dict[str, Any]] = [
        {},
        {"asset_root": tmp_path},
        {"dialect": "legacy"},
        {"stages": {"finalize_model": "@numpy"}},
        {"config": Config.of_call({"finalize_model": "dynamics@numpy"})},
    ]
    for number, said in enumerate(calls, start=1):
        made = dovetail.load(main, **said)
        assert len(compiled) == number
        assert content(dovetail.load(main, **said)) == content(made)
        assert len(compiled) == number


def test_what_files_and_environment_say_is_part_of_the_key(
    cache: Path, compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dovetail.load("pendulum").stages["finalize_model"] == "dynamics@numpy/1"
    setting = put(tmp_path, {"dovetail.toml": '[stages]\nfinalize_model = "dynamics"\n'})
    assert dovetail.load("pendulum").stages["finalize_model"].endswith("(dovetail.toml:2)")
    monkeypatch.setenv("DOVETAIL_STAGE_FINALIZE_MODEL", "dynamics")
    assert "environment DOVETAIL_STAGE_FINALIZE_MODEL" in dovetail.load("pendulum").stages["finalize_model"]
    assert len(compiled) == 3
    setting.unlink()
    monkeypatch.delenv("DOVETAIL_STAGE_FINALIZE_MODEL")
    assert dovetail.load("pendulum").stages["finalize_model"] == "dynamics@numpy/1"
    assert len(compiled) == 3


def test_another_dovetail_compiles_again(
    cache: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dovetail.load("pendulum")
    monkeypatch.setattr(installation, "state", lambda: "of a new version")
    dovetail.load("pendulum")
    assert len(compiled) == 2
    monkeypatch.setattr(installation, "state", lambda: None)  # being edited
    dovetail.load("pendulum")
    dovetail.load("pendulum")
    assert (len(compiled), len(entries(cache))) == (4, 2)


def test_what_is_installed_changes_with_every_source_file_and_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("own_pkg/__init__.py", "own_pkg/inner/part.py", "lib_pkg/__init__.py"):
        put(tmp_path, {name: ""})
        os.utime(tmp_path / name, (1e9, 1e9))
    (tmp_path / "lib_pkg-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(installation, "PARTS", ("own_pkg",))
    monkeypatch.setattr(installation, "LIBRARIES", {"lib_pkg": "lib_pkg"})
    state = installation.state.__wrapped__
    found = [state()]
    os.utime(tmp_path / "own_pkg/inner/part.py", (1e9, 1e9 + 1))
    found.append(state())
    put(tmp_path, {"own_pkg/inner/new.py": ""})
    os.utime(tmp_path / "own_pkg/inner/new.py", (1e9, 1e9))
    found.append(state())
    (tmp_path / "lib_pkg-1.0.dist-info").rename(tmp_path / "lib_pkg-1.1.dist-info")
    found.append(state())
    assert None not in found
    assert len(set(found)) == 4
    put(tmp_path, {"own_pkg/inner/part.py": "pass"})  # now, while it may be in use
    assert state() is None
    monkeypatch.setattr(installation, "PARTS", ("no_such_pkg",))
    assert state() is None


# ---- what is not kept


def test_a_model_that_something_else_took_part_in_is_not_kept(
    cache: Path, compiled: list[str], registry: Registry, record: Callable[..., Implementation]
) -> None:
    def inertia(size: Any, shell: bool) -> tuple[float, Any]:
        return 1.0, np.ones(3)

    ball = "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
    for _ in "ab":
        dovetail.loads(ball, stages={"geom_inertia:sphere": inertia})
    record("geom_inertia", inertia, key="sphere", name="other")
    for _ in "ab":
        dovetail.loads(ball, registry=registry, stages={"geom_inertia:sphere": "other"})
    assert (len(compiled), entries(cache)) == (4, [])
    dovetail.loads(ball, registry=registry)
    assert len(entries(cache)) == 1


def test_a_check_of_another_package_is_asked_every_time(
    cache: Path, registry: Registry, record: Callable[..., Implementation]
) -> None:
    problems: list[str] = []
    record("check_model", lambda model: problems, provider="acme-checks")
    config = Config.of_call(plugins="acme-checks")
    dovetail.load("pendulum", registry=registry, config=config)
    assert entries(cache) == []
    problems.append("it swings")
    with pytest.raises(DovetailError, match="it swings"):
        dovetail.load("pendulum", registry=registry, config=config)


def test_quick_models_and_errors_are_not_kept(
    cache: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in "ab":
        with pytest.raises(MJCFError, match="unknown attribute"):
            dovetail.loads("<mujoco><option gravty='0'/></mujoco>")
    monkeypatch.setattr(model_cache, "WORTHWHILE", 60.0)
    dovetail.load("pendulum")
    assert (len(compiled), entries(cache)) == (3, [])


@pytest.mark.parametrize("word", ["0", "off", " NO "])
def test_the_switch(cache: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(model_cache.SWITCH, word)
    dovetail.load("pendulum")
    assert entries(cache) == []
    assert model_cache.SWITCH.startswith("DOVETAIL_")


# ---- warnings

OLD = "<mujoco><worldbody>\n<geom name='g' size='1' condim='2'/></worldbody></mujoco>"
SINGULAR = (
    "<mujoco><worldbody><body><joint axis='0 1 0'/><joint axis='0 -1 0'/><geom size='.1' pos='1 0 0'/></body>"
    "</worldbody></mujoco>"
)


def told(make: Callable[[], Model]) -> list[tuple[Any, ...]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        make()
    return [(w.category, str(w.message), w.filename, w.lineno) for w in found]


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (OLD, "DeprecationWarning"),
        ("<mujoco><option wind='nan 0 0'/></mujoco>", "NotFiniteWarning"),
        (SINGULAR, "RuntimeWarning"),
    ],
)
def test_warnings_come_again_from_where_they_came(
    cache: Path, compiled: list[str], text: str, category: str
) -> None:
    first, again = (told(lambda: dovetail.loads(text, dialect="legacy")) for _ in "ab")
    assert len(compiled) == 1
    assert {said[0].__name__ for said in first} == {category}
    assert again == first


def test_filters_decide_anew_about_repeated_warnings(cache: Path, compiled: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dovetail.loads(OLD, dialect="legacy")
    with pytest.warns(DeprecationWarning, match="condim 2"):
        dovetail.loads(OLD, dialect="legacy")
    with pytest.raises(DeprecationWarning, match="condim 2"):  # as pytest's own settings say
        dovetail.loads(OLD, dialect="legacy")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in "abc":
            dovetail.loads(OLD, dialect="legacy")
    assert len(found) == 1
    assert len(compiled) == 1


def test_a_warning_of_the_machines_state_keeps_the_model_out(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dovetail.mjcf.geometry import hull
    from dovetail.mjcf.geometry.qhull_lists import UnknownListsError

    def unreadable(result: Any) -> None:
        raise UnknownListsError("as in a sandbox")

    monkeypatch.setattr(hull, "read_lists", unreadable)
    with pytest.warns(hull.HullOrderWarning):
        dovetail.loads(WEDGE, assets={"w.stl": stl()})
    assert entries(cache) == []


def test_a_note_of_a_warning_imports_nothing_but_dovetails_own() -> None:
    for category in ("os:path", "numpy:ndarray", "builtins:open", "dovetail:load"):
        with pytest.raises(ValueError, match="is no category"):
            warned.Told("text", category, "m", "f", 1).repeat()


# ---- a cache that is damaged, unsafe, shared or full


@pytest.mark.parametrize("where", [0.0, 0.02, 0.1, 0.3, 0.7, 0.999])
@pytest.mark.parametrize("how", ["flipped", "cut"])
def test_a_damaged_entry_is_removed_and_the_model_compiled_anew(
    cache: Path, compiled: list[str], how: str, where: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = content(dovetail.load("pendulum"))
    (entry,) = entries(cache)
    whole = entry.read_bytes()
    place = int(where * len(whole))
    flipped = whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :]
    entry.write_bytes(flipped if how == "flipped" else whole[:place])
    with monkeypatch.context() as patch:
        patch.setattr(model_cache, "WORTHWHILE", 60.0)
        assert content(dovetail.load("pendulum")) == fresh
    assert (len(compiled), entries(cache)) == (2, [])
    dovetail.load("pendulum")
    assert content(dovetail.load("pendulum")) == fresh
    assert len(compiled) == 3


def test_an_entry_that_was_rewritten_with_other_fields_is_not_believed(cache: Path) -> None:
    """Whoever writes an entry by the rules of the format, but of another layout, does not get it filled."""
    fresh = content(dovetail.load("pendulum"))
    (entry,) = entries(cache)
    with open(entry, "rb") as file:
        plain = model_cache._description(file)
        rest = file.read()
    plain["model"]["sizes"]["nbody"] = 10**12
    text = model_cache.json.dumps(plain).encode()
    digest = model_cache.hashlib.sha256(text).digest()
    entry.write_bytes(model_cache.MAGIC + digest + len(text).to_bytes(8, "little") + text + rest)
    assert content(dovetail.load("pendulum")) == fresh


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("which", ["folder", "entry"])
def test_nothing_is_taken_from_where_others_can_write(
    cache: Path, compiled: list[str], which: str, caplog: pytest.LogCaptureFixture
) -> None:
    dovetail.load("pendulum")
    (entry,) = entries(cache)
    (cache if which == "folder" else entry).chmod(0o777)
    before = entry.read_bytes(), entry.stat().st_mtime_ns
    with caplog.at_level(logging.INFO):
        dovetail.load("pendulum")
    assert len(compiled) == 2
    assert f"everybody may write to {cache if which == 'folder' else entry}" in caplog.text
    if which == "folder":
        assert (entry.read_bytes(), entry.stat().st_mtime_ns) == before  # nor is anything put there
    else:
        assert entry.stat().st_mode & 0o777 == 0o600  # replaced by one's own


def test_folders_are_made_for_the_user_alone(cache: Path) -> None:
    dovetail.load("pendulum")
    assert cache.stat().st_mode & 0o777 == 0o700
    assert entries(cache)[0].stat().st_mode & 0o777 == 0o600


def test_without_room_or_permission_models_load_all_the_same(
    cache: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(path: Path, *parts: bytes) -> None:
        raise OSError(28, "No space left on device")

    with caplog.at_level(logging.INFO), monkeypatch.context() as patch:
        patch.setattr(model_cache, "write_whole", full)
        assert dovetail.load("pendulum").nq == 2
    assert "cannot be kept: No space left on device" in caplog.text
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", "/proc/nowhere")
    assert [dovetail.load("pendulum").nq for _ in "ab"] == [2, 2]
    assert len(compiled) == 3


def test_nothing_stays_of_what_could_not_be_finished(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        cache_folder.write_whole(tmp_path / "x", b"half", object())
    assert list(tmp_path.iterdir()) == []


def test_what_was_not_used_for_longest_makes_room(
    cache: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for day, name in enumerate(["pendulum", "arm", "tumbler"]):
        before = set(entries(cache))
        dovetail.load(name)
        (entry,) = set(entries(cache)) - before
        os.utime(entry, (1e9 + day, 1e9 + day))
    dovetail.load("pendulum")  # used again: now arm is the oldest
    abandoned = put(cache, {"left.tmp": "half", "stranger": "not ours"})
    os.utime(abandoned, (1e9, 1e9))
    monkeypatch.setattr(model_cache, "MOST_ENTRIES", 3)
    dovetail.load("humanoid")
    assert len([p for p in entries(cache) if p.suffix == ".model"]) == 3
    assert not abandoned.exists()
    assert (cache / "stranger").exists()
    assert len(compiled) == 4
    for name in ("pendulum", "tumbler", "humanoid"):
        dovetail.load(name)
    assert len(compiled) == 4
    largest = max(path.stat().st_size for path in entries(cache))
    monkeypatch.setattr(model_cache, "MOST_BYTES", 4 * largest)
    monkeypatch.setattr(model_cache, "MOST_ENTRIES", 100)
    dovetail.load("arm")
    assert sum(path.stat().st_size for path in entries(cache)) <= 4 * largest
    monkeypatch.setattr(model_cache, "MOST_BYTES", 100)
    count = len(entries(cache))
    dovetail.loads("<mujoco/>")
    assert len(entries(cache)) == count  # one that would fill it alone is not kept


def test_processes_share_a_cache(cache: Path, tmp_path: Path) -> None:
    robot = put(tmp_path, {"robot.xml": WEDGE, "w.stl": stl()})
    program = (
        "import dovetail, hashlib\nfrom dovetail import installation, model_cache\n"
        "installation.state = lambda: 'as installed'\nmodel_cache.WORTHWHILE = 0.0\n"
        f"for _ in range(20):\n    model = dovetail.load({str(robot)!r})\n"
        "    for path in list(model_cache.cache_directory('models').glob('*'))[:1] * (_ % 3 == 0):\n"
        "        path.write_bytes(path.read_bytes()[:-1]) if _ % 2 else path.unlink(missing_ok=True)\n"
        "print(hashlib.sha256(b''.join(bytes(b) for b in model.buffers.values())).hexdigest())"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program],
            stdout=-1,
            stderr=-1,
            text=True,
            env={**os.environ},
        )
        for _ in "ab"
    ]
    printed = [run.communicate(timeout=60) for run in runs]
    assert [err for _, err in printed] == ["", ""]
    assert printed[0][0] == printed[1][0] != ""
    assert not list(cache.glob("*.tmp"))


# ---- what was read and looked for


def test_a_record_of_files_holds_until_an_answer_changes(tmp_path: Path) -> None:
    put(tmp_path, {"a": "1", "b": "2"})
    with files.recorded() as seen:
        files.read_bytes(tmp_path / "a", 10)
        there = [files.exists(tmp_path / name) for name in "abc"]
    assert there == [True, True, False]
    assert (len(seen.contents), len(seen.looked_for)) == (1, 3)
    assert seen.still_holds(10)
    put(tmp_path, {"b": "other"})
    assert seen.still_holds(10)  # it was only looked for
    put(tmp_path, {"c": "new"})
    assert not seen.still_holds(10)
    (tmp_path / "c").unlink()
    (tmp_path / "a").rename(tmp_path / "elsewhere")
    (tmp_path / "a").symlink_to("elsewhere")
    assert not seen.still_holds(10)


def test_what_is_read_outside_of_a_record_is_not_in_it(tmp_path: Path) -> None:
    put(tmp_path, {"a": "1"})
    with files.recorded() as outer:
        with files.recorded() as inner:
            pass
        files.read_bytes(tmp_path / "a", 10)
    files.exists(tmp_path / "a")
    assert (len(outer.contents), len(outer.looked_for), inner) == (1, 0, files.Seen())

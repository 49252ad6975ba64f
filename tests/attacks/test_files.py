"""The one reader of files: what it refuses, and that nothing can be exchanged between looking and reading."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import dovetail
from dovetail import files, limits
from dovetail.errors import ArgumentError, FileError, MJCFError

PART = "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert files.read_bytes(tmp_path / "a", 3) == b"abc"
    with pytest.raises(FileError, match="3 bytes or more, the most is 2 bytes"):
        files.read_bytes(tmp_path / "a", 2)


def test_a_file_that_grows_while_it_is_read_is_bounded(tmp_path, monkeypatch) -> None:
    """Its size when it was opened promises nothing."""
    path = tmp_path / "a"
    path.write_bytes(b"x" * 10)
    read = os.read

    def growing(handle: int, count: int) -> bytes:
        with open(path, "ab") as stream:
            stream.write(b"x" * 1000)
        return read(handle, count)

    monkeypatch.setattr(os, "read", growing)
    with pytest.raises(FileError, match=r"the most is 1\.5 kB"):
        files.read_bytes(path, 1536)


def test_a_link_put_there_after_the_look_is_refused(tmp_path, monkeypatch) -> None:
    """What was opened is looked at, not only its path."""
    root, secret = tmp_path / "root", tmp_path / "secret"
    root.mkdir()
    secret.write_text("s")
    (root / "a").write_text("a")
    opening = os.open

    def exchanging(path, *rest):
        (root / "a").unlink()
        (root / "a").symlink_to(secret)
        return opening(path, *rest)

    monkeypatch.setattr(os, "open", exchanging)
    with pytest.raises(files.OutsideError, match="is outside asset_root"):
        files.read_bytes(root / "a", 10, root=root)


@pytest.mark.parametrize("name", ["../there.xml", "link/there.xml", "direct.xml"])
def test_no_hint_whether_an_outside_file_exists(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    (root / "direct.xml").symlink_to(tmp_path / "there.xml")
    xml = f"<mujoco><include file='{name}'/></mujoco>"

    def message() -> str:
        with pytest.raises(MJCFError) as caught:
            dovetail.loads(xml, asset_root=root)
        return str(caught.value)

    absent = message()
    (tmp_path / "there.xml").write_text(PART)
    assert message() == absent
    assert "is outside asset_root" in absent


def test_loads_looks_for_files_in_the_asset_root(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(PART)
    xml = "<mujoco><include file='part.xml'/></mujoco>"
    assert dovetail.loads(xml, asset_root=tmp_path).ngeom == 1
    assert dovetail.loads(xml, asset_root=str(tmp_path), assets={"part.xml": PART}).ngeom == 1


def test_a_path_may_leave_the_root_along_its_own_name(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "part.xml").write_text(PART)
    assert dovetail.loads("<mujoco><include file='../root/part.xml'/></mujoco>", asset_root=root).ngeom == 1


def test_a_link_inside_the_root_is_followed(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(PART)
    (tmp_path / "link.xml").symlink_to("part.xml")
    assert dovetail.loads("<mujoco><include file='link.xml'/></mujoco>", asset_root=tmp_path).ngeom == 1


@pytest.mark.parametrize("path", [None, 5, b"a", "", [], object()])
def test_what_is_no_path_is_refused(path: object) -> None:
    with pytest.raises(ArgumentError, match="a path should be text"):
        dovetail.load(path)  # type: ignore[arg-type]


def test_a_saved_file_does_not_replace_a_device_or_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="is a directory, device or the like"):
        dovetail.loads(PART).save(tmp_path / "pipe")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_an_error_of_a_file_is_also_one_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no such file"):
        dovetail.loads(PART).save(tmp_path / "no" / "model.npz")


def test_loading_leaves_the_collector_as_it_was() -> None:
    import gc

    assert gc.isenabled()
    with pytest.raises(MJCFError):
        dovetail.loads("<mujoco><x/></mujoco>")
    assert gc.isenabled()


def test_every_limit_is_used_and_documented() -> None:
    """A limit that no code mentions limits nothing."""
    folders = [Path(files.__file__).parent, Path(dovetail.mjcf.__file__).parent]
    code = "\n".join(
        path.read_text() for folder in folders for path in folder.rglob("*.py") if path.stem != "limits"
    )
    unused = [name for name in limits.LIMITS if f"limits.{name}" not in code and f'"{name}"' not in code]
    assert not unused
    page = (Path(__file__).parents[2] / "docs" / "reference" / "limits.md").read_text()
    assert all(f"| `{limit.name}` | {limit} |" in page for limit in limits.LIMITS.values())


def test_messages_stay_readable() -> None:
    with pytest.raises(dovetail.DovetailError) as caught:
        dovetail.loads(f"<mujoco><{'x' * 10**6}/></mujoco>")
    assert len(str(caught.value)) < 15_000
    model = dovetail.loads("<mujoco><worldbody>" + "<site/>" * 5000 + "</worldbody></mujoco>")
    with pytest.raises(dovetail.DovetailError) as caught:
        model.body("x" * 10**6)
    assert len(str(caught.value)) < 1000

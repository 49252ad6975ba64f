"""Wishes and settings: where each was written, which one wins, and what is wrong with the bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.config import Config
from dovetail.errors import ConfigError

FILE = """\
# how to run
backend = "taichi"
threads = 2
keep = ["sensordata", "xpos"]

[stages]
integrate = "rk4@numpy"
"passive_force:spring" = "@taichi"
"""


def write(tmp_path: Path, text: str, name: str = "dovetail.toml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_file_gives_values_with_their_lines(tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    config = Config.of_file(path)
    assert {n: (s.value, s.origin) for n, s in config.settings.items()} == {
        "backend": ("taichi", f"{path}:2"),
        "threads": (2, f"{path}:3"),
        "keep": (("sensordata", "xpos"), f"{path}:4"),
    }
    (integrate,) = config.requests["integrate"]
    assert (integrate.name, integrate.backend, integrate.origin) == ("rk4", "numpy", f"{path}:7")
    (spring,) = config.requests["passive_force:spring"]
    assert (spring.name, spring.backend, spring.origin) == (None, "taichi", f"{path}:8")


def test_pyproject_has_its_own_table_and_other_tables_do_not_confuse_the_lines(tmp_path: Path) -> None:
    text = '[tool.other]\nbackend = "x"\nintegrate = 1\n[tool.dovetail]\nbackend = "numpy"\n'
    text += '[tool.dovetail.stages]\nintegrate = "rk4"\n'
    path = write(tmp_path, text, "pyproject.toml")
    config = Config.of_file(path)
    assert config.setting("backend", "").origin == f"{path}:5"
    assert config.requests["integrate"][0].origin == f"{path}:7"


@pytest.mark.parametrize("text", ['stages.integrate = "rk4"\n', 'stages = {integrate = "rk4"}\n'])
def test_other_ways_to_write_the_table_have_lines_too(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, "threads = 1\n" + text)
    assert Config.of_file(path).requests["integrate"][0].origin == f"{path}:2"


def test_pyproject_without_the_table_says_nothing(tmp_path: Path) -> None:
    assert Config.of_file(write(tmp_path, "[project]\nname = 'x'\n", "pyproject.toml")) == Config()


def test_variables_set_stages_rows_and_settings() -> None:
    config = Config.of_environment(
        {
            "DOVETAIL_STAGE_NARROWPHASE": "convex@taichi",
            "DOVETAIL_STAGE_PASSIVE_FORCE__SPRING": "@numpy",
            "DOVETAIL_BACKEND": "taichi",
            "DOVETAIL_THREADS": "3",
            "DOVETAIL_STAGE_ENERGY": "",
            "DOVETAIL_PRECISION": "",
            "OTHER": "x",
        }
    )
    assert set(config.requests) == {"narrowphase", "passive_force:spring"}
    assert config.requests["narrowphase"][0].origin == "environment DOVETAIL_STAGE_NARROWPHASE"
    assert config.setting("threads", 1).value == 3
    assert config.setting("backend", "").origin == "environment DOVETAIL_BACKEND"
    assert config.setting("precision", "f64").origin == "default"


def test_the_working_directorys_files_and_the_environment_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'backend = "numpy"\n')
    write(tmp_path, '[tool.dovetail]\nbackend = "taichi"\nthreads = 2\n', "pyproject.toml")
    monkeypatch.setenv("DOVETAIL_THREADS", "5")
    monkeypatch.setenv("DOVETAIL_LANES", "4")
    config = Config.discover(tmp_path)
    assert [config.setting(n, None).value for n in ("backend", "threads", "lanes")] == ["numpy", 2, 4]


def test_a_variable_names_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'backend = "taichi"\n')
    other = write(tmp_path, "threads = 7\n", "mine.toml")
    monkeypatch.setenv("DOVETAIL_CONFIG", str(other))
    config = Config.discover(tmp_path)
    assert set(config.settings) == {"threads"}


def test_the_first_source_is_strongest_and_wishes_are_all_kept() -> None:
    call = Config.of_call({"integrate": "rk4"}, threads=4, backend=None)
    environment = Config.of_environment({"DOVETAIL_THREADS": "2", "DOVETAIL_STAGE_INTEGRATE": "euler@numpy"})
    merged = Config.merge([call, environment])
    assert merged.setting("threads", 1).value == 4
    assert [r.origin for r in merged.requests["integrate"]] == [
        "call argument",
        "environment DOVETAIL_STAGE_INTEGRATE",
    ]
    assert "backend" not in merged.settings


BAD = {
    'backnd = "x"': r":1: unknown setting 'backnd'; did you mean 'backend'\? Known: arch, backend, keep, lanes",
    'threads = "many"': r":1: threads = 'many' should be int",
    "threads = 2.5": r":1: threads = 2.5 should be int",
    "threads = 0": r":1: threads = 0 should be at least 1",
    "lanes = -8": ":1: lanes = -8 should be at least 1",
    'precision = "f16"': ":1: precision = 'f16' should be 'f64' or 'f32'",
    "keep = 3": ":1: keep = 3 should be 'state', 'all' or a list of field names",
    "keep = [1]": "should be 'state', 'all' or a list",
    'stages = "rk4"': r":1: stages = 'rk4' should be a table, as in \[stages\]",
    "[stages]\nintegrate = 4": ":2: integrate = 4 is not understood; write 'name', 'name@backend' or '@backend'",
    '[stages]\nintegrate = "rk4@"': ":2: integrate = 'rk4@' is not understood",
    '[stages]\nintegrate = ""': ":2: integrate = '' is not understood",
    "backend = ": "cannot be read: Invalid value",
}


@pytest.mark.parametrize("text", BAD, ids=repr)
def test_a_bad_file_is_an_error_with_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        ConfigError, match="dovetail.toml" + (BAD[text] if BAD[text][0] == ":" else f".*{BAD[text]}")
    ):
        Config.of_file(write(tmp_path, text))


def test_a_bad_pyproject_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tool\.dovetail = 3 should be a table"):
        Config.of_file(write(tmp_path, "[tool]\ndovetail = 3\n", "pyproject.toml"))


def test_a_file_that_is_not_there_or_not_text_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CONFIG", str(tmp_path / "gone.toml"))
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read"):
        Config.discover()
    binary = tmp_path / "dovetail.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.of_file(binary)


def test_bad_variables_and_arguments_name_themselves() -> None:
    with pytest.raises(ConfigError, match="environment DOVETAIL_THREADS: threads = 'two' should be int"):
        Config.of_environment({"DOVETAIL_THREADS": "two"})
    with pytest.raises(ConfigError, match="call argument: precision = 'double'"):
        Config.of_call(precision="double")
    with pytest.raises(ConfigError, match="call argument: integrate = 'RK4' is not understood"):
        Config.of_call({"integrate": "RK4"})

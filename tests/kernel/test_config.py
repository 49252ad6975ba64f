"""Wishes and settings: where each was written, which one wins, and what is wrong with the bad ones."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import dovetail
from dovetail import config as config_module
from dovetail import limits
from dovetail.config import SETTINGS, VARIABLES, Config, ConfigWarning
from dovetail.errors import ConfigError, UnknownImplementationError
from dovetail.planning.planner import compile_plan

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


def test_the_environment_beats_files_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'backend = "numpy"\n')
    write(tmp_path, '[tool.dovetail]\nbackend = "taichi"\nthreads = 2\n', "pyproject.toml")
    monkeypatch.setenv("DOVETAIL_THREADS", "5")
    monkeypatch.setenv("DOVETAIL_LANES", "4")
    config = Config.discover(tmp_path)
    assert [config.setting(n, None).value for n in ("backend", "threads", "lanes")] == ["numpy", 5, 4]


def test_a_variable_beats_a_file_for_one_stage_and_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'precision = "f32"\n[stages]\nintegrate = "rk4"\n')
    monkeypatch.setenv("DOVETAIL_PRECISION", "f64")
    monkeypatch.setenv("DOVETAIL_STAGE_INTEGRATE", "euler")
    config = Config.discover(tmp_path)
    assert config.setting("precision", "").origin == "environment DOVETAIL_PRECISION"
    assert [wish.name for wish in config.requests["integrate"]] == ["euler", "rk4"]


def values(directory: Path, *names: str) -> list[object]:
    config = Config.discover(directory)
    return [config.setting(name, None).value for name in names]


def test_the_nearest_file_above_is_found(tmp_path: Path) -> None:
    below = tmp_path / "project" / "src" / "robot"
    below.mkdir(parents=True)
    write(tmp_path, "threads = 2\nlanes = 4\n")
    assert values(below, "threads", "lanes") == [2, 4]
    write(tmp_path / "project", "[tool.dovetail]\nthreads = 3\n", "pyproject.toml")
    assert values(below, "threads", "lanes") == [3, None]
    assert Config.discover(below).setting("threads", 1).origin == f"{tmp_path}/project/pyproject.toml:2"
    write(below, "lanes = 8\n")
    assert values(below, "threads", "lanes") == [None, 8]


@pytest.mark.parametrize(
    "text",
    [
        "[tool.other]\nx = 1\n",
        "[project]\nname = 'x'\n",
        "tool = 5\n",
        "not TOML at all",
        "tool = 'dovetail'\n",
    ],
)
def test_a_strangers_pyproject_does_not_end_the_search(tmp_path: Path, text: str) -> None:
    (tmp_path / "src").mkdir()
    write(tmp_path, "threads = 2\n")
    write(tmp_path / "src", text, "pyproject.toml")
    assert values(tmp_path / "src", "threads") == [2]


@pytest.mark.parametrize("boundary", [".git", ".hg"])
def test_the_search_ends_at_a_repository(tmp_path: Path, boundary: str) -> None:
    inside = tmp_path / "repository" / "src"
    inside.mkdir(parents=True)
    (tmp_path / "repository" / boundary).mkdir()
    write(tmp_path, "threads = 2\n")
    assert values(inside, "threads") == [None]
    assert values(tmp_path / "repository", "threads") == [None]
    write(tmp_path / "repository", "threads = 3\n")
    assert values(inside, "threads") == [3]


def test_the_search_ends_at_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "me" / "work"
    inside.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    write(tmp_path, "threads = 2\n")
    assert values(inside, "threads") == values(tmp_path / "me", "threads") == [None]
    write(tmp_path / "me", "threads = 3\n")
    assert values(inside, "threads") == [3]


@pytest.mark.parametrize(
    ("variable", "right"),
    [
        ("DOVETAIL_BACKND", "DOVETAIL_BACKEND"),
        ("DOVETAIL_THREAD", "DOVETAIL_THREADS"),
        ("DOVETAIL_STAGES_INTEGRATE", "DOVETAIL_STAGE_INTEGRATE"),
        ("DOVETAIL_CACHEDIR", "DOVETAIL_CACHE_DIR"),
        ("DOVETAIL_PLUGIN", "DOVETAIL_PLUGINS"),
    ],
)
def test_a_misspelt_variable_warns(variable: str, right: str) -> None:
    with pytest.warns(ConfigWarning, match=f"environment {variable}: .*; did you mean '{right}'"):
        assert Config.of_environment({variable: "2"}) == Config()


def test_a_misspelt_variable_is_told_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_THRAEDS", "2")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            dovetail.Simulation("pendulum", backend="numpy")
    assert [str(w.message) for w in caught if w.category is ConfigWarning] == [
        "environment DOVETAIL_THRAEDS: dovetail reads no such variable; did you mean 'DOVETAIL_THREADS'?"
    ]


def test_a_variable_that_is_an_error_is_one_every_time() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(ConfigWarning, match="DOVETAIL_XQZW"):
                Config.of_environment({"DOVETAIL_XQZW": "2"})


def test_a_variable_like_no_other_warns_without_a_guess() -> None:
    with pytest.warns(ConfigWarning, match="environment DOVETAIL_XQZW: dovetail reads no such variable$"):
        Config.of_environment({"DOVETAIL_XQZW": "2"})


def test_every_variable_that_the_source_reads_is_known() -> None:
    """And every known one is read somewhere, so that no misspelling hides in the list."""
    top = Path(config_module.__file__).parent.parent
    sources = [p for folder in ("core", "backends", "mjcf", "plugins") for p in (top / folder).rglob("*.py")]
    if not sources:
        pytest.skip("installed from a wheel: the folders have other names")
    text = "\n".join(p.read_text() for p in sources)
    written = set(re.findall(r'"(DOVETAIL_[A-Z_]+[A-Z])"', text))
    assert written <= VARIABLES
    assert {name for name in VARIABLES if name.removeprefix("DOVETAIL_").lower() not in SETTINGS} <= written


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
    "threads = true": ":1: threads = True should be int",
    "threads = inf": ":1: threads = inf should be int",
    "threads = nan": ":1: threads = nan should be int",
    "backend = 5": ":1: backend = 5 should be str",
    'backend = ["numpy"]': ":1: backend = .* should be str",
    f"threads = {'9' * 5000}": "cannot be read: Exceeds the limit",
    f"keep = {'[' * 5000}{']' * 5000}": "cannot be read: arrays or tables are nested too deeply",
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


@pytest.mark.parametrize("text", ["tool = 5\n", "[tool]\n", "tool = [1]\n", ""])
def test_a_pyproject_without_a_table_of_tools_says_nothing(tmp_path: Path, text: str) -> None:
    assert Config.of_file(write(tmp_path, text, "pyproject.toml")) == Config()


def test_a_file_beyond_the_limit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"dovetail\.toml: cannot be read: has .* the most is 4 MB"):
        Config.of_file(write(tmp_path, "#" * (limits.CONFIG_BYTES + 1)))


def test_lines_are_found_in_linear_time(tmp_path: Path) -> None:
    """A look at the whole text for each key would take minutes here; a process gets twenty seconds."""
    path = write(tmp_path, "[stages]\n" + "".join(f'"passive_force:s{i}" = "joint"\n' for i in range(50_000)))
    code = "from dovetail.config import Config; "
    code += f"print(Config.of_file({str(path)!r}).requests['passive_force:s49999'])"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (20, 20)); "
    done = subprocess.run([sys.executable, "-c", limit + code], capture_output=True, text=True, check=False)
    assert "dovetail.toml:50001" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "text",
    [
        '[tool]\ndovetail.stages.integrate = "rk4"\n',
        '[ tool . dovetail . "stages" ]\nintegrate = "rk4"\n',
        "[tool.dovetail]\nstages = {integrate = 'rk4'}\n",
        "[tool.dovetail.'stages']  # why\n'integrate' = 'rk4'\n",
    ],
)
def test_lines_are_found_however_a_key_is_written(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text, "pyproject.toml")
    assert Config.of_file(path).requests["integrate"][0].origin == f"{path}:2"


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


# ---- who asked for what


@pytest.mark.parametrize("text", ['backend = "taichy"\n', '[stages]\n"kinematics" = "@taichy"\n'])
def test_a_wrong_backend_names_file_and_line(tmp_path: Path, pendulum: dovetail.Model, text: str) -> None:
    path = write(tmp_path, "# mine\n" + text)
    line = 1 + text.count("\n")
    with pytest.raises(
        UnknownImplementationError, match=f"{path}:{line}: there is no backend 'taichy'; did you mean"
    ):
        compile_plan(pendulum, Config.of_file(path))


def origin(model: dovetail.Model, slot: str, *sources: Config) -> str:
    plan = compile_plan(model, Config.merge(sources))
    return next(line.origin for line in plan.lines() if line.slot == slot)


def test_both_halves_of_a_choice_show_where_they_come_from(tmp_path: Path, pendulum: dovetail.Model) -> None:
    path = write(tmp_path, '[stages]\nintegrate = "rk4"\n')
    said = Config.of_environment({"DOVETAIL_STAGE_INTEGRATE": "@numpy"})
    both = f"{path}:2, backend by environment DOVETAIL_STAGE_INTEGRATE"
    assert origin(pendulum, "integrate", said, Config.of_file(path)) == both
    everywhere = Config.of_call(backend="numpy")
    assert (
        origin(pendulum, "integrate", everywhere, Config.of_file(path))
        == f"{path}:2, backend by call argument"
    )
    assert (
        origin(pendulum, "integrate", everywhere) == "model option integrator=euler, backend by call argument"
    )


def test_a_choice_from_one_place_names_it_once(pendulum: dovetail.Model) -> None:
    assert origin(pendulum, "integrate", Config.of_call({"integrate": "rk4@numpy"})) == "call argument"
    assert (
        origin(pendulum, "integrate", Config.of_call({"integrate": "rk4"}, backend="numpy"))
        == "call argument"
    )
    assert origin(pendulum, "kinematics", Config.of_call(backend="numpy")) == "backend by call argument"

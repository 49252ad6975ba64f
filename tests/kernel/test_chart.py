"""Charts: valid files with what was asked for in them, the same every time."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import attrs
import pytest

from dovetail import chart as charts
from dovetail.chart import Chart, Curve
from dovetail.errors import DovetailError, MissingDependencyError

drawing = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")

CHART = Chart(
    title="a < b & c, $5 or $6",
    x_label="worlds",
    y_label="µs",
    curves=[Curve(name="f64", x=[1, 10, 1000], y=[3, 30, 2500]), Curve(name="f32", x=[1, 10], y=[2, 9])],
    logarithmic=True,
)
BEGINNINGS = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}


def words(path: Path, *drawn: Chart) -> list[str]:
    """The words of charts that are drawn into an SVG file."""
    charts.write(path, drawn)
    texts = ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()).strip() for text in texts]


@drawing
def test_titles_labels_names_and_plain_numbers_are_words(tmp_path: Path) -> None:
    found = words(tmp_path / "chart.svg", CHART)
    assert {CHART.title, "worlds", "µs", "f64", "f32", "1", "10", "100", "1,000", "10,000"} <= set(found)


@drawing
@pytest.mark.parametrize("ending", BEGINNINGS)
def test_the_same_chart_gives_the_same_file(tmp_path: Path, ending: str) -> None:
    files = [tmp_path / f"{name}{ending}" for name in ("one", "two")]
    for path in files:
        charts.write(path, [CHART])
    assert files[0].read_bytes().startswith(BEGINNINGS[ending])
    assert files[0].read_bytes() == files[1].read_bytes()


@drawing
def test_a_png_has_the_colours_of_the_curves(tmp_path: Path) -> None:
    from PIL import Image

    charts.write(tmp_path / "chart.png", [CHART])
    with Image.open(tmp_path / "chart.png") as image:
        colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 20)}
    assert {(0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00), (255, 255, 255)} <= colours


@drawing
def test_dots_alone_stand_over_names(tmp_path: Path) -> None:
    chart = attrs.evolve(CHART, curves=[Curve(x=[0, 1], y=[2, 3])], names=["ant", "dog"], logarithmic=False)
    assert {"ant", "dog"} <= set(words(tmp_path / "chart.svg", chart))


@drawing
def test_several_charts_stand_below_each_other(tmp_path: Path) -> None:
    found = words(tmp_path / "chart.svg", CHART, attrs.evolve(CHART, y_label="height [m]"))
    assert found.index("µs") < found.index("height [m]")


@drawing
@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("values", [[0.0, 0.0], [float("nan"), 1.0], [5.0, 5.0]])
def test_odd_values_do_not_stop_it(tmp_path: Path, values: list[float], logarithmic: bool) -> None:
    curve = Curve(name="odd", x=[1, 2], y=values)
    chart = attrs.evolve(CHART, curves=[curve], logarithmic=logarithmic, from_zero=True)
    assert "odd" in words(tmp_path / "chart.svg", chart)


def test_curves_look_different_without_colour() -> None:
    looks = [charts._look(number, joined=True) for number in range(len(charts.MARKS))]
    assert len({look["marker"] for look in looks}) == len(looks)


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match=r"written as \.svg, \.png or \.pdf"):
        charts.write(tmp_path / "chart.gif", [CHART])


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"'matplotlib'.*dovetail-physics\[plot\]"):
        charts.write(tmp_path / "chart.svg", [CHART])

"""Charts: valid files with what was asked for in them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import attrs
import pytest
from bench_results import RESULT

from dovetail.bench.chart import HEIGHT, WIDTH, Chart, Curve, of_results, of_sweep
from dovetail.bench.sweeps import Fit, Series, Sweep
from dovetail.errors import DovetailError

CHART = Chart(
    title="a < b & c",
    x_label="worlds",
    y_label="µs",
    curves=[Curve(name="f64", x=[1, 10, 1000], y=[3, 30, 2500]), Curve(name="f32", x=[1, 10], y=[2, 9])],
    logarithmic=(True, True),
)
SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart: Chart, path: Path) -> ElementTree.Element:
    chart.write(path)
    return ElementTree.parse(path).getroot()


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_an_svg_has_a_dot_for_each_point_and_one_for_each_name(tmp_path: Path) -> None:
    root = drawn(CHART, tmp_path / "chart.svg")
    assert len(root.findall(f"{SVG}circle")) == 5 + 2
    assert {"a < b & c", "worlds", "µs", "f64", "f32", "1", "10", "100", "1000"} <= set(words(root))


def test_larger_is_higher_and_further_right(tmp_path: Path) -> None:
    root = drawn(CHART, tmp_path / "chart.svg")
    dots = [(float(c.get("cx", 0)), float(c.get("cy", 0))) for c in root.findall(f"{SVG}circle")][:3]
    assert dots == sorted(dots)
    assert [y for _, y in dots] == sorted((y for _, y in dots), reverse=True)


def test_everything_is_on_the_canvas(tmp_path: Path) -> None:
    for element in drawn(CHART, tmp_path / "chart.svg"):
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(name, 0)) <= WIDTH
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(name, 0)) <= HEIGHT


def test_a_png_has_the_colours_of_the_curves(tmp_path: Path) -> None:
    from PIL import Image

    CHART.write(tmp_path / "chart.png")
    with Image.open(tmp_path / "chart.png") as image:
        assert image.size == (WIDTH, HEIGHT)
        colours = {colour for _, colour in image.getcolors(1 << 16)}
    assert {(0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00), (255, 255, 255)} <= colours


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match=r"written as \.svg or \.png"):
        CHART.write(tmp_path / "chart.pdf")


@pytest.mark.parametrize("values", [[0.0, 0.0], [float("nan"), 1.0], [5.0, 5.0]])
def test_odd_values_do_not_stop_it(tmp_path: Path, values: list[float]) -> None:
    for logarithmic in (False, True):
        chart = attrs.evolve(
            CHART, curves=[Curve(name="odd", x=[1, 2], y=values)], logarithmic=(False, logarithmic)
        )
        assert "odd" in words(drawn(chart, tmp_path / "chart.svg"))


def test_results_are_drawn_beside_mujoco_where_it_was_measured(tmp_path: Path) -> None:
    beside = words(drawn(of_results([RESULT]), tmp_path / "chart.svg"))
    assert {"times as fast as MuJoCo", "arm", "f64 8 worlds × 1"} <= set(beside)
    row = attrs.evolve(RESULT.rows[0], ratio=None)
    alone = words(drawn(of_results([attrs.evolve(RESULT, rows=(row,))]), tmp_path / "chart.svg"))
    assert "µs per step and world" in alone


def test_a_sweep_is_drawn_with_its_series(tmp_path: Path) -> None:
    fit = Fit.of((8, 16, 32), (1, 2, 4))
    swept = [
        Sweep(
            over="nv",
            x_label="nv",
            y_label="µs",
            series=(Series(name="f64 × 1", sizes=(8.0, 16.0, 32.0), costs=(1.0, 2.1, 4.0), fit=line),),
            results=(RESULT,),
        )
        for line in (None, fit)
    ]
    joined, fitted = (drawn(of_sweep(one), tmp_path / "chart.svg") for one in swept)
    for root in (joined, fitted):
        assert "f64 × 1" in words(root)
        assert len(root.findall(f"{SVG}circle")) == 3 + 1
    thick = [
        len([n for n in root.iter(f"{SVG}line") if n.get("stroke-width") == "2"]) for root in (joined, fitted)
    ]
    assert thick == [2, 40]

"""The curve of the impedance, the structure of sparse rows, and the forces that follow; no MuJoCo needed."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.plugins.shared.rows.impedance_numpy import impedance, safe_solimp
from dovetail.plugins.shared.sparse_rows_numpy import merged, supernodes

CURVES = [
    (0.2, 0.9, 0.1, 0.5, 2.0),
    (0.2, 0.9, 0.1, 0.3, 3.7),
    (0.9, 0.4, 0.2, 0.8, 1.0),
    (0.5, 0.6, 0.1, 0.01, 6.0),
]


@pytest.mark.parametrize("solimp", CURVES)
def test_impedance_goes_from_one_value_to_the_other(solimp: tuple[float, ...]) -> None:
    d0, dmax, width = solimp[:3]
    violation = np.linspace(-1.5 * width, 1.5 * width, 301)
    value, slope = impedance(np.tile(solimp, (301, 1)), violation)
    np.testing.assert_allclose(value, value[::-1], rtol=1e-12)
    np.testing.assert_allclose(slope, -slope[::-1], rtol=1e-9, atol=1e-12)
    assert value[150] == d0
    assert (value[np.abs(violation) >= width] == dmax).all()
    assert (np.diff(value[150:]) * np.sign(dmax - d0) >= 0).all()


@pytest.mark.parametrize("solimp", CURVES)
def test_slope_of_the_impedance(solimp: tuple[float, ...]) -> None:
    violation = np.array([-0.8, -0.2, 0.1, 0.55, 0.9]) * solimp[2]
    table, step = np.tile(solimp, (5, 1)), 1e-7
    change = impedance(table, violation + step)[0] - impedance(table, violation - step)[0]
    np.testing.assert_allclose(impedance(table, violation)[1], change / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("solimp", [(0.3, 0.7, 0.0, 0.5, 2.0), (0.5, 0.5, 0.1, 0.5, 2.0)])
def test_impedance_without_width_is_the_mean(solimp: tuple[float, ...]) -> None:
    value, slope = impedance(np.array([solimp]), np.array([0.05]))
    assert value[0] == 0.5
    assert slope[0] == 0.0


def test_solimp_is_held_within_its_bounds() -> None:
    safe = safe_solimp(np.array([[-1.0, 2.0, -0.1, 0.0, 0.2]]))
    np.testing.assert_array_equal(safe, [[0.0001, 0.9999, 0.0, 0.0001, 1.0]])


def test_entries_of_the_same_row_and_dof_are_added() -> None:
    rows = merged(
        np.array([2, 0, 2, 2]), np.array([1, 3, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0]), nrow=4, nv=5
    )
    assert rows.rownnz.tolist() == [1, 0, 2, 0]
    assert rows.colind.tolist() == [3, 0, 1]
    assert rows.values.tolist() == [2.0, 3.0, 5.0]


def test_supernodes_count_the_equal_rows_that_follow() -> None:
    rows = [[0, 1], [0, 1], [0, 1], [0, 2], [3], [3], [0, 2]]
    counts = supernodes(np.array([len(row) for row in rows]), np.concatenate(rows))
    assert counts.tolist() == [2, 1, 0, 0, 1, 0, 0]


BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1" margin=".004" gap=".001"/>
<body pos="0 0 {height}"><freejoint/><geom size=".05" mass="1" margin=".004" gap=".001"/></body></worldbody>
</mujoco>"""


@pytest.mark.parametrize(
    ("distance", "force"),
    [(-0.002, 21.8195), (-0.00075, 18.6945), (0.0005, 15.5695), (0.00175, 12.4445), (0.003, 0.0)],
)
def test_force_on_a_ball_within_its_margin(distance: float, force: float) -> None:
    """Acceptance test 8 of the margin item: MuJoCo's forces [N] at five distances, includemargin .003."""
    model = dovetail.loads(BALL.format(height=0.05 + distance))
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    assert data.ncon == 1
    assert data.contact.exclude[0] == (1 if force == 0.0 else 0)
    np.testing.assert_allclose(data.qfrc_constraint[2], force, atol=1e-4)

"""Tests of the drop-in that hold on the reference and on kernels."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from lane_backend import LANES, lanes_missing

from dovetail.mj.functions import stand_ins


@pytest.fixture(params=["numpy", LANES])
def each_backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The drop-in on the reference, then on kernels."""
    if request.param == LANES and lanes_missing():
        pytest.skip(lanes_missing())
    monkeypatch.setenv("DOVETAIL_BACKEND", request.param)
    monkeypatch.setattr(stand_ins, "_known", OrderedDict())  # plans of the other backend

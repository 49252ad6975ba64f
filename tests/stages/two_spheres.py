"""Parameters of one contact of two spheres, by the rules of one's choice."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail
from dovetail.registry import default_registry

RULES = {
    "combine_friction": "max",
    "combine_margin": "max",
    "contact_range": "inner_gap",
    "mix_solver": "solmix",
    "resolve_priority": "higher",
}
"""MuJoCo's, by name."""


def reference(slot: str, name: str) -> Any:
    """The function of an implementation on NumPy."""
    return default_registry().get(slot, f"{name}@numpy").load()


EXACT = 1e-15


TWO_SPHERES = """
<mujoco><option {option}><flag {flags}/></option><worldbody>
  <body><freejoint/><geom name="a" size="0.1" {a}/></body>
  <body pos="0.19 0 0"><freejoint/><geom name="b" size="0.1" {b}/></body>
</worldbody><contact>{contact}</contact></mujoco>"""


def parameters(
    a: str = "",
    b: str = "",
    *,
    contact: str = "",
    dist: float = -0.01,
    option: str = "",
    flags: str = "",
    rules: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Parameters of one contact of two spheres `dist` apart, by the explicit pair if there is one."""
    model = dovetail.loads(TWO_SPHERES.format(a=a, b=b, contact=contact, option=option, flags=flags))
    data = dovetail.make_data(model)
    data.reserve(ncon_max=1, ncandidate_max=1)
    data.ncon, data.ncandidate = 1, 1
    data.contact.geom[0], data.contact.flex[0], data.contact.vert[0] = (0, 1), -1, -1
    data.contact.dist[0] = dist
    data.contact_candidate[0] = 0
    data.candidate_pair[0] = 0 if model.npair else -1
    parts = {slot: reference(slot, name) for slot, name in {**RULES, **(rules or {})}.items()}
    reference("contact_params", "mujoco")(model, data, parts)
    names = ("dim", "friction", "solref", "solreffriction", "solimp", "includemargin", "exclude")
    return {name: np.array(getattr(data.contact, name)[0]) for name in names}


def close(value: Any, expected: Any) -> None:
    np.testing.assert_allclose(value, expected, rtol=0, atol=EXACT)

"""Tendon lengths and their Jacobians, in lanes.

A fixed tendon is a weighted sum of joint positions. A spatial one runs straight from site to site, around wrapping
geoms where it must; after a pulley, lengths are divided by its divisor. A piece pulls on the bodies at its ends:
the entry of the Jacobian for a dof is the work of these unit forces when the dof moves. Rows have the layout of
`shared.tendons.layout`; the points of the paths (wrap_xpos and what belongs to it) are left to the reference.
Compare mj_tendon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail.backends.lanes.kernel import Kernel, Table
from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.jacobian_rows_numpy import dofs_above, is_sparse
from dovetail.plugins.shared.tendons.layout import NONE, PieceIds, coefficients, pieces, row_arms
from dovetail.plugins.shared.tendons.wrapping_lanes import direction_of, wrap
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm, vector


def tendon(k: Kernel) -> None:
    """Write ten_length and ten_J."""
    m, d = k.model, k.data
    with k.loop(0, m.ntendon) as tendon:
        d.ten_length[tendon] = 0.0
        with k.loop(0, m.nv) as dof:
            d.ten_J[tendon, dof] = 0.0
    found = pieces(k.frozen_model)
    chains = Chains(k, found)
    fixed(k)
    straight(k, chains, [piece for piece in found if piece.geom == NONE])
    for name, sided in (("shortest", False), ("sided", True)):
        some = [piece for piece in found if piece.geom != NONE and (piece.side != NONE) == sided]
        wrapped(k, chains, name, some)


def fixed(k: Kernel) -> None:
    """Weighted sums of joint positions."""
    m, d = k.model, k.data
    terms = coefficients(k.frozen_model)
    if not terms:
        return
    rows = [dict(row) for row in row_arms(k.frozen_model)]
    dofs = k.frozen_model.jnt_dofadr
    table = k.table("tendon/fixed", [(*term, rows[term.tendon][int(dofs[term.joint])]) for term in terms])
    with k.loop(0, len(terms)) as term:
        tendon, joint, place, at = table[term]
        coefficient = m.wrap_prm[place]
        d.ten_length[tendon] += coefficient * d.qpos[m.jnt_qposadr[joint]]
        # a joint named twice counts twice in a sparse Jacobian, but once, its last coefficient, in a dense one
        d.ten_J[0, at] = d.ten_J[0, at] + coefficient if is_sparse(k.frozen_model) else coefficient


class Chains:
    """For a tendon and a body: the dofs that move the body, and where their entries are in ten_J."""

    def __init__(self, k: Kernel, found: Sequence[PieceIds]) -> None:
        self._ranges: dict[tuple[int, int], tuple[int, int]] = {}
        self._dofs: list[int] = []
        self._places: list[int] = []
        self._model = k.frozen_model
        self._rows = [dict(row) for row in row_arms(k.frozen_model)]
        for piece in found:
            for body in self.bodies(piece):
                self.range(piece.tendon, body)
        self.dof = k.table("tendon/chain", self._dofs)
        self.place = k.table("tendon/chain_place", self._places)

    def bodies(self, piece: PieceIds) -> list[int]:
        """The bodies of a piece's ends, and of its geom if it has one."""
        sites, geoms = self._model.site_bodyid, self._model.geom_bodyid
        ends = [int(sites[piece.first]), int(sites[piece.last])]
        return ends if piece.geom == NONE else [*ends, int(geoms[piece.geom])]

    def range(self, tendon: int, body: int) -> tuple[int, int]:
        """Where the dofs begin and end in the tables; none for a body whose motion does not matter to the row."""
        if (tendon, body) not in self._ranges:
            row = self._rows[tendon]
            dofs = [dof for dof in dofs_above(self._model, body).tolist() if dof in row]
            start = len(self._dofs)
            self._dofs += dofs
            self._places += [row[dof] for dof in dofs]
            self._ranges[tendon, body] = start, len(self._dofs)
        return self._ranges[tendon, body]

    def add(self, k: Kernel, span: Sequence[Any], wrench: Vector) -> None:
        """Add to the entries of a range what a force on its body does along each dof."""
        first, last = span
        with k.loop(first, last) as at:
            k.data.ten_J[0, self.place[at]] += dot(k.data.cdof[self.dof[at]], wrench)


def push(k: Kernel, body: Any, point: Vector, force: Vector) -> Vector:
    """A force at a point of a body, about the centre of mass of the body's tree."""
    lever = point - k.data.subtree_com[k.model.body_rootid[body]]
    return vector(cross(lever, force), force)


def on_pieces(
    k: Kernel, chains: Chains, name: str, some: Sequence[PieceIds], use: Callable[[Any, Table, Any], None]
) -> None:
    """Call `use(piece, ranges, divisor)` in a loop: a piece's ids, the ranges of its bodies, its pulley's divisor."""
    m = k.model
    if not some:
        return
    ids = k.table(f"tendon/{name}", some)
    ranges = k.table(
        f"tendon/{name}_chains", [[chains.range(p.tendon, body) for body in chains.bodies(p)] for p in some]
    )
    with k.loop(0, len(some)) as i:
        piece = PieceIds(*ids[i])
        divisor = k.select(piece.pulley >= 0, m.wrap_prm[k.max(piece.pulley, 0)], 1.0)
        use(piece, ranges[i], divisor)


def straight(k: Kernel, chains: Chains, some: Sequence[PieceIds]) -> None:
    """Pieces from site to site with nothing between them."""
    m, d = k.model, k.data

    def add(piece: PieceIds, ranges: Any, divisor: Any) -> None:
        start, end = d.site_xpos[piece.first], d.site_xpos[piece.last]
        bodies = m.site_bodyid[piece.first], m.site_bodyid[piece.last]
        d.ten_length[piece.tendon] += norm(k, end - start) / divisor
        with k.when(bodies[0] != bodies[1]):
            pull = direction_of(k, end - start) * (1.0 / divisor)
            chains.add(k, ranges[0], push(k, bodies[0], start, -pull))
            chains.add(k, ranges[1], push(k, bodies[1], end, pull))

    on_pieces(k, chains, "straight", some, add)


def wrapped(k: Kernel, chains: Chains, name: str, some: Sequence[PieceIds]) -> None:
    """Pieces that may go around a geom; those of one call all have a side site, or none has."""
    m, d = k.model, k.data

    def add(piece: PieceIds, ranges: Any, divisor: Any) -> None:
        start, end = d.site_xpos[piece.first], d.site_xpos[piece.last]
        bodies = m.site_bodyid[piece.first], m.site_bodyid[piece.last], m.geom_bodyid[piece.geom]
        detour = wrap(
            k,
            start,
            end,
            d.geom_xpos[piece.geom],
            d.geom_xmat[piece.geom].reshape(3, 3),
            m.geom_size[piece.geom, 0],
            m.geom_type[piece.geom] == GeomType.CYLINDER,
            d.site_xpos[piece.side] if some[0].side != NONE else None,
        )
        before, after = detour.reach - start, end - detour.leave
        around = norm(k, before) + detour.length + norm(k, after)
        d.ten_length[piece.tendon] += k.select(detour.exists, around, norm(k, end - start)) / divisor

        def pull(vector: Vector, ends: tuple[Any, Any]) -> Vector:
            """The force of a straight part, none if both its ends are on one body."""
            return direction_of(k, vector) * (k.select(ends[0] != ends[1], 1.0, 0.0) / divisor)

        direct = pull(end - start, bodies[:2])
        first = k.select(detour.exists, pull(before, (bodies[0], bodies[2])), direct)
        last = k.select(detour.exists, pull(after, (bodies[1], bodies[2])), direct)
        chains.add(k, ranges[0], push(k, bodies[0], start, -first))
        chains.add(k, ranges[1], push(k, bodies[1], end, last))
        with k.when(k.any(detour.exists)):
            held = push(k, bodies[2], detour.reach, first) - push(k, bodies[2], detour.leave, last)
            chains.add(k, ranges[2], k.select(detour.exists, held, 0.0))

    on_pieces(k, chains, name, some, add)

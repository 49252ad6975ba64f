"""Lengths and moment arms of tendons, each in a copy of the model of its own.

A path is a list of pieces from site to site, some of them around a geom. The pull of a piece on its two ends is a
force; what moves with a dof gathers the forces on it, and their work under the dof's twist is the moment arm.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.enums import WrapType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.length_range.batch_tree_numpy import WORLD, BatchTree, pose
from dovetail.plugins.length_range.batch_wrapping_numpy import Circles
from dovetail.plugins.shared.constants import MINVAL

PULLEY, SITE, CYLINDER = map(int, (WrapType.PULLEY, WrapType.SITE, WrapType.CYLINDER))


@attrs.frozen
class BatchPiece:
    """From a site to the next one, perhaps around a geom past a side site."""

    first: int
    last: int
    divisor: float
    geom: int = -1
    cylinder: bool = False
    side: int = -1


def pieces_of(model: ModelLike, tendon: int) -> list[BatchPiece]:
    """The pieces of a spatial tendon."""
    place, pieces, divisor = int(model.tendon_adr[tendon]), [], 1.0
    end = place + int(model.tendon_num[tendon]) - 1
    while place < end:
        kind, following = int(model.wrap_type[place]), int(model.wrap_type[place + 1])
        if kind == PULLEY:
            divisor = float(model.wrap_prm[place])
        if PULLEY in (kind, following):
            place += 1
            continue
        straight = following == SITE
        goal = place + (1 if straight else 2)
        piece = BatchPiece(int(model.wrap_objid[place]), int(model.wrap_objid[goal]), divisor)
        if not straight:
            side = round(float(model.wrap_prm[place + 1]))
            geom = int(model.wrap_objid[place + 1])
            piece = attrs.evolve(piece, geom=geom, cylinder=following == CYLINDER, side=side)
        pieces.append(piece)
        place = goal
    return pieces


class Points:
    """Points or frames fixed in links of copies of the model, found together."""

    def __init__(self, tree: BatchTree, copies: list[int], bodies: list[int], local: Array) -> None:
        links = [tree.bodies[body][0] for body in bodies]
        inner = np.array([tree.bodies[body][1] for body in bodies]).reshape(-1, 4, 4)
        self.links = np.array(links, int)
        self.index = np.array(copies, int) * (tree.nl + 1) + np.where(
            self.links == WORLD, tree.nl, self.links
        )
        self.local = inner @ local

    def of(self, frames: Array) -> Array:
        """In the world: (n, 4, …)."""
        return frames[self.index] @ self.local


def _sites(tree: BatchTree, model: ModelLike, copies: list[int], sites: list[int]) -> Points:
    places = np.ones((len(sites), 4, 1))
    places[:, :3, 0] = model.site_pos[sites]
    return Points(tree, copies, [int(model.site_bodyid[site]) for site in sites], places)


class BatchPaths:
    """Spatial tendons in copies of a model: tendon k is in copy `copies[k]`."""

    def __init__(self, tree: BatchTree, model: ModelLike, tendons: list[int], copies: list[int]) -> None:
        self.tree, self.count = tree, len(tendons)
        pieces = [(k, piece) for k, tendon in enumerate(tendons) for piece in pieces_of(model, tendon)]
        wrapped = [(k, n, piece) for n, (k, piece) in enumerate(pieces) if piece.geom >= 0]
        at = [copies[k] for k, _ in pieces]
        self.copies = np.array(copies, int)
        self.owner = np.array([k for k, _ in pieces], int)
        self.share = 1.0 / np.array([piece.divisor for _, piece in pieces])
        ends = [piece.first for _, piece in pieces] + [piece.last for _, piece in pieces]
        self.ends = _sites(tree, model, at + at, ends)
        self.geoms = Geoms(tree, model, [copies[k] for k, _, _ in wrapped], [piece for *_, piece in wrapped])
        self.around = np.array([n for _, n, _ in wrapped], int)
        self._set_gathering()
        self._set_acting()

    def _set_gathering(self) -> None:
        """Where among the padded forces of each tendon its points' are, and which of them move with which dof."""
        n, links = len(self.owner), [self.ends.links, self.geoms.frames.links, self.geoms.frames.links]
        owners = [self.owner, self.owner, self.owner[self.around], self.owner[self.around]]
        owner, link = np.concatenate(owners), np.concatenate(links)
        order = np.argsort(owner, kind="stable")
        rank = np.empty(len(owner), int)
        starts = np.searchsorted(owner[order], owner[order])
        rank[order] = np.arange(len(owner)) - starts
        self.width = int(rank.max()) + 1 if n else 0
        self.place = owner * self.width + rank
        moves = np.zeros((self.count * self.width, self.tree.nv))
        moving = link != WORLD
        moves[self.place[moving]] = self.tree.dof_moves_link[:, link[moving]].T
        self.moves = moves.reshape(self.count, self.width, self.tree.nv).swapaxes(1, 2).copy()

    def _set_acting(self) -> None:
        """Only straight parts between different links have moment arms: of the others rounding would be left."""
        first, last = self.ends.links[: len(self.owner)], self.ends.links[len(self.owner) :]
        on = self.geoms.frames.links
        self.acting = (first != last).astype(float)[:, None]
        self.acting_on_geoms = np.array([first[self.around] != on, last[self.around] != on], float)[..., None]
        self.shares = np.concatenate(
            [self.share, self.share, self.share[self.around], self.share[self.around]]
        )[:, None]

    def evaluate(self, frames: Array, twists: Array) -> tuple[Array, Array]:
        """Lengths (n) and moment arms (n, dof) of all tendons, given frames and twists of all copies."""
        n = len(self.owner)
        flat = frames.reshape(-1, 4, 4)
        ends = self.ends.of(flat)[:, :, 0]
        a, b = ends[:n], ends[n:]
        along = b[:, :3] - a[:, :3]
        length = np.sqrt(np.einsum("nk,nk->n", along, along))
        pull = directions(along, length) * self.acting
        forces = [-pull, pull]
        points = ends
        if len(self.around):
            wraps = self.geoms.wrap(flat, a[self.around, :3], b[self.around, :3])
            forces, points = self._detour(wraps, length, pull, a, b)
        length *= self.share
        force = np.concatenate(forces) * self.shares
        outer = np.zeros((self.count * self.width, 4, 4))
        outer[self.place, :3] = force[:, :, None] * points[:, None, :]
        gathered = self.moves @ outer.reshape(self.count, self.width, 16)
        arms = np.einsum("ndk,ndk->nd", gathered, twists[self.copies])
        return np.bincount(self.owner, length, minlength=self.count), arms

    def _detour(
        self, wraps: tuple[Array, Array, Array, Array], length: Array, pull: Array, a: Array, b: Array
    ) -> tuple[list[Array], Array]:
        """The forces on all points, those on geoms too, and the points; lengths are changed in place."""
        found, curve, reach, leave = wraps
        straight = np.concatenate([reach - a[self.around, :3], b[self.around, :3] - leave])
        sizes = np.sqrt(np.einsum("nk,nk->n", straight, straight))
        before, after = sizes.reshape(2, -1)
        both = directions(straight, sizes).reshape(2, -1, 3) * (found[:, None] * self.acting_on_geoms)
        first, last = both
        length[self.around] = np.where(found, curve + before + after, length[self.around])
        start, end = -pull, pull.copy()
        bent = self.around[found]
        start[bent], end[bent] = -first[found], last[found]
        one = np.ones((len(found), 1))
        return [start, end, first, -last], np.concatenate(
            [a, b, np.concatenate([reach, one], axis=1), np.concatenate([leave, one], axis=1)]
        )


def directions(vectors: Array, length: Array) -> Array:
    """Unit vectors (n, 3); along x where there is no length."""
    none = length < MINVAL
    unit = vectors / np.where(none, 1.0, length)[:, None]
    if none.any():
        unit[none] = (1.0, 0.0, 0.0)
    return unit


class Geoms:
    """Spheres and cylinders that pieces go around."""

    def __init__(
        self, tree: BatchTree, model: ModelLike, copies: list[int], pieces: list[BatchPiece]
    ) -> None:
        geoms = [piece.geom for piece in pieces]
        local = np.array([pose(model.geom_pos[g], model.geom_quat[g]) for g in geoms]).reshape(-1, 4, 4)
        self.frames = Points(tree, copies, [int(model.geom_bodyid[geom]) for geom in geoms], local)
        sided = np.array([piece.side >= 0 for piece in pieces], bool)
        self.sides = (
            _sites(tree, model, copies, [max(piece.side, 0) for piece in pieces]) if sided.any() else None
        )
        self.circles = Circles(
            np.array([model.geom_size[geom, 0] for geom in geoms], float),
            np.array([piece.cylinder for piece in pieces], bool),
            sided,
        )

    def wrap(self, flat: Array, start: Array, end: Array) -> tuple[Array, Array, Array, Array]:
        """Which pieces are detours, their lengths on the surface, and where they reach and leave it (n, 3)."""
        frames = self.frames.of(flat)
        turn, centre = frames[:, :3, :3], frames[:, :3, 3]
        given = [start, end] if self.sides is None else [start, end, self.sides.of(flat)[:, :3, 0]]
        local = np.einsum("pnk,nkl->pln", np.array(given) - centre, turn)
        found, length, surface = self.circles.detours(local)
        reach, leave = np.einsum("pln,nkl->pnk", surface, turn) + centre
        return found, length, reach, leave

"""Kinematics and dynamics of many copies of a model at once, in few operations on large arrays.

The model is a tree of links, each moved by one joint: frames are 4×4 matrices T, motions of dofs 4×4 twists X in
the world (velocity of a point x is X·x), masses 4×4 second moments J. Then the mass matrix is ⟨Xᵢ, Xⱼ·Jⱼ⟩ with the
moments of all that moves with j, and forces of inertia are sums of (dV/dt + V²)·J. Sums over ancestors are products
with matrices of zeros and ones, and frames are multiplied along the tree in a logarithmic number of rounds.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.enums import JointType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.quaternions_numpy import quat_integrate, quat_matrix_rows

FREE, BALL, SLIDE, HINGE = map(int, (JointType.FREE, JointType.BALL, JointType.SLIDE, JointType.HINGE))
WORLD = -1
"""The link that does not move; in tables its frame comes last."""


@attrs.define(eq=False)
class Link:
    """One joint and what it moves."""

    parent: int
    before: Array
    """From the parent's frame to where the joint acts, (4, 4)."""
    kind: int
    """FREE stands for the three translations of a free joint, whose rotations are a ball."""
    anchor: Array
    axis: Array
    qpos: int
    dof: int
    moments: Array = attrs.field(factory=lambda: np.zeros((4, 4)))

    @property
    def dofs(self) -> int:
        return 3 if self.kind in (FREE, BALL) else 1


def pose(pos: Array, quat: Array) -> Array:
    """A frame as a matrix."""
    frame = np.eye(4)
    frame[:3, :3] = quat_matrix_rows(np.asarray(quat)[None])[0]
    frame[:3, 3] = pos
    return frame


def skew(v: Array) -> Array:
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def linked(model: ModelLike) -> tuple[list[Link], list[tuple[int, Array]]]:
    """The links of a model, and for each body its link and its frame in that."""
    links: list[Link] = []
    bodies: list[tuple[int, Array]] = [(WORLD, np.eye(4))]
    for body in range(1, model.nbody):
        link, frame = bodies[model.body_parentid[body]]
        frame = frame @ pose(model.body_pos[body], model.body_quat[body])
        first = int(model.body_jntadr[body])
        for joint in range(first, first + int(model.body_jntnum[body])):
            if model.jnt_type[joint] == FREE:  # whose frame is the world's, wherever its body is drawn
                link, frame = WORLD, np.eye(4)
            for kind, anchor, qpos, dof in joint_parts(model, joint):
                links.append(Link(link, frame, kind, anchor, np.array(model.jnt_axis[joint]), qpos, dof))
                link, frame = len(links) - 1, np.eye(4)
        bodies.append((link, frame))
        if link != WORLD:
            links[link].moments += frame @ body_moments(model, body) @ frame.T
    return links, bodies


def joint_parts(model: ModelLike, joint: int) -> list[tuple[int, Array, int, int]]:
    """Kind, anchor, and places in qpos and qvel: of one joint, or of the translations and rotations of a free one."""
    kind, qpos, dof = int(model.jnt_type[joint]), int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    if kind == FREE:
        return [(FREE, np.zeros(3), qpos, dof), (BALL, np.zeros(3), qpos + 3, dof + 3)]
    return [(kind, np.array(model.jnt_pos[joint]), qpos, dof)]


def body_moments(model: ModelLike, body: int) -> Array:
    """Second moments of a body's mass in its frame."""
    turn = quat_matrix_rows(model.body_iquat[body][None])[0]
    inertia = turn @ np.diag(model.body_inertia[body]) @ turn.T
    mass, centre = float(model.body_mass[body]), np.array(model.body_ipos[body])
    moments = np.empty((4, 4))
    moments[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia + mass * np.outer(centre, centre)
    moments[:3, 3] = moments[3, :3] = mass * centre
    moments[3, 3] = mass
    return moments


def shifted(v: Array) -> Array:
    """A translation."""
    frame = np.eye(4)
    frame[:3, 3] = v
    return frame


def block(matrix: Array, corner: float) -> Array:
    """A 3×3 matrix and a number on the diagonal of a 4×4 one."""
    whole = np.zeros((4, 4))
    whole[:3, :3] = matrix
    whole[3, 3] = corner
    return whole


def single_parts(link: Link) -> Array:
    """What a link's frame, and the transpose of its inverse, are sums of, (3, 2, 4, 4): of a hinge times 1, sine and
    cosine, of a slide times 1, its position and 0."""
    forward = slide_parts(link) if link.kind == SLIDE else hinge_parts(link)
    back = forward * np.array([1.0, -1.0, 1.0])[:, None, None]
    return np.stack([link.before @ forward, (back @ np.linalg.inv(link.before)).swapaxes(1, 2)], axis=1)


def slide_parts(link: Link) -> Array:
    parts = np.array([np.eye(4), np.zeros((4, 4)), np.zeros((4, 4))])
    parts[1, :3, 3] = link.axis
    return parts


def hinge_parts(link: Link) -> Array:
    along = np.outer(link.axis, link.axis)
    turns = [block(along, 1.0), block(skew(link.axis), 0.0), block(np.eye(3) - along, 0.0)]
    return shifted(link.anchor) @ np.array(turns) @ shifted(-link.anchor)


def link_twists(link: Link) -> Array:
    """The motions of a link's dofs, in its frame, (dofs, 4, 4)."""
    twists = np.zeros((link.dofs, 4, 4))
    if link.kind in (SLIDE, FREE):
        twists[:, :3, 3] = np.eye(3) if link.kind == FREE else link.axis
        return twists
    for twist, axis in zip(twists, np.eye(3) if link.kind == BALL else [link.axis], strict=True):
        twist[:3, :3] = skew(axis)
        twist[:3, 3] = -skew(axis) @ link.anchor
    return twists


@attrs.frozen(eq=False)
class Motion:
    """Frames, twists, mass matrices and forces of inertia of all copies."""

    frames: Array
    """(copy, link, 4, 4), the world's last."""
    twists: Array
    """(copy, dof, 16)"""
    M: Array
    bias: Array


class BatchTree:
    """A model's tree, ready to be evaluated for many states."""

    def __init__(self, model: ModelLike) -> None:
        self.links, self.bodies = linked(model)
        links = self.links
        self.nl, self.nv = len(links), int(model.nv)
        self.qpos0, self.armature = np.array(model.qpos0), np.diag(model.dof_armature)
        self._set_joints()
        self.owner = np.repeat(np.arange(self.nl), [link.dofs for link in links])
        self.local_twists = np.concatenate([np.zeros((0, 4, 4)), *map(link_twists, links)])
        self.moments = np.array([link.moments for link in links]).reshape(-1, 4, 4)
        self._set_sums()

    def _set_joints(self) -> None:
        kinds = np.array([link.kind for link in self.links], int)
        self.single = np.flatnonzero((kinds == HINGE) | (kinds == SLIDE))
        self.balls, self.places = np.flatnonzero(kinds == BALL), np.flatnonzero(kinds == FREE)
        chosen = [self.links[k] for k in self.single]
        self.single_qpos, self.single_dof = (
            np.array([getattr(x, n) for x in chosen], int) for n in ("qpos", "dof")
        )
        self.is_slide = kinds[self.single] == SLIDE
        parts = np.array([single_parts(link) for link in chosen]).reshape(-1, 3, 32)
        self.fixed, self.first, self.second = (parts[:, k] for k in range(3))

    def _set_sums(self) -> None:
        """Which links and dofs are above which, as matrices of zeros and ones."""
        inside = np.zeros((self.nl, self.nl))
        """Whether the second is moved by the first."""
        for k, link in enumerate(self.links):
            inside[k, k] = 1.0
            if link.parent != WORLD:
                inside[:, k] += inside[:, link.parent]
        self.inside = inside
        self.dof_moves_link = inside[self.owner]
        """(dof, link)"""
        self.link_sums = np.ascontiguousarray(self.dof_moves_link.T)
        strictly = inside - np.eye(self.nl)
        self.sums_above = np.ascontiguousarray(strictly[self.owner][:, self.owner].T)
        self.sums_below = inside[self.owner]
        self._set_pairs()
        parents = np.array([link.parent for link in self.links] + [WORLD], int)
        self.jumps = []
        jump = np.where(parents == WORLD, self.nl, parents)
        while (jump[: self.nl] != self.nl).any():
            self.jumps.append(jump[: self.nl])
            jump = jump[jump]

    def _set_pairs(self) -> None:
        """Where among the products ⟨Xᵢ, Xⱼ·Jⱼ⟩ each entry of M is: those with i above j."""
        related = self.inside[self.owner][:, self.owner] > 0
        dof = np.arange(self.nv)
        above = related & ((dof[:, None] <= dof) | ~related.T)
        i, j = np.nonzero(above)
        pairs = np.zeros((self.nv, self.nv), int)
        pairs[i, j] = pairs[j, i] = i * self.nv + j
        self.pairs = pairs.reshape(-1)
        self.related = (related | related.T).astype(float)

    # states

    def frames(self, qpos: Array) -> Array:
        """Frames of links, and the transposes of their inverses, (copy, link, 2, 4, 4), the world's last."""
        local = np.empty((len(qpos), self.nl + 1, 2, 4, 4))
        local[:, self.nl] = np.eye(4)
        if len(self.single):
            value = qpos[:, self.single_qpos] - self.qpos0[self.single_qpos]
            sine = np.where(self.is_slide, value, np.sin(value))[..., None]
            parts = self.fixed + sine * self.first + np.cos(value)[..., None] * self.second
            local[:, self.single] = parts.reshape(*value.shape, 2, 4, 4)
        for k in self.places.tolist():
            at = self.links[k].qpos
            local[:, k] = np.eye(4)
            local[:, k, 0, :3, 3], local[:, k, 1, 3, :3] = qpos[:, at : at + 3], -qpos[:, at : at + 3]
        for k in self.balls.tolist():
            local[:, k] = self._ball_frames(self.links[k], qpos)
        for jump in self.jumps:
            local[:, : self.nl] = local[:, jump] @ local[:, : self.nl]
        return local

    @staticmethod
    def _ball_frames(link: Link, qpos: Array) -> Array:
        quat = qpos[:, link.qpos : link.qpos + 4]
        turn = np.zeros((len(qpos), 4, 4))
        turn[:, :3, :3] = quat_matrix_rows(quat / np.linalg.norm(quat, axis=1, keepdims=True))
        turn[:, 3, 3] = 1.0
        there, here = shifted(link.anchor), shifted(-link.anchor)
        undo = np.linalg.inv(link.before)
        return np.stack([link.before @ there @ turn @ here, undo.T @ here.T @ turn @ there.T], axis=1)

    def motion(self, qpos: Array, qvel: Array) -> Motion:
        """Everything that the equations of motion need."""
        many, nl, nv = len(qpos), self.nl, self.nv
        both = self.frames(qpos)
        frames = both[:, :nl, 0]
        own = both if nv == nl else both[:, self.owner]
        X = own[:, :nv, 0] @ self.local_twists @ own[:, :nv, 1].swapaxes(2, 3)
        J = frames @ self.moments @ frames.swapaxes(2, 3)
        composite = (self.sums_below @ J.reshape(many, nl, 16)).reshape(many, nv, 4, 4)
        flat = X.reshape(many, nv, 16)
        products = flat @ (X @ composite).reshape(many, nv, 16).swapaxes(1, 2)
        M = (
            products.reshape(many, nv * nv)[:, self.pairs].reshape(many, nv, nv) * self.related
            + self.armature
        )
        return Motion(both[:, :, 0], flat, M, self._bias(flat, qvel, J))

    def _bias(self, X: Array, qvel: Array, J: Array) -> Array:
        """Forces that motion itself takes: of Coriolis and the centrifugal ones."""
        many, nl, nv = len(X), self.nl, self.nv
        part = X * qvel[..., None]
        velocity = (self.link_sums @ part).reshape(many, nl, 4, 4)
        above = (self.sums_above @ part).reshape(many, nv, 4, 4)
        part = part.reshape(many, nv, 4, 4)
        change = (above @ part - part @ above).reshape(many, nv, 16)
        acceleration = (self.link_sums @ change).reshape(many, nl, 4, 4) + velocity @ velocity
        force = self.sums_below @ (acceleration @ J).reshape(many, nl, 16)
        return np.einsum("cdk,cdk->cd", X, force)

    def move(self, qpos: Array, qvel: Array, duration: float) -> None:
        """Let qpos, in place, move at constant qvel for a while."""
        qpos[:, self.single_qpos] += duration * qvel[:, self.single_dof]
        for k in self.places.tolist():
            at, dof = self.links[k].qpos, self.links[k].dof
            qpos[:, at : at + 3] += duration * qvel[:, dof : dof + 3]
        for k in self.balls.tolist():
            at, dof = self.links[k].qpos, self.links[k].dof
            for row, speed in zip(qpos[:, at : at + 4], qvel[:, dof : dof + 3].tolist(), strict=True):
                row[:] = quat_integrate(row.tolist(), speed, duration)

"""viser's nodes for what is drawn: batches of geoms, marks that come and go, surfaces that bend."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.viewer.geoms import Batch
from dovetail.viewer.glb import linear
from dovetail.viewer.pieces import Triangles, pieces, unit_shape
from dovetail.viewer.poses import drawable, placed, quaternions
from dovetail.visual.elements import Elements

HIDDEN = 0.0
"""Scale of an instance that is not to be seen."""


class BatchNode:
    """A batch of geoms in the page."""

    def __init__(self, scene: Any, path: str, batch: Batch) -> None:
        self.batch = batch
        count = len(batch.made.element)
        placing = {
            "batched_wxyzs": np.tile(np.array([1.0, 0, 0, 0], np.float32), (count, 1)),
            "batched_positions": np.zeros((count, 3), np.float32),
            "batched_scales": batch.made.scale.astype(np.float32),
            "lod": "off",
            "cast_shadow": batch.shadow and not batch.transparent,
        }
        name = f"{path}/{batch.name}"
        if batch.triangles is None:
            self.handle = scene.add_batched_glb(name, batch.file, **placing)
            return
        rgb, opacity = split(batch.rgba)
        self.handle = scene.add_batched_meshes_simple(
            name,
            batch.triangles.vertices,
            batch.triangles.faces,
            batched_colors=rgb,
            batched_opacities=opacity if batch.transparent else None,
            side="double" if batch.transparent or batch.made.shape == "sheet" else "front",
            **placing,
        )

    def move(self, pos: Array, mats: Array, quats: Array) -> None:
        """Elements are at `pos` (n, 3) with rotations `mats` (n, 9), also given as quaternions."""
        where, turned = placed(self.batch.made, pos, mats, quats)
        self.handle.batched_positions = where
        self.handle.batched_wxyzs = turned

    def paint(self, rgba: Array) -> None:
        """Colours of the elements (n, 4); what has a material keeps it."""
        if self.batch.triangles is not None:
            rgb, opacity = split(rgba[self.batch.made.element])
            self.handle.batched_colors = rgb
            if self.batch.transparent:
                self.handle.batched_opacities = opacity

    def remove(self) -> None:
        self.handle.remove()


class Marks:
    """Elements whose number changes from frame to frame: one node for each unit shape, clear ones apart."""

    def __init__(self, scene: Any, path: str) -> None:
        self._scene, self._path = scene, path
        self._nodes: dict[str, Any] = {}

    def show(self, elements: Elements, chosen: Array) -> None:
        """Draw some of the elements of a scene, and nothing that was drawn before."""
        rows = elements.rows[chosen]
        clear = rows["rgba"][:, 3] < 1
        used = set()
        for word, some in (("", ~clear), ("_clear", clear)):
            part = rows[some]
            if len(part) == 0:
                continue
            quats = quaternions(part["mat"])
            for made in pieces(part["type"], part["size"]):
                where, turned = placed(made, part["pos"].astype(float), part["mat"], quats)
                name = made.shape + word
                used.add(name)
                self._put(name, unit_shape(made.shape), where, turned, made.scale, part["rgba"][made.element])
        for name, node in self._nodes.items():
            if name not in used and node.visible:
                node.visible = False

    def _put(
        self, name: str, shape: Triangles, where: Array, turned: Array, scale: Array, rgba: Array
    ) -> None:
        rgb, opacity = split(rgba)
        scale = np.asarray(scale, np.float32)
        node = self._nodes.get(name)
        if node is None:
            self._nodes[name] = self._scene.add_batched_meshes_simple(
                f"{self._path}/{name}",
                shape.vertices,
                shape.faces,
                batched_wxyzs=turned,
                batched_positions=where,
                batched_scales=scale,
                batched_colors=rgb,
                batched_opacities=opacity,
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
            return
        node.batched_positions, node.batched_wxyzs, node.batched_scales = where, turned, scale
        node.batched_colors, node.batched_opacities = rgb, opacity
        if not node.visible:
            node.visible = True

    def clear(self) -> None:
        """Take everything away."""
        for node in self._nodes.values():
            node.remove()
        self._nodes.clear()


class Bending:
    """Surfaces whose vertices move: skins and flexes, by name."""

    def __init__(self, scene: Any, path: str) -> None:
        self._scene, self._path = scene, path
        self._nodes: dict[str, tuple[Any, tuple[int, ...]]] = {}

    def show(self, surfaces: dict[str, tuple[Array, Array, Array]]) -> None:
        """Vertices, faces and colour by name; what is not named any more is hidden."""
        for name, (vertices, faces, rgba) in surfaces.items():
            self._put(name, drawable(vertices), np.asarray(faces, np.uint32), rgba)
        for name, (node, _) in self._nodes.items():
            if name not in surfaces and node.visible:
                node.visible = False

    def _put(self, name: str, vertices: Array, faces: Array, rgba: Array) -> None:
        shape = (len(vertices), len(faces))
        node, before = self._nodes.get(name, (None, ()))
        if node is not None and before == shape:
            node.vertices = vertices
            if not node.visible:
                node.visible = True
            return
        if node is not None:
            node.remove()
        rgb = tuple(int(255 * x) for x in np.clip(rgba[:3], 0, 1))
        made = self._scene.add_mesh_simple(
            f"{self._path}/{name}",
            vertices,
            faces,
            color=rgb,
            opacity=float(rgba[3]) if rgba[3] < 1 else None,
            side="double",
        )
        self._nodes[name] = (made, shape)

    def clear(self) -> None:
        for node, _ in self._nodes.values():
            node.remove()
        self._nodes.clear()


def split(rgba: Array | None) -> tuple[Array, Array]:
    """Colours as a page takes them for batches: linear, as bytes, and opacities apart."""
    value = np.clip(np.asarray(rgba, np.float32), 0, 1)
    return (linear(value[:, :3]) * 255 + 0.5).astype(np.uint8), value[:, 3].copy()

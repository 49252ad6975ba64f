"""The picture: all that is drawn of a `Watched`, kept up to date in the page.

Geoms of all worlds come from their poses alone, which is cheap. Everything else (sites, tendons, contacts, frames, …)
is what `dovetail.visual` sees of the world that is picked, and skins and flexes are its surfaces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.viewer.geoms import batches, drawn_geoms, geom_colours, ghosts, moving_geoms
from dovetail.viewer.grid import grid_offsets, spacing_of
from dovetail.viewer.nodes import BatchNode, Bending, Marks
from dovetail.viewer.poses import quaternions
from dovetail.viewer.watched import Watched
from dovetail.visual import Category, Perturb, Scene, VisFlag, VisualOptions
from dovetail.visual.materials import appearance

ROOT = "/world"
"""The node that everything hangs on; it is moved when a body is tracked."""
PICKED = np.array([1.0, 0.85, 0.3])
"""Colour that a picked body takes on, by half."""


class Stage:
    """What is seen of something watched. `options` says what is drawn; after changing it, call `rebuild`."""

    def __init__(
        self,
        server: Any,
        watched: Watched,
        options: VisualOptions | None = None,
        *,
        colours: Callable[[], Array | None] | None = None,
        ghost: bool = False,
    ) -> None:
        self.server, self.watched, self.model = server, watched, watched.model
        self.options = options or VisualOptions()
        self.world = 0
        """The world that is picked."""
        self.offset = np.zeros(3)
        """What is drawn at the origin: the place of the tracked body, or zero."""
        self.perturb: Perturb | None = None
        self.colours = colours
        """Colours of all elements, asked every frame; None: their own."""
        self.ghost = ghost
        """Whether all worlds stand in one place, those after the first see-through."""
        self.offsets = self._grid()
        self.root = server.scene.add_frame(ROOT, show_axes=False)
        self._scene = Scene(self.model)
        self._nodes: list[BatchNode] = []
        self._marks = Marks(server.scene, f"{ROOT}/marks")
        self._bending = Bending(server.scene, f"{ROOT}/bending")
        self._labels: list[Any] = []
        self._own = np.tile(geom_colours(self.model), (self.worlds, 1))
        self._repaint = False
        self.rebuild()

    @property
    def worlds(self) -> int:
        return self.watched.nworld or 1

    def _grid(self) -> Array:
        if self.worlds == 1 or self.ghost:
            return np.zeros((self.worlds, 3))
        pos, _ = self.watched.poses()
        moving = moving_geoms(self.model)
        radius = np.asarray(self.model.geom_rbound)
        return grid_offsets(self.worlds, spacing_of(pos[0][moving], radius[moving]))

    def rebuild(self) -> None:
        """Make the geoms' nodes again, for other options."""
        for node in self._nodes:
            node.remove()
        shows = self.options.shows
        geoms = drawn_geoms(self.model, self.options.geomgroup)
        if not shows(VisFlag.STATIC):
            geoms = geoms[moving_geoms(self.model)[geoms]]
        drawn = 1 if self.ghost else self.worlds
        made = batches(
            self.model,
            geoms,
            drawn,
            textures=shows(VisFlag.TEXTURE) and self.colours is None,
            hull=shows(VisFlag.CONVEXHULL),
            clear=shows(VisFlag.TRANSPARENT),
        )
        if self.ghost:
            made += ghosts(self.model, geoms, range(1, self.worlds))
        self._nodes = [BatchNode(self.server.scene, f"{ROOT}/geoms", batch) for batch in made]
        self._repaint = False

    def stand(self, *, ghost: bool) -> None:
        """All worlds in one place, or side by side."""
        self.ghost = ghost
        self.offsets = self._grid()
        self.rebuild()

    @property
    def nodes(self) -> list[BatchNode]:
        """The nodes of geoms, which can be clicked and dragged."""
        return self._nodes

    def draw(self) -> None:
        """Bring the page up to date with what is watched."""
        pos, mats = self.watched.poses()
        where = (pos + self.offsets[:, None, :]).reshape(-1, 3)
        turns = np.asarray(mats, float).reshape(-1, 9)
        quats = quaternions(turns)
        with self.server.atomic():
            self.root.position = tuple(-self.offset)
            for node in self._nodes:
                node.move(where, turns, quats)
            self._paint()
            self._draw_rest()

    # ---- colours

    def _paint(self) -> None:
        colours = self._wanted_colours()
        if colours is None:
            if self._repaint:
                self._repaint = False
                self._set_colours(self._own)
            return
        self._repaint = True
        self._set_colours(colours)

    def _set_colours(self, rgba: Array) -> None:
        for node in self._nodes:
            node.paint(rgba)

    def _wanted_colours(self) -> Array | None:
        """Colours of all elements, if they are not their own."""
        if self.colours is not None:
            return self.colours()
        if self.options.shows(VisFlag.ISLAND):
            return self._seen_colours()
        if self.perturb is not None and self.perturb.select > 0:
            return picked_colours(self.model, self._own, self.perturb.select, self.world)
        return None

    def _seen_colours(self) -> Array:
        """Colours of the picked world as the scene has them."""
        colours = self._own.copy()
        rows = self._scene.update(self.watched.shown(self.world), options=self.options).geoms.rows
        geoms = rows[rows["category"] != Category.DECOR]
        known = geoms[(geoms["objid"] >= 0) & (geoms["objtype"] == GEOM)]
        colours[self.world * self.model.ngeom + known["objid"]] = known["rgba"]
        return colours

    # ---- everything but geoms

    def _draw_rest(self) -> None:
        if not self._has_rest():
            self._marks.show(self._scene.geoms, np.zeros(0, int))
            return
        data = self.watched.shown(self.world)
        scene = self._scene.update(
            data, options=self.options, perturb=self.perturb, categories=int(Category.DECOR)
        )
        elements = scene.geoms
        if len(elements):
            elements.rows["pos"] += self.offsets[self.world].astype(np.float32)
        decor = np.flatnonzero(elements.category == Category.DECOR) if len(elements) else np.zeros(0, int)
        self._marks.show(elements, decor)
        self._show_labels(elements)
        self._bending.show(self._surfaces(scene))

    def _has_rest(self) -> bool:
        """Whether anything but geoms can be there to draw."""
        model, options = self.model, self.options
        flags = options.flags.values & ~QUIET_FLAGS
        return bool(
            model.nsite
            or model.ntendon
            or model.nskin
            or model.nflex
            or model.nsensor
            or flags.any()
            or options.frame
            or options.label
            or (self.perturb is not None and self.perturb.select > 0)
        )

    def _surfaces(self, scene: Scene) -> dict[str, tuple[Array, Array, Array]]:
        """Skins and flexes of the picked world by name."""
        model, shift = self.model, self.offsets[self.world]
        found = {}
        for skin in scene.skins:
            look = appearance(model, int(model.skin_matid[skin.skinid]), model.skin_rgba[skin.skinid])
            surface = skin.surface
            found[f"skin_{skin.skinid}"] = (surface.vertices + shift, surface.faces, look.rgba)
        for flex in scene.flexes:
            if len(flex.surface.faces):
                look = appearance(model, int(model.flex_matid[flex.flexid]), model.flex_rgba[flex.flexid])
                found[f"flex_{flex.flexid}"] = (flex.surface.vertices + shift, flex.surface.faces, look.rgba)
        return found

    def _show_labels(self, elements: Any) -> None:
        """Texts at elements; few, so they are made again when they change in number."""
        texts = [(int(i), text) for i, text in elements.labels.items()][:MOST_LABELS]
        while len(self._labels) > len(texts):
            self._labels.pop().remove()
        for number, (index, text) in enumerate(texts):
            place = tuple(float(x) for x in elements.rows["pos"][index])
            if number == len(self._labels):
                self._labels.append(self.server.scene.add_label(f"{ROOT}/labels/{number}", text))
            label = self._labels[number]
            if label.text != text:
                label.text = text
            label.position = place


MOST_LABELS = 200
"""Texts in one picture."""
GEOM = 5
"""mjOBJ_GEOM."""
QUIET_FLAGS = np.zeros(len(VisFlag), bool)
"""Flags that are no marks of their own: they are about geoms, or about things the model may not have."""
for _flag in (
    VisFlag.CONVEXHULL,
    VisFlag.TEXTURE,
    VisFlag.STATIC,
    VisFlag.TRANSPARENT,
    VisFlag.TENDON,
    VisFlag.RANGEFINDER,
    VisFlag.SKIN,
    VisFlag.FLEXVERT,
    VisFlag.FLEXEDGE,
    VisFlag.FLEXFACE,
    VisFlag.FLEXSKIN,
    VisFlag.PERTOBJ,
    VisFlag.PERTFORCE,
    VisFlag.SELECT,
    VisFlag.ISLAND,
):
    QUIET_FLAGS[_flag] = True


def picked_colours(model: Model, own: Array, body: int, world: int) -> Array:
    """All colours, with the geoms of one body in one world standing out."""
    colours = own.copy()
    chosen = world * model.ngeom + np.flatnonzero(np.asarray(model.geom_bodyid) == body)
    colours[chosen, :3] = (colours[chosen, :3] + PICKED) / 2
    return colours

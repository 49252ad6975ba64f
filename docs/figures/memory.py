"""The arena as a drawing: the real layout of a small batch, as tiles and as memory."""

from __future__ import annotations

from drawing import Drawing

import dovetail
from dovetail.contracts.arena import Arena

WORLDS, LANES, SHOWN = 12, 4, 9
"""A small batch, and how many numbers of a tile are drawn."""
CELL, ROW = 44.0, 24.0
LEFT, TOP, BETWEEN = 130.0, 64.0, 30.0
PICKED_ROW, PICKED_WORLD = 2, 6


def rows(arena: Arena) -> list[str]:
    """What stands in the rows of the buffer of real numbers, in order."""
    names = []
    for name, place in arena.layout.places.items():
        if place.dtype == "real":
            names += [name] if not place.shape else [f"{name}[{i}]" for i in range(place.count)]
    return names


def figure() -> str:
    data = dovetail.make_data(dovetail.load("pendulum"), WORLDS, lanes=LANES, keep="state")
    shape = data.arena.buffers["real"].shape
    names = rows(data.arena)
    assert shape == (WORLDS // LANES, len(names), LANES)
    width = LEFT + shape[0] * (LANES * CELL + BETWEEN) + 4
    drawing = Drawing(width, 0, "Tiles of an arena, and how they lie in memory")
    head = f"float64 buffer of {WORLDS} worlds of the pendulum: (ntile, size, W) = {shape}"
    drawing.text(12, 24, head, "strong")
    bottom = _tiles(drawing, names, shape[0])
    bottom = _memory(drawing, names, bottom + 34)
    drawing.height = _legend(drawing, bottom + 26)
    return drawing.svg()


def _tiles(drawing: Drawing, names: list[str], ntile: int) -> float:
    for row, name in enumerate(names[:SHOWN]):
        drawing.text(LEFT - 10, TOP + row * ROW + 16, name, "code small end")
    drawing.text(LEFT - 10, TOP + SHOWN * ROW + 16, f"… {len(names) - SHOWN} more", "small soft end")
    for tile in range(ntile):
        x = LEFT + tile * (LANES * CELL + BETWEEN)
        drawing.text(x + LANES * CELL / 2, TOP - 20, f"tile {tile}", "small middle soft")
        for lane in range(LANES):
            world = tile * LANES + lane
            drawing.text(x + (lane + 0.5) * CELL, TOP - 6, f"w{world}", "small middle")
            for row in range(SHOWN):
                drawing.box(x + lane * CELL, TOP + row * ROW, CELL, ROW, _look(row, world), round=0)
            drawing.text(x + (lane + 0.5) * CELL, TOP + SHOWN * ROW + 16, "⋮", "small middle soft")
    return TOP + (SHOWN + 1) * ROW


def _look(row: int, world: int) -> str:
    if row == PICKED_ROW and world < LANES:
        return "b"
    return "a" if world == PICKED_WORLD else ""


def _memory(drawing: Drawing, names: list[str], top: float) -> float:
    """The first tile as it lies in memory: row after row."""
    drawing.text(12, top, "Tile 0 in memory, one number after the other", "strong")
    cell = 27.0
    shown = min(4, len(names))
    for row in range(shown):
        for lane in range(LANES):
            x = LEFT + (row * LANES + lane) * cell
            drawing.box(x, top + 14, cell, 24, _look(row, lane), round=0)
            drawing.text(x + cell / 2, top + 30, f"w{lane}", "small middle")
        drawing.text(LEFT + (row + 0.5) * LANES * cell, top + 54, names[row], "code small middle")
    drawing.text(LEFT + shown * LANES * cell + 10, top + 30, "…", "soft")
    drawing.text(LEFT - 10, top + 30, "64-byte aligned", "small soft end")
    return top + 60


def _legend(drawing: Drawing, top: float) -> float:
    words = (
        ("b", f"one vector instruction loads {LANES} worlds of one number (8 with AVX-512, 16 in float32)"),
        ("a", f"one world, data.world({PICKED_WORLD}): a view whose numbers are {LANES} apart"),
    )
    for look, text in words:
        drawing.box(LEFT, top, 20, 14, look, round=0)
        drawing.text(LEFT + 28, top + 11, text, "small soft")
        top += 22
    return top + 4

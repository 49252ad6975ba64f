"""The film of a run: its options, and when it looks at the simulation."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.films import Film
    from dovetail.simulation import Simulation

F = TypeVar("F", bound=Callable[..., Any])

_SIZE = re.compile(r"(\d{1,5})[x×](\d{1,5})$")
_NUMBER = re.compile(r"-?\d{1,9}$")
MOST_PICTURES = 1_000_000
"""Of one film."""


def _size(ctx: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    found = _SIZE.match(value)
    if found is None or not int(found[1]) or not int(found[2]):
        raise click.BadParameter(f"{value!r} should be WIDTHxHEIGHT in pixels, as 640x480")
    return int(found[1]), int(found[2])


OPTIONS = (
    click.option(
        "--video",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Make a film: .mp4 (needs the extra video), .gif or .webp.",
    ),
    click.option(
        "--frames",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Write its pictures as PNG files instead.",
    ),
    click.option("--camera", metavar="NAME|ID", help="Through which it is seen [default: a free one]."),
    click.option("--size", callback=_size, metavar="WxH", help="Of its pictures [default: 640x480]."),
    click.option("--fps", type=float, help="Pictures per simulated second [default: 30]."),
    click.option(
        "--world",
        type=click.IntRange(min=0),
        metavar="K",
        help="Which world of a batch is filmed [default: a grid of 16].",
    ),
)


def film_options(function: F) -> F:
    """Add the options of a film; they arrive together as `filming`."""
    import functools

    names = ("video", "frames", "camera", "size", "fps", "world")

    @functools.wraps(function)
    def gathered(**arguments: Any) -> Any:
        return function(filming={name: arguments.pop(name) for name in names}, **arguments)

    result: Any = gathered
    for option in reversed(OPTIONS):
        result = option(result)
    return result


class Filming:
    """A film of a simulation that steps on: at which steps it wants to look."""

    def __init__(self, film: Film, total: int) -> None:
        from dovetail.films.clock import steps_to_see

        self.film = film
        self._stops = steps_to_see(total, film.model.opt.timestep, film.speed / film.fps)

    def until_next(self, steps: int) -> int:
        """How many steps there are to the next one that it looks at."""
        place = bisect_right(self._stops, steps)
        return self._stops[place] - steps if place < len(self._stops) else 1

    def look(self, sim: Simulation, steps: int) -> None:
        """Look, if this is such a step."""
        place = bisect_right(self._stops, steps)
        if place and self._stops[place - 1] == steps:
            self.film.add(sim.data)

    def report(self, problem: str) -> dict[str, Any]:
        film = self.film
        note = film.note or ("it ends with the last good state" if problem else "")
        return {
            "path": str(film.path),
            "frames": film.frames,
            "width": film.width,
            "height": film.height,
            "fps": film.fps,
            "note": note,
        }


@contextmanager
def filming(model: Model, asked: dict[str, Any], nworld: int | None, total: int) -> Iterator[Filming | None]:
    """The film that was asked for, if any; it is complete when the body has ended. An error leaves none, Ctrl-C what
    there is."""
    made = _film(model, asked, nworld, total)
    if made is None:
        yield None
        return
    try:
        with made:
            yield Filming(made, total)
    except KeyboardInterrupt:
        if made.path.exists() and made.frames:
            click.echo(f"interrupted: {made.path} has {made.frames} pictures", err=True)
        raise


def _film(model: Model, asked: dict[str, Any], nworld: int | None, total: int) -> Film | None:
    from dovetail.errors import DovetailError
    from dovetail.films import Film
    from dovetail.films.film import FPS, HEIGHT, WIDTH

    place = asked["video"] or asked["frames"]
    if asked["video"] is not None and asked["frames"] is not None:
        raise click.UsageError("give --video or --frames, not both")
    if place is None:
        alone = [f"--{name}" for name, value in asked.items() if value is not None]
        if alone:
            raise click.UsageError(f"{alone[0]} is about a film: give --video or --frames, too")
        return None
    _check(model, asked, nworld, total)
    width, height = asked["size"] or (WIDTH, HEIGHT)
    camera = asked["camera"] if asked["camera"] is not None else -1
    try:
        return Film(
            place,
            model,
            fps=FPS if asked["fps"] is None else asked["fps"],
            width=width,
            height=height,
            camera=int(camera) if isinstance(camera, str) and _NUMBER.match(camera) else camera,
            world=asked["world"],
            folder=asked["frames"] is not None,
        )
    except ValueError as error:  # an argument that means nothing, as text without our words for it
        if isinstance(error, DovetailError):
            raise click.BadParameter(
                str(error), param_hint="--video" if asked["video"] else "--frames"
            ) from error
        raise


def _check(model: Model, asked: dict[str, Any], nworld: int | None, total: int) -> None:
    fps, world = asked["fps"], asked["world"]
    if asked["video"] is not None and not asked["video"].suffix:
        raise click.BadParameter(
            f"{asked['video']} has no ending: write .mp4, .gif or .webp, or --frames for a folder of pictures",
            param_hint="--video",
        )
    if world is not None and world >= (nworld or 1):
        raise click.BadParameter(
            f"there is no world {world}: the run has {nworld or 1}", param_hint="--world"
        )
    if fps is not None and total * model.opt.timestep * fps > MOST_PICTURES:
        raise click.BadParameter(
            f"{fps:g} pictures a second would be more than {MOST_PICTURES:,}", param_hint="--fps"
        )

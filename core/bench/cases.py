"""What is measured: models by name, from dovetail, from installed packages, from files, or generated.

A name is a built-in model (`humanoid`), a model made for measuring (`boxes`, `meshes`), a model file of an installed
package (`gymnasium/ant`, `suite/quadruped`: read, the package is not imported), a heap of so many free bodies
(`heap:200`, `heap_of_boxes:200`), a deformable object (`flex/cloth_9`: `flexes.py`), or a path. `+euler`, `+rk4`,
`+implicit` or `+implicitfast` behind it sets the integrator: `gymnasium/ant+euler`.
"""

from __future__ import annotations

import math
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from dovetail.bench.flexes import FLEXES
from dovetail.contracts.enums import Integrator
from dovetail.errors import DovetailError, listing, nearest
from dovetail.simulation import MODELS, builtin_models, load, loads

if TYPE_CHECKING:
    from dovetail.contracts.types import Model

SUITE = (
    "humanoid",
    "suite/humanoid",
    "suite/quadruped",
    "gymnasium/ant+euler",
    "gymnasium/half_cheetah",
    "gymnasium/humanoid",
    "boxes",
    "meshes",
)
"""The models of `dovetail bench --suite`."""

OWN = Path(__file__).parent / "models"
"""Models made for measuring."""

PACKAGES = {
    "gymnasium": ("gymnasium", ("envs", "mujoco", "assets")),
    "suite": ("dm_control", ("suite",)),
}
"""Prefix of a name: the package that has the file, and the folder in it."""


class UnknownModelError(DovetailError):
    """A name that stands for no model."""


class AbsentPackageError(DovetailError):
    """A model of a package that is not installed."""


@attrs.frozen
class Case:
    """A model that both engines read from the same source."""

    name: str
    source: Path | str = attrs.field(repr=False)
    """A file, or MJCF text."""
    integrator: int | None = None
    """Instead of the model's own."""

    @property
    def file(self) -> Path | None:
        return self.source if isinstance(self.source, Path) else None

    def load(self) -> Model:
        """The Model, with the wished integrator."""
        model = load(self.source) if isinstance(self.source, Path) else loads(self.source)
        if self.integrator is not None:
            model.opt.integrator = self.integrator
        return model


def find(name: str | Path) -> Case:
    """The case of a name; see the module's docstring."""
    base, plus, integrator = str(name).rpartition("+")
    if plus and integrator.upper() in Integrator.__members__ and not os.path.isfile(name):
        return attrs.evolve(find(base), name=str(name), integrator=int(Integrator[integrator.upper()]))
    kind, colon, count = str(name).partition(":")
    if colon and kind in HEAPS and count.isdecimal():
        return heap(int(count), HEAPS[kind], str(name))
    if str(name) in FLEXES:
        return Case(str(name), FLEXES[str(name)])
    return Case(str(name), _source(str(name)))


def is_own(path: Path) -> bool:
    """Whether a model file comes with dovetail."""
    return path.parent in (MODELS, OWN)


def known() -> list[str]:
    """Names that need no file of the user's."""
    return sorted({*builtin_models(), *(path.stem for path in OWN.glob("*.xml")), *SUITE, *FLEXES})


def _source(name: str) -> Path:
    folder = MODELS if name in builtin_models() else OWN
    own = folder / f"{name}.xml"
    if os.path.isfile(own):
        return own
    prefix, slash, stem = name.partition("/")
    if slash and prefix in PACKAGES and not os.path.exists(name):
        return _installed(name, prefix, stem)
    if not os.path.isfile(name):
        raise UnknownModelError(
            f"{name!r} is neither a file nor a model with a name{nearest(name, known()) or '.'} "
            f"Known: {listing(known())}"
        )
    return Path(name)


def _installed(name: str, prefix: str, stem: str) -> Path:
    package, below = PACKAGES[prefix]
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise AbsentPackageError(f"{name}: the package {package} is not installed (pip install {package})")
    folder = Path(spec.submodule_search_locations[0], *below)
    path = folder / f"{stem}.xml"
    if not os.path.isfile(path):
        there = [p.stem for p in folder.glob("*.xml")]
        raise UnknownModelError(
            f"{package} has no model {stem!r}{nearest(stem, there) or '.'} It has: {listing(there)}"
        )
    return path


# ---- generated models: one size grows, the rest stays


def chains(count: int) -> Case:
    """So many chains of eight hinges hanging side by side: eight degrees of freedom each, no contacts. Chains are
    independent, so the work is proportional to their number."""
    links = "".join(
        f'<body pos="0 0 {-0.1 if i else 0}"><joint axis="{i % 2} {(i + 1) % 2} 0" damping=".01"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -.1" size=".02"/>'
        for i in range(8)
    )
    hung = "".join(f'<body pos="{0.5 * n} 0 2">{links}{"</body>" * 8}</body>' for n in range(count))
    return Case(
        f"{count} chains",
        f'<mujoco model="chains"><option timestep=".002"><flag contact="disable"/></option>'
        f"<worldbody>{hung}</worldbody></mujoco>",
    )


SPHERES = 24
"""Free bodies of the sweep over contacts."""


def spheres(touching: int) -> Case:
    """Free spheres, of which so many lie on the floor; the others hover in weightlessness. The number of bodies
    stays, the number of contacts grows."""
    bodies = "".join(
        f'<body pos="{0.3 * (n % 6)} {0.3 * (n // 6)} {0.1 if n < touching else 0.3}" '
        f'gravcomp="{int(n >= touching)}"><freejoint/>'
        f'<geom size=".1" contype="0" conaffinity="{int(n < touching)}"/></body>'
        for n in range(SPHERES)
    )
    return Case(
        f"{touching} of {SPHERES} spheres",
        '<mujoco model="spheres"><option timestep=".002"/><worldbody>'
        f'<geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>',
    )


HEAPS = {
    "heap": ('size=".05"',),
    "heap_of_boxes": ('size=".05"', 'type="box" size=".045 .04 .05"'),
}
"""Geoms of the bodies of a heap, in turn."""


def heap(count: int, geoms: tuple[str, ...] = HEAPS["heap"], name: str = "") -> Case:
    """So many free bodies dropped into a bin about as wide as they will lie high, each layer a little out of line.
    Which body lies where does not follow from its number, as in a heap that has been stirred."""
    wide = max(2, round((2 * count) ** (1 / 3)))
    step = next(n for n in range(int(0.618 * count) | 1, count + 2) if math.gcd(n, count) == 1)
    bodies = []
    for n in range(count):
        place = n * step % count
        layer, row, column = place // wide**2, place // wide % wide, place % wide
        x, y = (0.11 * (i + 0.5 + 0.2 * math.sin(7 * place + i) - wide / 2) for i in (row, column))
        bodies.append(
            f'<body pos="{x:.4f} {y:.4f} {0.06 + 0.11 * layer:.4f}"><freejoint/>'
            f"<geom {geoms[place % len(geoms)]}/></body>"
        )
    side = 0.055 * wide + 0.02
    walls = "".join(
        f'<geom type="plane" pos="{x * side} {y * side} 0" zaxis="{-x} {-y} 0" size="9 9 1"/>'
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    return Case(
        name or f"heap of {count}",
        '<mujoco model="heap"><option timestep=".002"/><size memory="512M"/><worldbody>'
        f'<geom type="plane" size="9 9 1"/>{walls}{"".join(bodies)}</worldbody></mujoco>',
    )

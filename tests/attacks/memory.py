"""Batches and data beyond what there is, with a limit on the process and without, on both backends."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .case import NO_TAICHI, Table

CASES = Table("memory")
TEXTURE = "<texture name='t' type='2d' builtin='flat' width='8000' height='8000'/>"
MODEL = "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"


def add(
    name: str, fragment: str, call: Callable[[Any], Any], xml: str = MODEL, error: str = "CapacityError"
) -> None:
    def build(folder: Path) -> Any:
        import dovetail

        model = dovetail.loads(xml)
        return lambda: call(model)

    CASES.add(name, error, fragment, build)


def _sim(model: Any, *arguments: Any, **options: Any) -> Any:
    import dovetail

    return dovetail.Simulation(model, *arguments, **options)


def _limited(model: Any, **options: Any) -> Any:
    """A batch that the limits allow and the process cannot have."""
    with open("/proc/self/statm") as stream:
        own = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (own + (64 << 20), resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        return _sim(model, max_bytes=1 << 50, **options)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1:] * 2)


for backend in ("numpy",) if NO_TAICHI else ("numpy", "taichi"):
    for nworld in (10**9, 2**31 - 1):
        add(
            f"{nworld} worlds on {backend}",
            "MiB",
            lambda model, backend=backend, nworld=nworld: _sim(model, nworld, backend=backend),
        )
    add(
        f"10^9 worlds on {backend}, all fields, whatever it takes",
        "more than there is",
        lambda model, backend=backend: _sim(model, 10**9, backend=backend, keep="all", max_bytes=10**30),
    )
    add(
        f"2^40 worlds on {backend}",
        "too many",
        lambda model, backend=backend: _sim(model, 2**40, backend=backend),
    )
    add(
        f"100,000 worlds on {backend} in a process with 64 MB",
        "MiB",
        lambda model, backend=backend: _limited(model, nworld=100_000, backend=backend, keep="all"),
    )
add("one world with max_bytes=10", "max_bytes=10", lambda model: _sim(model, max_bytes=10))
add("max_bytes=0", "max_bytes=0", lambda model: _sim(model, max_bytes=0))
add("room for 10^12 contacts", "MiB", lambda model: _sim(model).data.reserve(ncon_max=10**12))
add("room for 10^30 contacts", "MiB", lambda model: _sim(model).data.reserve(ncon_max=10**30))
add(
    "per-world values of 10^9 worlds",
    "MiB",
    lambda model: _sim(model, 10**9, per_world="body_mass"),
)


def _own(model: Any) -> Any:
    import dovetail

    return dovetail.make_data(model, 10**9)


add("make_data of 10^9 worlds", "MiB", _own)
add(
    "10 million user data in 10,000 worlds",
    "MiB",
    lambda model: _sim(model, 10_000),
    "<mujoco><size nuserdata='10000000'/></mujoco>",
)


def _load_limited(xml: str) -> Callable[[Path], Callable[[], Any]]:
    """Load a model in a process that cannot have its arrays."""

    def build(folder: Path) -> Any:
        import dovetail

        def call() -> Any:
            with open("/proc/self/statm") as stream:
                own = int(stream.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(
                resource.RLIMIT_AS, (own + (50 << 20), resource.getrlimit(resource.RLIMIT_AS)[1])
            )
            try:
                return dovetail.loads(xml)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1:] * 2)

        return call

    return build


for name, xml in {
    "a texture of 8000 × 8000": f"<asset>{TEXTURE}</asset>",
    "a height field of 8000 × 8000": "<asset><hfield name='h' size='1 1 1 1' nrow='8000' ncol='8000'/></asset>",
    "10 million user data of a body": "<size nuser_body='9000000'/>",
}.items():
    CASES.add(
        f"{name} in a process with 50 MB", "CapacityError", "", _load_limited(f"<mujoco>{xml}</mujoco>")
    )

"""Ray itself: joined if it runs, started on this machine if not, and ended only if it was started here."""

from __future__ import annotations

import inspect
import logging
import os
import socket
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from types import ModuleType
from typing import Any

from dovetail.distributed.errors import WorkerError
from dovetail.distributed.extra import require_ray
from dovetail.errors import ArgumentError, shown
from dovetail.planning.auto import processors

ANSWER = 10.0
"""Seconds to wait for an answer of a cluster's machine."""
LOOPBACK = "127.0.0.1"
"""Where a Ray of this machine alone listens."""
CLUSTERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's variable for whether other machines may join. Where they may, it replaces the address of this machine's own
interface by one that is seen from outside (`resolve_ip_for_localhost` in its `services.py`), and listens on all."""
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Variables of Ray: nothing is reported to anybody; and its future behaviour towards accelerators, of which it would
warn otherwise."""

_started = False
_joined: str | None = None
"""The address at which `connect` found Ray; None for one that it started."""


def connect(workers: int | None = None, *, address: str | None = None) -> Any:
    """Ray as a module, running: the one that this process has joined, the cluster at `address` (`"auto"` finds the
    one of this machine; RAY_ADDRESS counts, too), or one of this machine alone with room for so many workers."""
    global _started, _joined
    require_ray()
    for variable, value in QUIET.items():
        os.environ.setdefault(variable, value)
    with _quiet():
        import ray

        if not ray.is_initialized():
            asked = address or os.environ.get("RAY_ADDRESS")
            asked = None if asked == "local" else asked
            if asked and asked != "auto":
                _check_address(asked)
            try:
                _join(ray, asked) if asked else _start_here(ray, max(workers or 1, processors()))
            except (ConnectionError, RuntimeError, ValueError) as problem:
                if not asked:
                    raise WorkerError(f"Ray does not start on this machine: {problem}") from problem
                raise WorkerError(
                    f"there is no Ray at address = {shown(asked)}: {_brief(problem)}. Start one with `ray start "
                    "--head`, or leave the address out for workers on this machine"
                ) from problem
            _started, _joined = True, asked or None
        elif _started and address is not None and address != _joined:
            there = f"the Ray at address = {_joined!r}" if _joined else "a Ray of this machine alone"
            raise WorkerError(
                f"address = {shown(address)}: this process uses {there}. Call dovetail.distributed.shutdown() first; "
                "results that were not fetched go with it"
            )
    return ray


def session(ray: Any) -> tuple[str, ...] | None:
    """Which Ray this is: references and workers of another are of no use."""
    if not ray.is_initialized():
        return None
    context = ray.get_runtime_context()
    return context.get_job_id(), context.get_node_id()


def only_here(ray: Any) -> bool:
    """Whether Ray was started by `connect`, so that no machine will ever join it."""
    return bool(_started and _joined is None and ray.is_initialized())


def room(ray: Any, threads: int) -> int:
    """How many workers with so many processors each Ray has room for, were it idle; at least 1."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)


def _check_address(address: str) -> None:
    """Whether somebody listens there; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16 or "/" in address:
        raise ArgumentError(f"address = {shown(address)} should be host:port of a Ray cluster, or 'auto'")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()
    except OSError as problem:
        raise WorkerError(
            f"nothing answers at address = {shown(address)} ({problem.strerror or problem}). Start a Ray there with "
            "`ray start --head`, or leave the address out for workers on this machine"
        ) from problem


def _brief(problem: Exception) -> str:
    """The first sentence of what Ray says."""
    return " ".join(str(problem).split()).partition(". ")[0].rstrip(".")


def _join(ray: Any, address: str) -> None:
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)


def _start_here(ray: Any, processors: int) -> None:
    """A Ray that only this machine sees."""
    with _this_machine_only():
        ray.init(
            address="local",
            num_cpus=processors,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _node_ip_address=LOOPBACK,
        )
    seen = ray.util.get_node_ip_address()
    if not ip_address(seen).is_loopback:
        ray.shutdown()
        raise WorkerError(
            f"this version of Ray would listen at {seen}, where other machines see it. If they may, start it "
            f"yourself with ray.init(); or set {CLUSTERS}=0 before Python starts"
        )


@contextmanager
def _this_machine_only() -> Iterator[None]:
    """Ray is told that there are no other machines, while it starts; also if it was imported and read it before."""
    from ray._private import ray_constants

    known = getattr(ray_constants, "ENABLE_RAY_CLUSTER", None)
    before = os.environ.get(CLUSTERS)
    os.environ[CLUSTERS], ray_constants.ENABLE_RAY_CLUSTER = "0", False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = known
        os.environ.pop(CLUSTERS)
        os.environ.update({} if before is None else {CLUSTERS: before})


def shutdown() -> None:
    """End the Ray that `connect`, `rollout` or another call here started or joined; one that was there before stays.
    Results that were not fetched go with it."""
    global _started, _joined
    if _started:
        import ray

        _started, _joined = False, None
        with _quiet():
            ray.shutdown()


def sent(ray: Any, thing: Any, functions: Iterable[Any]) -> Any:
    """Something in Ray's store, for workers to fetch, with functions in it whose modules workers may not have."""
    try:
        with _by_value(ray, functions):
            return ray.put(thing)
    except Exception as problem:
        raise ArgumentError(
            "a function or option cannot be sent to workers, since it holds on to something of this process (an open "
            f"file, a lock, a window): {type(problem).__name__}: {problem}"
        ) from problem


@contextmanager
def _by_value(ray: Any, functions: Iterable[Any]) -> Iterator[None]:
    """Send the code of functions, not their names, unless they belong to an installed package."""
    found = {inspect.getmodule(_written(function)) for function in functions}
    here = [m for m in found if m is not None and m.__name__ != "__main__" and not _installed(m)]
    for module in here:
        ray.cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in here:
            ray.cloudpickle.unregister_pickle_by_value(module)


def _written(function: Any) -> Any:
    """The function in a `functools.partial`."""
    return _written(function.func) if isinstance(function, partial) else function


def _installed(module: ModuleType) -> bool:
    places = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
    own = module.__name__.partition(".")[0] == "dovetail"
    return own or (getattr(module, "__file__", None) or "").startswith(tuple(places))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings that Ray has about itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield

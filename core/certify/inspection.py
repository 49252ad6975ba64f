"""Examining a package: every implementation it brings, by every check that concerns it."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata

import numpy as np

from dovetail import pipeline
from dovetail.arguments import instance
from dovetail.backend import REFERENCE
from dovetail.certify.document import Certificate
from dovetail.certify.outcomes import Examined, Outcome
from dovetail.errors import DovetailError, SelectionError, listing, nearest
from dovetail.implementation import Implementation
from dovetail.registry import PluginInfo, Registry, default_registry
from dovetail.testing.cases import BATCH, Case, NotApplicableError, Subject, forget
from dovetail.testing.checks import Check, checks_for
from dovetail.testing.samples import COLLECTION, FURTHER, LIGHT, SAMPLES

OWN = "dovetail"
"""The name under which built-in implementations are examined."""
REPEATS = 5
"""Calls whose processor time is taken, of which the least counts."""

Progress = Callable[[Implementation], None]


def certify(
    package: str,
    *,
    stages: Iterable[str] = (),
    backends: Iterable[str] = (),
    models: Mapping[str, str] | None = None,
    quick: bool = False,
    registry: Registry | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Examine all that a package (a distribution or plugin; `dovetail` for what is built in) brings.

    `stages` (or rows) and `backends` narrow it; `models` are MJCF texts by name, tried besides the samples. `quick`
    leaves out threads, precision, invariants, error texts and the larger models.
    """
    instance("package", package, str, "the name of an installed package or plugin")
    registry = registry or default_registry()
    plugins = plugins_of(package, registry)
    records = chosen(package, records_of(plugins), tuple(stages), tuple(backends))
    examined = []
    for record in records:
        if progress is not None:
            progress(record)
        examined.append(examine(record, registry, models=models, quick=quick))
        forget()
    narrowed = [
        *(f"stage {s}" for s in stages),
        *(f"backend {b}" for b in backends),
        *(["quick"] if quick else []),
    ]
    return Certificate(
        package=plugins[0].distribution,
        version=plugins[0].version,
        scope=", ".join(narrowed) or "all",
        environment=environment(),
        models=_digests({**SAMPLES, **LIGHT, **(FURTHER if quick else COLLECTION), **(models or {})}),
        examined=tuple(examined),
    )


def plugins_of(package: str, registry: Registry) -> list[PluginInfo]:
    """The plugins of a package, or an error that says which there are, or what is wrong with it."""
    found = [p for p in registry.plugins if package in (p.distribution, p.name)]
    named = [p for p in registry.plugins if p.distribution == package]
    found = named or found
    if not found:
        known = {OWN, *(p.distribution for p in registry.plugins), *(p.name for p in registry.plugins)}
        packages = {p.distribution for p in registry.plugins}
        raise SelectionError(
            f"no installed package or plugin is called {package!r}{nearest(package, known) or '.'} Packages: "
            f"{listing(packages)}. Install it first, as with: pip install -e ."
        )
    idle = next((p for p in found if p.status != "active"), None)
    if idle is not None:
        raise SelectionError(f"plugin {idle.name!r} of {idle.distribution} is {idle.status}: {idle.detail}")
    return found


def records_of(plugins: Iterable[PluginInfo]) -> list[Implementation]:
    return [record for plugin in plugins for record in plugin.implementations]


def chosen(
    package: str, records: list[Implementation], stages: tuple[str, ...], backends: tuple[str, ...]
) -> list[Implementation]:
    """The records of some stages or rows, on some backends; none at all is an error."""
    for stage in stages:
        pipeline.stage(stage.partition(":")[0])
    found = [
        r
        for r in records
        if (not stages or r.stage in stages or r.slot in stages) and (not backends or r.backend in backends)
    ]
    if not found:
        raise SelectionError(
            f"{package} brings nothing to certify there. It has: {listing({f'{r.slot} {r.label}' for r in records})}"
        )
    return found


def examine(
    record: Implementation,
    registry: Registry,
    *,
    models: Mapping[str, str] | None = None,
    quick: bool = False,
) -> Examined:
    """All checks of one implementation."""
    subject = Subject.of(record, registry=registry, models=models, further=FURTHER if quick else COLLECTION)
    missing = "" if record.backend not in registry.backends else registry.backend(record.backend).missing()
    outcomes = [_outcome(check, subject, missing) for check in checks_for(subject, further=not quick)]
    return Examined(
        slot=record.slot,
        implementation=record.label,
        version=record.version,
        target=record.target,
        outcomes=tuple(outcomes),
        cost=None if missing or any(outcome.verdict == "fail" for outcome in outcomes) else cost(subject),
    )


def _outcome(check: Check, subject: Subject, missing: str) -> Outcome:
    name = check.__name__.removeprefix("check_")
    if missing and name != "summary":
        text = f"backend {subject.record.backend} needs {missing}, which is not installed"
        return Outcome(check=name, verdict="not applicable", text=text)
    try:
        return Outcome(check=name, verdict="pass", measured=tuple(check(subject)))
    except NotApplicableError as reason:
        return Outcome(check=name, verdict="not applicable", text=str(reason))
    except AssertionError as problem:
        return Outcome(check=name, verdict="fail", text=str(problem))
    except Exception as problem:  # whatever a stranger's code raises is a finding
        notes = getattr(problem, "__notes__", ())
        told = "; ".join([f"{type(problem).__name__}: {problem}", *notes])
        return Outcome(check=name, verdict="fail", text=told)


def cost(subject: Subject) -> dict[str, float] | None:
    """Processor time of a call on a batch, in microseconds, and that of the reference of the same name (else the
    default one), on the first model that makes it run."""
    record = subject.record
    if pipeline.stage(record.stage).phase == "compile":
        return None
    try:
        case = next(iter(subject.cases(BATCH)))
        found = {"worlds": float(BATCH), "microseconds": _least(case)}
        reference = _reference(record, subject.registry)
        if reference is not None:
            other = Subject.of(
                reference, registry=subject.registry, models=subject.models, further=subject.further
            )
            beside = next((c for c in other.cases(BATCH) if c.model is case.model), None)
            if beside is not None:
                found["reference_microseconds"] = _least(beside)
    except (NotApplicableError, DovetailError):
        return None  # a check has told of it
    return found


def _reference(record: Implementation, registry: Registry) -> Implementation | None:
    others = [r for r in registry.of(record.slot) if r.backend == REFERENCE and r.label != record.label]
    same = [r for r in others if r.name == record.name]
    return next(iter([*same, *(r for r in others if r.default)]), None)


def _least(case: Case) -> float:
    """The least processor time of some calls, in microseconds."""
    times = []
    for _ in range(REPEATS + 1):  # the first compiles
        data = case.inputs()
        start = time.process_time()
        case.isolated.run(data)
        times.append(time.process_time() - start)
    return 1e6 * min(times[1:])


def environment() -> dict[str, str]:
    """Versions of what takes part."""
    from dovetail import __version__

    return {
        "dovetail": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
        **{name: found for name in ("taichi", "quadrants") if (found := _version(name))},
    }


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _digests(models: Mapping[str, str]) -> dict[str, str]:
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in models.items()}

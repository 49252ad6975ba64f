"""`dovetail plugins`: what is installed, where it came from, whether it works, what it offers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli import FOUND_PROBLEMS
from dovetail.cli._options import cli_command
from dovetail.cli._output import emit, say, table

if TYPE_CHECKING:
    from dovetail.registry import PluginInfo, Registry


def _group(listing: click.Command) -> click.Group:
    """The listing as a group, so that `dovetail plugins` stays what it is and `plugins new` comes under it."""
    group = click.Group(
        listing.name,
        params=listing.params,
        help=listing.help,
        short_help=listing.short_help,
        callback=listing.callback,
        invoke_without_command=True,
        subcommand_metavar="[new NAME]",
    )
    group.result_callback()(lambda value, **_: value)
    return group


@cli_command(example="dovetail plugins --third-party")
@click.option("--third-party", is_flag=True, help="Leave out the plugins that come with dovetail.")
def plugins(third_party: bool, as_json: bool) -> int:
    """List the installed plugins and what they offer.

    The exit code is 1 if one is broken. DOVETAIL_DISABLED_PLUGINS=a,b leaves plugins out. `dovetail plugins new NAME`
    writes a package to begin with.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return 0
    from dovetail.registry import default_registry

    registry = default_registry()
    chosen = [p for p in registry.plugins if not (third_party and p.distribution == "dovetail")]
    if as_json:
        emit({"plugins": [describe(p) for p in chosen], "backends": _backends(registry)})
    else:
        _show(chosen, registry)
    return FOUND_PROBLEMS if any(p.status == "broken" for p in chosen) else 0


def describe(plugin: PluginInfo) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "status": plugin.status,
        "detail": plugin.detail,
        "implementations": [f"{r.slot} {r.label}" for r in plugin.implementations],
    }


def _backends(registry: Registry) -> list[dict[str, Any]]:
    return [
        {"name": b.name, "available": not b.missing(), "needs": b.missing() or None, "install": b.install}
        for b in registry.backends.values()
    ]


def _show(chosen: list[PluginInfo], registry: Registry) -> None:
    table(
        ("plugin", "distribution", "version", "status", "offers"),
        [
            (
                p.name,
                p.distribution,
                p.version,
                p.status,
                p.detail or _offers(p) or _states(p, registry),
            )
            for p in chosen
        ],
        optional=("distribution", "version"),
    )
    for backend in _backends(registry):
        state = "ready" if backend["available"] else f'not installed: pip install "{backend["install"]}"'
        say(f"backend {backend['name']}: {state}")


def _states(plugin: PluginInfo, registry: Registry) -> str:
    """What a plugin without implementations has: groups of features, bundles of rules, or a backend."""
    groups = [g.name for g in registry.feature_groups.values() if g.plugin == plugin.name]
    bundles = [name for name, one in registry.semantics.items() if one.provider == plugin.distribution]
    if groups:
        return f"features: {', '.join(groups)}"
    backend = plugin.name.startswith("backends.") or not bundles
    return "a backend" if backend else f"rules: {', '.join(bundles)}"


def _offers(plugin: PluginInfo) -> str:
    from dovetail.cli.stages import short

    ordered = sorted(plugin.implementations, key=lambda r: (r.backend, r.slot))
    return short((r.label, r.key or "", "") for r in ordered)


plugins = _group(plugins)


@cli_command(
    example="""dovetail plugins new dovetail-wind
    dovetail plugins new my-solver --stage solve_constraints
    dovetail plugins new my-odometer --stage sensor:odometer
    dovetail plugins new my-inertia --stage mesh_inertia:exact"""
)
@click.argument("name", metavar="NAME")
@click.option(
    "--stage",
    "slot",
    default="passive_force",
    show_default=True,
    metavar="SLOT",
    help="What it is for: any stage, row or part. It begins as the built-in one, or as an example of its own.",
)
@click.option(
    "--lanes/--no-lanes",
    default=None,
    help="With a sibling for kernels [default: where there is one to begin with].",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=".",
    help="Where to put the new folder [default: here].",
)
def new(name: str, slot: str, lanes: bool | None, folder: Path, as_json: bool) -> int:
    """Write a package that installs, passes its own tests and is listed.

    It has an implementation for NumPy, one in lanes where it can have one, tests, a README and a file for GitHub's
    CI. `dovetail stages` lists the slots: stages, rows of tables as passive_force:wind, parts as combine_friction.
    Nothing that exists is overwritten.
    """
    from dovetail.template import new_package

    written = new_package(name, folder, slot=slot, lanes=lanes)
    if as_json:
        emit(written)
        return 0
    for path in written.files:
        say(f"  {written.folder / path}")
    say(f"{written.distribution} implements {written.slot}. Next:")
    say(f"  cd {written.folder} && pip install -e '.[test]' && pytest")
    if written.certified:
        say(f"  dovetail certify {written.distribution}")
    return 0


plugins.add_command(new)

"""Kernel fields: what lane stages leave for each other inside a fused kernel, declared as Data is.

They exist only while a kernel runs, in the scratch memory of a tile of worlds, so who reads one must be in the same
kernel as who writes it; the planner sees to that from the `reads` and `writes` of records, where kernel fields stand
beside Data fields (`contact_list.*` means all of a group). A `Transfer` says how Data fields are made of them at the
end of a kernel, and how they are made of Data at its beginning.

A field of numbers has a value per world of the tile. Integers and tables are the same for all worlds of a tile: lists
of what is active in any of them. A table is worked out while the kernel is built.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import attrs

KernelKind = Literal["numbers", "integers", "table"]


@attrs.frozen(kw_only=True)
class KernelField:
    """What is known of one kernel field."""

    name: str
    """`group.field`, or `namespace:field` for one that a plugin adds."""
    shape: tuple[str | int, ...]
    """Names of `KERNEL_SIZES` or of the Model's sizes, and literals."""
    kind: KernelKind = "numbers"
    unit: str = ""
    doc: str
    writer: str
    """The stage that writes it. If that is a table, every row of a plan must be in the kernel of who reads it."""
    changed_by: tuple[str, ...] = ()
    """Later stages that may write it again."""


@attrs.frozen(kw_only=True)
class KernelSize:
    """A length that is known when a kernel is built."""

    name: str
    doc: str
    maker: str
    """The stage without which such arrays stay empty."""
    number: str
    """`module:function` of the `Kernel` that gives it."""


@attrs.frozen(kw_only=True)
class Transfer:
    """How Data fields that a kernel does not hold pass between it and Data."""

    name: str
    out: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    """Data fields by the kernel fields they are made of when a kernel ends."""
    deliver: str = ""
    """`module:function` of the Model and the wanted Data fields, which makes them."""
    into: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    """Kernel fields by the Data fields they are made of when a kernel begins."""
    fetch: str = ""
    """`module:function` of the Model and the wanted kernel fields, which makes them."""
    constant: tuple[str, ...] = ()
    """Integer Data fields that follow from the Model alone."""
    constants: str = ""
    """`module:function` of the Model that gives them."""


def imported(target: str) -> Callable[..., Any]:
    """What `module:function` names."""
    module, _, attribute = target.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return found


def kernel_field(
    name: str,
    *shape: str | int,
    kind: KernelKind = "numbers",
    unit: str = "",
    doc: str,
    writer: str,
    changed_by: tuple[str, ...] = (),
) -> KernelField:
    """Declare a kernel field; a plugin's own is named `namespace:field`."""
    return KernelField(
        name=name, shape=shape, kind=kind, unit=unit, doc=doc, writer=writer, changed_by=changed_by
    )


def _group(group: str, fields: Iterable[KernelField]) -> dict[str, KernelField]:
    named = [attrs.evolve(field, name=f"{group}.{field.name}") for field in fields]
    return {field.name: field for field in named}


LARGEST_DIM = 6
"""Rows of a weld, or directions of a contact with sliding, spinning and rolling friction."""

COUNTED_ISLANDS = 20
"""Islands whose iterations are counted (mjNISLAND, MuJoCo 3.4)."""

_CONTACTS = "dovetail.plugins.shared.contacts.contacts_lanes"
_ROWS = "dovetail.plugins.shared.rows.rows_lanes"
_DUAL = "dovetail.plugins.shared.solver.dual_matrix_free_lanes"

KERNEL_SIZES: Mapping[str, KernelSize] = {
    size.name: size
    for size in (
        KernelSize(
            name="npair_list",
            doc="pairs of geoms, and of planes and flex vertices, that may touch wherever they are",
            maker="broadphase",
            number=f"{_CONTACTS}:pair_count",
        ),
        KernelSize(
            name="ncontact_list",
            doc="room for contacts that any world of a tile has",
            maker="narrowphase",
            number=f"{_CONTACTS}:contact_room",
        ),
        KernelSize(
            name="nbody_row",
            doc="room for constraints between bodies: connects and welds, then contacts",
            maker="constraint_rows",
            number=f"{_ROWS}:body_row_room",
        ),
        KernelSize(
            name="nspread_end",
            doc="most bodies of a constraint that is spread over several: a geom's, those of an element's corners",
            maker="constraint_rows",
            number=f"{_ROWS}:spread_end_count",
        ),
        KernelSize(
            name="ndof_row",
            doc="constraint rows of few dofs: coupled joints and tendons, flex edges, friction loss, limits",
            maker="constraint_rows",
            number=f"{_ROWS}:dof_row_count",
        ),
        KernelSize(
            name="ndof_row_width",
            doc="most dofs of such a row",
            maker="constraint_rows",
            number=f"{_ROWS}:dof_row_width",
        ),
        KernelSize(
            name="ndual_item",
            doc="rows of few dofs and constraints between bodies, as dual solvers visit them",
            maker="constraint_rows",
            number=f"{_DUAL}:item_room",
        ),
        KernelSize(
            name="ndual_force",
            doc="most forces of one of them",
            maker="constraint_rows",
            number=f"{_DUAL}:most_forces",
        ),
    )
}
"""Lengths of kernel fields beside the Model's sizes."""

BUILTIN_KERNEL_FIELDS: Mapping[str, KernelField] = {
    **_group(
        "candidate_list",
        (
            kernel_field("count", 1, kind="integers", doc="Near pairs of the tile.", writer="broadphase"),
            kernel_field(
                "pair",
                "npair_list",
                kind="integers",
                doc="Row in the table of pairs that may touch.",
                writer="broadphase",
            ),
        ),
    ),
    **_group(
        "contact_list",
        (
            kernel_field("count", 1, kind="integers", doc="Contacts in the list.", writer="narrowphase"),
            kernel_field(
                "pair",
                "ncontact_list",
                kind="integers",
                doc="Row in the table of pairs that may touch.",
                writer="narrowphase",
            ),
            kernel_field(
                "index_in_pair",
                "ncontact_list",
                kind="integers",
                doc="Which of its pair's contacts it is.",
                writer="narrowphase",
            ),
            kernel_field(
                "dist",
                "ncontact_list",
                unit="m",
                doc="Distance; very large in worlds without the contact.",
                writer="narrowphase",
            ),
            kernel_field(
                "pos", "ncontact_list", 3, unit="m", doc="Point, world frame.", writer="narrowphase"
            ),
            kernel_field(
                "frame",
                "ncontact_list",
                9,
                unit="1",
                doc="Normal from the first side to the second, and two tangents, row by row.",
                writer="narrowphase",
            ),
            kernel_field("ncon", 1, doc="How many contacts each world has.", writer="narrowphase"),
            kernel_field(
                "dim",
                "npair_list",
                kind="table",
                doc="condim of the contacts of each pair, by the rule of priorities.",
                writer="contact_params",
            ),
            kernel_field(
                "friction",
                "ncontact_list",
                5,
                unit="1",
                doc="Two tangential, one torsional, two rolling coefficients.",
                writer="contact_params",
            ),
            kernel_field(
                "solref",
                "ncontact_list",
                2,
                doc="Reference of the normal, as in contact.solref.",
                writer="contact_params",
            ),
            kernel_field(
                "solreffriction",
                "ncontact_list",
                2,
                doc="Reference of the friction directions, zero for the normal's.",
                writer="contact_params",
            ),
            kernel_field(
                "solimp", "ncontact_list", 5, doc="Impedance, as in contact.solimp.", writer="contact_params"
            ),
            kernel_field(
                "includemargin",
                "ncontact_list",
                unit="m",
                doc="Margin − gap: a contact acts where its distance is below it.",
                writer="contact_params",
            ),
        ),
    ),
    **_group(
        "body_rows",
        (
            kernel_field(
                "kind",
                "nbody_row",
                kind="integers",
                doc="Index among the kinds that occur: equality, frictionless, pyramid, elliptic.",
                writer="constraint_rows",
            ),
            kernel_field(
                "dim", "nbody_row", kind="integers", doc="Number of base rows.", writer="constraint_rows"
            ),
            kernel_field(
                "near",
                "nbody_row",
                kind="integers",
                doc="Body whose wrench is the near one; it has dofs.",
                writer="constraint_rows",
            ),
            kernel_field(
                "far",
                "nbody_row",
                kind="integers",
                doc="The other body; 0 if that does not move, -1 if the constraint is spread over several bodies.",
                writer="constraint_rows",
            ),
            kernel_field(
                "near_wrench",
                "nbody_row",
                LARGEST_DIM,
                6,
                doc="Of each base row on the near body, angular part first, about its tree's centre of mass.",
                writer="constraint_rows",
            ),
            kernel_field(
                "far_wrench",
                "nbody_row",
                LARGEST_DIM,
                6,
                doc="The same on the far body, where that is not 0.",
                writer="constraint_rows",
            ),
            kernel_field(
                "spread_wrench",
                "nbody_row",
                "nspread_end",
                LARGEST_DIM,
                6,
                doc="The same on each of several bodies, where the far one is -1; the near wrench does not count.",
                writer="constraint_rows",
            ),
            kernel_field(
                "D",
                "nbody_row",
                2,
                doc="Weight of the normal (or an edge of the pyramid), 0 in worlds without the constraint, and the "
                "square of the regularised cone's slope; of an equality, of its linear and angular rows.",
                writer="constraint_rows",
            ),
            kernel_field(
                "spring",
                "nbody_row",
                LARGEST_DIM,
                doc="Stiffness · impedance · violation.",
                writer="constraint_rows",
            ),
            kernel_field(
                "damping",
                "nbody_row",
                2,
                doc="Of the first row, and of the others.",
                writer="constraint_rows",
            ),
            kernel_field(
                "offset",
                "nbody_row",
                LARGEST_DIM,
                doc="Minus the reference acceleration.",
                writer="constraint_reference",
            ),
            kernel_field(
                "force",
                "nbody_row",
                LARGEST_DIM,
                doc="Of a contact, force and torque in its frame as mj_contactForce gives them; of an equality, the "
                "forces of its rows. Zero in worlds where it does not act.",
                writer="solve_constraints",
                changed_by=("noslip",),
            ),
        ),
    ),
    **_group(
        "dof_rows",
        (
            kernel_field(
                "coefficient",
                "ndof_row",
                "ndof_row_width",
                doc="Entries of the Jacobian at the row's dofs.",
                writer="constraint_rows",
            ),
            kernel_field(
                "D", "ndof_row", doc="Weight; 0 in worlds without the row.", writer="constraint_rows"
            ),
            kernel_field(
                "loss",
                "ndof_row",
                doc="Friction loss, of rows that have one.",
                writer="constraint_rows",
            ),
            kernel_field(
                "spring", "ndof_row", doc="Stiffness · impedance · violation.", writer="constraint_rows"
            ),
            kernel_field("damping", "ndof_row", doc="Of the row's velocity.", writer="constraint_rows"),
            kernel_field(
                "offset", "ndof_row", doc="Minus the reference acceleration.", writer="constraint_reference"
            ),
            kernel_field(
                "force",
                "ndof_row",
                doc="Zero in worlds without the row.",
                writer="solve_constraints",
                changed_by=("noslip",),
            ),
        ),
    ),
    **_group(
        "row_counts",
        (
            kernel_field(
                "by_kind",
                4,
                doc="Rows of equalities, friction loss and limits, and all rows, as MuJoCo counts them.",
                writer="islands",
            ),
            kernel_field("active", 1, doc="Rows that a world has.", writer="constraint_reference"),
        ),
    ),
    **_group(
        "dual",
        (
            kernel_field(
                "force",
                "ndual_item",
                "ndual_force",
                doc="Of base rows; of a pyramid, of its edges: up and down by tangent.",
                writer="solve_constraints",
                changed_by=("noslip",),
            ),
            kernel_field(
                "known",
                1,
                kind="integers",
                doc="1 if the solver has written the forces of items.",
                writer="solve_constraints",
            ),
        ),
    ),
    **_group(
        "iterations",
        (
            kernel_field(
                "by_island",
                COUNTED_ISLANDS,
                doc="Of the solver in each island, in MuJoCo's order; in all rows together at 0. Counted only where "
                "somebody reads it.",
                writer="solve_constraints",
            ),
            kernel_field(
                "noslip", 1, doc="Sweeps of the no-slip pass, counted in the same way.", writer="noslip"
            ),
        ),
    ),
}
"""The kernel fields of dovetail's own lane stages, by name."""


def expand(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Names with `group.*` replaced by the fields of the group."""
    known = tuple(known)
    found: list[str] = []
    for name in names:
        if name.endswith(".*"):
            members = [field for field in known if field.startswith(name[:-1])]
            found += members or [name]
        else:
            found.append(name)
    return tuple(dict.fromkeys(found))

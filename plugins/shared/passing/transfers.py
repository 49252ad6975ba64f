"""How contacts, numbers of constraint rows and counts of iterations pass between lane kernels and Data.

`contact_delivery_lanes` and `iteration_delivery_lanes` make Data fields of kernel fields when a kernel ends,
`contact_import_lanes` goes the other way when one begins. This module only says which need which; it is read when
plugins are registered, so it imports little.
"""

from __future__ import annotations

from dovetail.contracts.kernel_fields import Transfer

_GEOMETRY = ("dist", "pos", "frame")
_PARAMETERS = ("friction", "solref", "solreffriction", "solimp", "includemargin")

_LIST = ("contact_list.count", "contact_list.pair", "contact_list.dist")
"""What tells the contacts of a world: the tile's list, and where it holds."""

_INCLUDED = (*_LIST, "contact_list.includemargin", "contact_list.dim")

_TOUCHING = ("contact_list.ncon", *_LIST)
"""Of the near pairs, those that touch; nobody asks for the others outside of a kernel."""

_OUT = {
    "ncon": ("contact_list.ncon",),
    **{f"contact.{name}": (*_LIST, f"contact_list.{name}") for name in (*_GEOMETRY, *_PARAMETERS)},
    **dict.fromkeys(
        [f"contact.{name}" for name in ("geom", "geom1", "geom2", "flex", "elem", "vert")], _LIST
    ),
    "contact.dim": (*_LIST, "contact_list.dim"),
    "contact.exclude": _INCLUDED,
    "contact.mu": (*_INCLUDED, "contact_list.friction"),
    "contact.efc_address": (*_INCLUDED, "contact_list.friction", "row_counts.by_kind"),
    **dict.fromkeys(("ne", "nf", "nl", "nefc"), ("row_counts.by_kind",)),
    **dict.fromkeys(
        (
            *("ncandidate", "candidate_geom", "candidate_pair", "contact_candidate"),
            *("candidate_flex", "candidate_elem", "candidate_vert"),
        ),
        _TOUCHING,
    ),
}

_FOUND = (
    *("ncon", "contact.dist", "contact.geom", "contact.flex", "contact.elem", "contact.vert"),
    *("contact_candidate", "candidate_pair", "candidate_geom"),
)
"""What tells which contacts the worlds have."""

_INTO = {
    **{f"contact_list.{name}": _FOUND for name in ("count", "pair", "index_in_pair", "dist")},
    "contact_list.ncon": ("ncon",),
    **{f"contact_list.{name}": (*_FOUND, f"contact.{name}") for name in ("pos", "frame", *_PARAMETERS)},
    "contact_list.dim": (*_FOUND, "contact.dim"),
    "contact_list.includemargin": (*_FOUND, "contact.includemargin", "contact.exclude"),
}

CONTACTS = Transfer(
    name="contacts",
    out=_OUT,
    deliver="dovetail.plugins.shared.passing.contact_delivery_lanes:delivery",
    into=_INTO,
    fetch="dovetail.plugins.shared.passing.contact_import_lanes:fetch",
)

ITERATIONS = Transfer(
    name="iterations",
    out={"solver_niter": ("iterations.by_island",)},
    deliver="dovetail.plugins.shared.passing.iteration_delivery_lanes:delivery",
)

TENDONS = Transfer(
    name="tendon Jacobian",
    constant=("ten_J_rownnz", "ten_J_rowadr", "ten_J_colind"),
    constants="dovetail.plugins.shared.tendons.layout:jacobian_structure",
)

MOMENTS = Transfer(
    name="actuator moments",
    constant=("moment_rownnz", "moment_rowadr", "moment_colind"),
    constants="dovetail.plugins.shared.moments.layout:moment_structure",
)

FLEX_EDGES = Transfer(
    name="flex edge Jacobian",
    constant=("flexedge_J_rownnz", "flexedge_J_rowadr", "flexedge_J_colind"),
    constants="dovetail.plugins.shared.flex.tables:jacobian_structure",
)

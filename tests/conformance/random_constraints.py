"""Random constraint rows of every kind on a model of several trees: problems for solvers, without collisions."""

from __future__ import annotations

import numpy as np

import dovetail
from dovetail.contracts.enums import ConstraintType
from dovetail.contracts.types import Data, Model
from dovetail.plugins.shared.solver.sparse_numpy import inverse_mass, jacobian

_BODIES = "".join(
    f'<body pos="{i} 0 1"><freejoint/><geom size=".2 .1 .05" type="box" density="400"/>'
    f'<body pos="0 0 .3"><joint name="hip{i}" axis="0 1 0"/><geom type="capsule" size=".05 .1"/>'
    f'<body pos="0 0 .3"><joint name="knee{i}" axis="1 0 0"/><geom type="capsule" size=".05 .1"/></body>'
    "</body></body>"
    for i in range(4)
)
_EQUALITIES = "".join(f'<joint joint1="hip{i}" joint2="knee{i}"/>' for i in range(3))
MODEL = f"""<mujoco><option><flag contact="disable" equality="disable"/></option>
<worldbody>{_BODIES}</worldbody><equality>{_EQUALITIES}</equality></mujoco>"""


def random_problem(seed: int, *, elliptic: bool, rows: int = 20, softness: float = 1.0) -> tuple[Model, Data]:
    """A Data in a random state with random constraint rows: equalities, friction loss, limits, contacts of every
    dimension. `softness` is R relative to the inverse inertia that a row feels: the smaller, the stiffer the rows.
    The last of the four trees is free."""
    rng = np.random.default_rng(seed)
    model = dovetail.loads(MODEL)
    data = dovetail.make_data(model)
    data.qpos[:] += 0.1 * rng.normal(size=model.nq)
    data.qvel[:] = rng.normal(size=model.nv)
    data.qfrc_applied[:] = 5.0 * rng.normal(size=model.nv)
    dovetail.forward(model, data)
    model.opt.cone = int(elliptic)
    kinds = [ConstraintType.EQUALITY] * 3 + [ConstraintType.FRICTION_DOF] * 3
    kinds += [ConstraintType.LIMIT_JOINT] * (rows - 6)
    owners = list(range(len(kinds)))
    dims = [1, 3, 4, 6]
    for contact, dim in enumerate(dims):
        kind, count = _contact_rows(dim, elliptic)
        kinds += [kind] * count
        owners += [contact] * count
    nefc = len(kinds)
    data.reserve(nefc_max=nefc, nJ_max=nefc * model.nv, ncon_max=len(dims))
    data.nefc, data.ncon = nefc, len(dims)
    data.efc_type[:nefc], data.efc_id[:nefc] = kinds, owners
    _fill_jacobian(rng, model, data)
    J = jacobian(model, data)
    felt = np.einsum("ri,ij,rj->r", J, inverse_mass(model, data), J)
    data.efc_R[:nefc] = softness * rng.uniform(0.1, 1.0, nefc) * felt
    data.efc_aref[:nefc] = 5.0 * rng.normal(size=nefc)
    data.efc_frictionloss[:nefc] = np.where(data.efc_type[:nefc] == ConstraintType.FRICTION_DOF, 0.5, 0.0)
    _fill_contacts(rng, data, dims, impratio=2.0)
    data.efc_D[:nefc] = 1.0 / data.efc_R[:nefc]
    return model, data


def _contact_rows(dim: int, elliptic: bool) -> tuple[ConstraintType, int]:
    if dim == 1:
        return ConstraintType.CONTACT_FRICTIONLESS, 1
    if elliptic:
        return ConstraintType.CONTACT_ELLIPTIC, dim
    return ConstraintType.CONTACT_PYRAMIDAL, 2 * (dim - 1)


def _fill_jacobian(rng: np.random.Generator, model: Model, data: Data) -> None:
    """The rows of a contact move two trees of the first three, other rows one."""
    size = model.nv // model.ntree
    address, trees = 0, np.array([0])
    for row in range(data.nefc):
        contact = data.efc_type[row] >= ConstraintType.CONTACT_FRICTIONLESS
        if not row or data.efc_id[row] != data.efc_id[row - 1]:
            trees = np.sort(rng.choice(3, 2 if contact else 1, replace=False))
        dofs = np.concatenate([np.arange(size * t, size * (t + 1)) for t in trees])
        data.efc_J_rownnz[row], data.efc_J_rowadr[row] = len(dofs), address
        data.efc_J_colind[address : address + len(dofs)] = dofs
        data.efc_J[address : address + len(dofs)] = rng.normal(size=len(dofs))
        address += len(dofs)
    data.nJ = address


def _fill_contacts(rng: np.random.Generator, data: Data, dims: list[int], impratio: float) -> None:
    """Friction, and the regularisation of cones, for which primal and dual problem are the same."""
    count = len(dims)
    data.contact.geom[:count] = 0
    data.contact.dim[:count] = dims
    data.contact.friction[:count] = rng.uniform(0.1, 1.5, (count, 5))
    data.contact.mu[:count] = data.contact.friction[:count, 0] / np.sqrt(impratio)
    elliptic = data.efc_type[: data.nefc] == ConstraintType.CONTACT_ELLIPTIC
    for contact, dim in enumerate(dims):
        rows = np.flatnonzero(elliptic & (data.efc_id[: data.nefc] == contact))
        if len(rows):
            friction = data.contact.friction[contact, : dim - 1]
            data.efc_R[rows[1:]] = data.efc_R[rows[0]] / impratio * (friction[0] / friction) ** 2

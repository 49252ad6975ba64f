"""Factor the mass matrix as Lᵀ·D·L without fill-in, and solve with it, in lanes.

Eliminating from the leaves to the root keeps the sparsity of the tree: row k of L has entries only at the
ancestors of dof k, and the columns of an ancestor's row are the first columns of row k. `qLD` has M's layout:
D on the diagonal, L below. Compare mj_factorM and mj_solveM; Featherstone, Rigid Body Dynamics Algorithms,
section 6.5.
"""

from __future__ import annotations

from dovetail.backends.taichi.lanes import Field, Kernel


def factor_mass(k: Kernel) -> None:
    """Write qLD and qLDiagInv."""
    if k.model.nv:
        copy(k, k.data.M, k.data.qLD)
        factor(k, k.data.qLD, k.data.qLDiagInv)


def copy(k: Kernel, source: Field, target: Field) -> None:
    """Element by element, for fields with one axis."""
    with k.loop(0, target.shape[0]) as i:
        target[i] = source[i]


def factor(k: Kernel, entries: Field, inverse_diagonal: Field) -> None:
    """Turn M's entries, in place, into L and D of M = Lᵀ·D·L; also give 1/D."""
    m = k.model
    with k.loop(0, m.nv, reverse=True) as row:
        first = m.M_rowadr[row]
        diagonal = first + m.M_rownnz[row] - 1
        inverse = 1.0 / entries[diagonal]
        inverse_diagonal[row] = inverse
        # From the last column down: a column is still unscaled when a later one needs it.
        with k.loop(first, diagonal, reverse=True) as at:
            scale = entries[at] * inverse
            ancestor = m.M_rowadr[m.M_colind[at]]
            with k.loop(0, at - first + 1) as i:
                entries[ancestor + i] -= scale * entries[first + i]
            entries[at] = scale


def solve(k: Kernel, entries: Field, inverse_diagonal: Field, x: Field) -> None:
    """Replace x (nv) by M⁻¹·x, from the factors."""
    m = k.model
    with k.loop(0, m.nv, reverse=True) as row:  # Lᵀ y = x
        value = x[row]
        first = m.M_rowadr[row]
        with k.loop(first, first + m.M_rownnz[row] - 1) as at:
            x[m.M_colind[at]] -= entries[at] * value
    with k.loop(0, m.nv) as row:  # L z = D⁻¹ y
        total = k.local(x[row] * inverse_diagonal[row])
        first = m.M_rowadr[row]
        with k.loop(first, first + m.M_rownnz[row] - 1) as at:
            total -= entries[at] * x[m.M_colind[at]]
        x[row] = total.value

"""How many entries MuJoCo's sparse Newton solver would store, for `solver_nnz`.

Python integers serve as sets of columns, bit c standing for column c, so that eliminating a dof is one operation.
Compare mju_sqrMatTDSparseCount and mju_cholFactorCount.
"""

from __future__ import annotations

from dovetail.plugins.solve_constraints.problem_numpy import Pattern


def newton_entries(M: Pattern, J: Pattern, factors: int) -> int:
    """Entries of the Hessian's lower triangle and of its factors, for a mass matrix and a Jacobian of the given
    patterns. For the Hessian MuJoCo counts those of JᵀJ, and as many as the mass matrix has up to the last dof (those
    of earlier islands included)."""
    squared = lower_square(J, len(M.rownnz))
    hessian = [row | column for row, column in zip(squared, bit_rows(M), strict=True)]
    stored = sum(row.bit_count() for row in squared) + int(M.rowadr[-1] + M.rownnz[-1])
    return stored + factors * factor_entries(hessian)


def bit_rows(pattern: Pattern) -> list[int]:
    """The set of columns of each row."""
    known: dict[bytes, int] = {}
    rows = []
    for start, end in zip(pattern.rowadr.tolist(), (pattern.rowadr + pattern.rownnz).tolist(), strict=True):
        columns = pattern.colind[start:end]
        name = columns.tobytes()
        if name not in known:
            known[name] = sum(1 << c for c in columns.tolist())
        rows.append(known[name])
    return rows


def lower_square(pattern: Pattern, ncol: int) -> list[int]:
    """The lower triangle of JᵀJ, by row, for a J of the given pattern."""
    square = [0] * ncol
    for columns in set(bit_rows(pattern)):
        rest = columns
        while rest:
            row = rest.bit_length() - 1
            square[row] |= rest  # what is left are the columns up to this one
            rest ^= 1 << row
    return square


def factor_entries(lower: list[int]) -> int:
    """Entries of the factor L in H = Lᵀ·L, for the pattern of H's lower triangle: eliminating the last dof connects
    all that it is connected with, which the highest of those passes on."""
    rows = list(lower)
    for k in range(len(rows) - 1, -1, -1):
        others = rows[k] & ~(1 << k)
        if others:
            rows[others.bit_length() - 1] |= others
    return sum(row.bit_count() for row in rows)

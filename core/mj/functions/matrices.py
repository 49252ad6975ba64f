"""mju_*: dense and sparse matrices, products, symmetric factorisations, band matrices."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.functions.binding import function, need
from dovetail.mj.functions.vectors import MINVAL


@function("mat: W")
def mju_eye(mat: Array) -> None:
    """The identity."""
    need(mat.shape[0] == mat.shape[1], "mat should be square")
    mat[:] = np.eye(len(mat))


@function("res: W, mat: M")
def mju_transpose(res: Array, mat: Array) -> None:
    """res = matᵀ."""
    need(res.shape[1] == mat.shape[0], "#columns in res should equal #rows in mat")
    need(res.shape[0] == mat.shape[1], "#rows in res should equal #columns in mat")
    res[:] = mat.T.copy()


@function("res: W, mat: M")
def mju_symmetrize(res: Array, mat: Array) -> None:
    """res = (mat + matᵀ)/2."""
    need(mat.shape[0] == mat.shape[1], "mat should be square")
    need(res.shape == mat.shape, "res and mat should have the same shape")
    res[:] = 0.5 * (mat + mat.T)


@function("res: w, mat: M, vec: v")
def mju_mulMatVec(res: Array, mat: Array, vec: Array) -> None:
    """res = mat·vec."""
    need(len(vec) == mat.shape[1], "size of vec should equal the number of columns in mat")
    need(len(res) == mat.shape[0], "size of res should equal the number of rows in mat")
    res[:] = mat @ vec


@function("res: w, mat: M, vec: v")
def mju_mulMatTVec(res: Array, mat: Array, vec: Array) -> None:
    """res = matᵀ·vec."""
    need(len(vec) == mat.shape[0], "size of vec should equal the number of rows in mat")
    need(len(res) == mat.shape[1], "size of res should equal the number of columns in mat")
    res[:] = vec @ mat


@function("vec1: v, mat: M, vec2: v", "float")
def mju_mulVecMatVec(vec1: Array, mat: Array, vec2: Array) -> float:
    """vec1ᵀ·mat·vec2, of a square matrix."""
    need(len(vec1) == len(vec2), "size of vec1 should equal the size of vec2")
    need(len(vec1) == mat.shape[1], "size of vectors should equal the number of columns in mat")
    need(len(vec2) == mat.shape[0], "size of vectors should equal the number of rows in mat")
    return float(vec1 @ mat @ vec2)


@function("res: W, mat1: M, mat2: M")
def mju_mulMatMat(res: Array, mat1: Array, mat2: Array) -> None:
    """res = mat1·mat2."""
    need(res.shape[1] == mat2.shape[1], "#columns in res should equal #columns in mat2")
    need(mat1.shape[1] == mat2.shape[0], "#columns in mat1 should equal #rows in mat2")
    need(res.shape[0] == mat1.shape[0], "#rows in res should equal #rows in mat1")
    res[:] = mat1 @ mat2


@function("res: W, mat1: M, mat2: M")
def mju_mulMatMatT(res: Array, mat1: Array, mat2: Array) -> None:
    """res = mat1·mat2ᵀ."""
    need(res.shape[1] == mat2.shape[0], "#columns in res should equal #rows in mat2")
    need(mat1.shape[1] == mat2.shape[1], "#columns in mat1 should equal #columns in mat2")
    need(res.shape[0] == mat1.shape[0], "#rows in res should equal #rows in mat1")
    res[:] = mat1 @ mat2.T


@function("res: W, mat1: M, mat2: M")
def mju_mulMatTMat(res: Array, mat1: Array, mat2: Array) -> None:
    """res = mat1ᵀ·mat2."""
    need(res.shape[1] == mat2.shape[1], "#columns in res should equal #columns in mat2")
    need(mat1.shape[0] == mat2.shape[0], "#rows in mat1 should equal #rows in mat2")
    need(res.shape[0] == mat1.shape[1], "#rows in res should equal #columns in mat1")
    res[:] = mat1.T @ mat2


@function("res: W, mat: M, diag: w?")
def mju_sqrMatTD(res: Array, mat: Array, diag: Array | None) -> None:
    """res = matᵀ·diag·mat; without diag, matᵀ·mat."""
    need(res.shape == (mat.shape[1], mat.shape[1]), "#columns in res should equal #columns in mat")
    need(diag is None or len(diag) == len(mat), "size of diag should equal the number of rows in mat")
    res[:] = mat.T @ (mat if diag is None else diag[:, None] * mat)


@function("mat: M")
def mju_printMat(mat: Array) -> None:
    """Print a matrix, row by row."""
    for row in mat.tolist():
        print(" ".join(f"{number:.8f}" for number in row))
    print()


# ---- sparse matrices: entries row by row, with their columns ----------------------------------------------------


@function("mat: v, rownnz: iv, rowadr: iv, colind: iv")
def mju_printMatSparse(mat: Array, rownnz: Array, rowadr: Array, colind: Array) -> None:
    """Print the entries of a sparse matrix with their columns, row by row."""
    for count, start in zip(rownnz.tolist(), rowadr.tolist(), strict=True):
        chosen = slice(start, start + count)
        entries = zip(colind[chosen].tolist(), mat[chosen].tolist(), strict=True)
        print("  ".join(f"{column}: {number:.8f}" for column, number in entries))
    print()


@function("res: w, mat: M, rownnz: iw, rowadr: iw, colind: iw", "int")
def mju_dense2sparse(res: Array, mat: Array, rownnz: Array, rowadr: Array, colind: Array) -> int:
    """Take the entries that are not zero; 1 if there is no room for all of them, else 0."""
    need(len(mat) == len(rownnz), "#rows in mat should equal size of rownnz")
    need(len(mat) == len(rowadr), "#rows in mat should equal size of rowadr")
    need(len(res) == len(colind), "#size of res should equal size of colind")
    if not len(res):
        return 1
    place = 0
    for row in range(len(mat)):
        rowadr[row], rownnz[row] = place, 0
        for column in np.flatnonzero(mat[row]).tolist():
            if place >= len(res):
                return 1
            res[place], colind[place] = mat[row, column], column
            rownnz[row] += 1
            place += 1
    return 0


@function("res: W, mat: v, rownnz: iv, rowadr: iv, colind: iv")
def mju_sparse2dense(res: Array, mat: Array, rownnz: Array, rowadr: Array, colind: Array) -> None:
    """The matrix with all its zeros."""
    need(len(res) == len(rownnz), "#rows in res should equal size of rownnz")
    need(len(res) == len(rowadr), "#rows in res should equal size of rowadr")
    res[:] = 0.0
    for row, (count, start) in enumerate(zip(rownnz.tolist(), rowadr.tolist(), strict=True)):
        res[row, colind[start : start + count]] = mat[start : start + count]


# ---- symmetric matrices -----------------------------------------------------------------------------------------


@function("mat: W, mindiag: float", "int")
def mju_cholFactor(mat: Array, mindiag: float) -> int:
    """Replace the lower triangle by L of mat = L·Lᵀ, no square on the diagonal below mindiag; gives the rank."""
    need(mat.shape[0] == mat.shape[1], "mat should be a square matrix")
    return factor(mat, mindiag)


@function("res: w, mat: M, vec: v")
def mju_cholSolve(res: Array, mat: Array, vec: Array) -> None:
    """Solve (L·Lᵀ)·res = vec."""
    need(mat.shape[0] == mat.shape[1], "mat should be a square matrix")
    need(len(res) == len(mat), "size of res should equal the number of rows in mat")
    need(len(vec) == len(mat), "size of vec should equal the number of rows in mat")
    res[:] = solve_factored(mat, vec)


@function("mat: W, x: w, flg_plus: int", "int")
def mju_cholUpdate(mat: Array, x: Array, flg_plus: int) -> int:
    """Change L so that L·Lᵀ grows or shrinks by x·xᵀ; x is used up. Gives the rank."""
    need(mat.shape[0] == mat.shape[1], "mat should be a square matrix")
    need(len(x) == len(mat), "size of x should equal the number of rows in mat")
    count = rank = len(mat)
    sign = 1.0 if flg_plus else -1.0
    for k in range(count):
        if x[k] == 0.0:
            continue
        square = mat[k, k] ** 2 + sign * x[k] ** 2
        if square < MINVAL:
            square = MINVAL
            rank -= 1
        root = sqrt(square)
        cosine, sine = root / mat[k, k], x[k] / mat[k, k]
        mat[k, k] = root
        mat[k + 1 :, k] = (mat[k + 1 :, k] + sign * sine * x[k + 1 :]) / cosine
        x[k + 1 :] = cosine * x[k + 1 :] - sine * mat[k + 1 :, k]
    return rank


def factor(mat: Array, mindiag: float = MINVAL) -> int:
    """Cholesky factor in the lower triangle, in place; gives the rank."""
    count = rank = len(mat)
    for k in range(count):
        square = float(mat[k, k] - mat[k, :k] @ mat[k, :k])
        if square < mindiag:
            square = mindiag
            rank -= 1
        mat[k, k] = sqrt(square)
        mat[k + 1 :, k] = (mat[k + 1 :, k] - mat[k + 1 :, :k] @ mat[k, :k]) / mat[k, k]
    return rank


def solve_factored(lower: Array, vec: Array) -> Array:
    """Solve with the lower triangle of a Cholesky factor."""
    found = np.array(vec)
    for k in range(len(found)):
        found[k] = (found[k] - lower[k, :k] @ found[:k]) / lower[k, k]
    for k in reversed(range(len(found))):
        found[k] = (found[k] - lower[k + 1 :, k] @ found[k + 1 :]) / lower[k, k]
    return found


# ---- band matrices with dense rows at the end (arrowheads) ------------------------------------------------------


def _band_size(ntotal: int, nband: int, ndense: int) -> int:
    return (ntotal - ndense) * nband + ndense * ntotal


def _row(i: int, ntotal: int, nband: int, ndense: int) -> tuple[slice, slice]:
    """Where row i of the lower triangle is stored, and which columns it has."""
    end = diagonal(i, ntotal, nband, ndense) + 1
    width = min(i + 1, nband) if i < ntotal - ndense else i + 1
    return slice(end - width, end), slice(i + 1 - width, i + 1)


def diagonal(i: int, ntotal: int, nband: int, ndense: int) -> int:
    """Where the diagonal entry of row i is stored."""
    sparse = ntotal - ndense
    return i * nband + nband - 1 if i < sparse else sparse * nband + (i - sparse) * ntotal + i


@function("i: int, ntotal: int, nband: int, ndense: int", "int")
def mju_bandDiag(i: int, ntotal: int, nband: int, ndense: int) -> int:
    """Where the diagonal entry of row i is stored."""
    return diagonal(i, ntotal, nband, ndense)


@function("res: w, mat: M, ntotal: int, nband: int, ndense: int")
def mju_dense2Band(res: Array, mat: Array, ntotal: int, nband: int, ndense: int) -> None:
    """Store a symmetric matrix as a band with dense rows at the end."""
    need(
        len(res) == _band_size(ntotal, nband, ndense),
        "res must have size (ntotal-ndense)*nband + ndense*ntotal",
    )
    need(mat.shape[1] == ntotal, "mat should have ntotal columns")
    need(mat.shape[0] == ntotal, "mat should have ntotal rows")
    for i in range(ntotal):
        stored, columns = _row(i, ntotal, nband, ndense)
        res[stored] = mat[i, columns]


@function("res: W, mat: v, ntotal: int, nband: int, ndense: int, flg_sym: int")
def mju_band2Dense(res: Array, mat: Array, ntotal: int, nband: int, ndense: int, flg_sym: int) -> None:
    """The dense matrix of a band; both triangles, or the lower one."""
    need(
        len(mat) == _band_size(ntotal, nband, ndense),
        "mat must have size (ntotal-ndense)*nband + ndense*ntotal",
    )
    need(res.shape[1] == ntotal, "res should have ntotal columns")
    need(res.shape[0] == ntotal, "res should have ntotal rows")
    res[:] = _dense(mat, ntotal, nband, ndense, bool(flg_sym))


def _dense(mat: Array, ntotal: int, nband: int, ndense: int, symmetric: bool) -> Array:
    full = np.zeros((ntotal, ntotal))
    for i in range(ntotal):
        stored, columns = _row(i, ntotal, nband, ndense)
        full[i, columns] = mat[stored]
        if symmetric:
            full[columns, i] = mat[stored]
    return full


@function("res: w, mat: M, vec: M, ntotal: int, nband: int, ndense: int, nvec: int, flg_sym: int")
def mju_bandMulMatVec(
    res: Array, mat: Array, vec: Array, ntotal: int, nband: int, ndense: int, nvec: int, flg_sym: int
) -> None:
    """Products of a band matrix with nvec vectors."""
    need(
        mat.size == _band_size(ntotal, nband, ndense),
        "mat must have size (ntotal-ndense)*nband + ndense*ntotal",
    )
    need(len(res) == ntotal * nvec, "res should have ntotal rows")
    need(vec.shape[0] == ntotal, "vec should have ntotal rows")
    need(vec.shape[1] == nvec, "vec should have nVec columns")
    full = _dense(mat.reshape(-1), ntotal, nband, ndense, bool(flg_sym))
    # The vectors stand one behind the other in memory.
    res[:] = (vec.reshape(nvec, ntotal) @ full.T).reshape(-1)


@function("mat: w, ntotal: int, nband: int, ndense: int, diagadd: float, diagmul: float", "float")
def mju_cholFactorBand(
    mat: Array, ntotal: int, nband: int, ndense: int, diagadd: float, diagmul: float
) -> float:
    """Cholesky factor of a band in place, with diagadd + diagmul·diagonal added to the diagonal; gives the least
    square on the diagonal, 0 if it is not positive."""
    need(
        len(mat) == _band_size(ntotal, nband, ndense),
        "mat must have size (ntotal-ndense)*nband + ndense*ntotal",
    )
    least = -1.0
    for i in range(ntotal):
        stored, columns = _row(i, ntotal, nband, ndense)
        row = mat[stored]
        row[-1] += diagadd + diagmul * row[-1]
        for place in range(len(row)):
            j = columns.start + place
            above, their = _row(j, ntotal, nband, ndense)
            shared = max(columns.start, their.start)
            mine = row[shared - columns.start : place]
            other = mat[above][shared - their.start : -1] if j != i else mine
            row[place] -= mine @ other
            if j != i:
                row[place] /= mat[above.stop - 1]
        least = float(row[-1]) if i == 0 else min(least, float(row[-1]))
        if row[-1] < MINVAL:
            return 0.0
        row[-1] = sqrt(row[-1])
    return least


@function("res: w, mat: v, vec: v, ntotal: int, nband: int, ndense: int")
def mju_cholSolveBand(res: Array, mat: Array, vec: Array, ntotal: int, nband: int, ndense: int) -> None:
    """Solve with a factor that mju_cholFactorBand made."""
    need(
        len(mat) == _band_size(ntotal, nband, ndense),
        "mat must have size (ntotal-ndense)*nband + ndense*ntotal",
    )
    need(len(res) == ntotal, "size of res should equal ntotal")
    need(len(vec) == ntotal, "size of vec should equal ntotal")
    res[:] = solve_factored(_dense(mat, ntotal, nband, ndense, symmetric=False), vec)


__all__ = [name for name in globals() if name.startswith(("mju_", "mjd_"))]

"""What solvers have in common: costs of rows, the problem in terms of forces (dual), friction inside a cone (qcqp),
sweeps, statistics. NumPy assembles sparse matrices; lanes are matrix-free, but for small problems of forces. Tests in
tests/stages/solve_constraints and noslip.
"""

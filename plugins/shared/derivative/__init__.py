"""Derivatives of smooth forces by velocity, for implicit integrators and inverse dynamics: one module per force,
their sum in velocity_{numpy,lanes}.py. NumPy returns entries in the pattern D; lanes add to the integrator's matrix,
which is all that a kernel keeps. Tests in tests/stages/derivative.
"""

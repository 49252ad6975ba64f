"""How contacts, counts of rows and of iterations pass between Data and kernels, declared in transfers.py.

Tests: tests/backends.
"""

"""How contacts and counts of rows pass between Data and kernels, declared in transfers.py. Tests: tests/backends."""

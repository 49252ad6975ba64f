"""The physics: one folder per stage, one file per algorithm and language (`_numpy`, `_lanes`).

A folder's `__init__.py` has its records and, in the larger ones, a map. Begin with a small one, as `mass_matrix`,
and with `shared`, the library that all stand on. Two folders are no stages: `model_rules` says which models need
what, and `queries` asks stages from outside. Tests: `tests/stages/<folder>`.
"""

"""Questions to a model and its data that no stage asks: plain functions on one world, one module per topic.

`jacobian.py`, `positions.py`, `contact_force.py`, `dense.py` compute; `finite_difference.py` and
`inverse_dynamics.py` run stages of a plan, by `partial.py`. Begin with `contact_force.py`. Tests:
`tests/stages/queries`.
"""

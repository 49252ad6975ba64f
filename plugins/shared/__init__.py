"""What stages share: a library, no stage, no records. A stage folder imports itself, this library, the lane language
and the contracts, and no other stage (tests/kernel/test_rooms.py).

A module is `<topic>_numpy.py` or `<topic>_lanes.py`; where both are there they export the same names with the same
order of arguments (tests/stages/shared/test_library.py). NumPy works on all objects at once, or on single vectors as
tuples; lanes work on one object of all worlds of a tile. Modules without such an ending are neutral: tables of the
Model and constants.

Where to begin:
    constants, vectors, quaternions, spatial, tree      the arithmetic under everything
    ldl, crb, rne, symmetric, motion, positions         rigid bodies
    jacobian_rows, tendons/, moments/                   paths and their Jacobians
    activation, muscle, springs, energy, fluid/, wrenches, cartesian_forces, derivative/    forces and their slopes
    geometry/                                           shapes, distances, rays, meshes
    contacts/, rows/, solver/                           contacts, constraint rows, what solvers have in common
    records, reference, passing/                        how stages are described, asked for, joined to kernels
"""

"""Constraint rows: where they are kept (append_numpy, rows_lanes), how points of bodies (point_motion) and both sides
of contacts (contact_sides) move with the dofs, how soft rows are (impedance), how many there are (counts), which
force a contact's rows make. Tests in tests/stages/constraint_rows and body_forces.
"""

"""Constraint rows: where they are kept (append_numpy, rows_lanes), how soft they are (impedance), how many there are
(counts), which force a contact's rows make. Tests in tests/stages/constraint_rows and body_forces.
"""

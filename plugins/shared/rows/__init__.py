"""Constraint rows: where they are kept (append_numpy, rows_lanes), how soft they are (impedance), how many there are
(counts). Tests in tests/stages/constraint_rows.
"""

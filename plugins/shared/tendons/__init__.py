"""Paths of tendons: what they are made of (layout), wrapping around geoms, rows of their Jacobians, how velocities
change their lengths (drift). Tests in tests/stages/tendon.
"""

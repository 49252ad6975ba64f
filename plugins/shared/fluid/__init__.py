"""The surrounding medium: forces on boxes and ellipsoids, and how bodies move through it. Their slopes are in
../derivative; tests in tests/stages/passive_force.
"""

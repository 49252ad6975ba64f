"""Moment arms of actuators as sparse rows, as far as lanes know them when a kernel is made. Tests in
tests/stages/transmission.
"""

"""What executes implementations; no physics here.

`numpy` calls stage functions as they are. `lanes` is the language in which kernels are written, and all of running
them that names no runtime; `taichi` prints lanes for Taichi and Quadrants. Tests: `tests/backends`.
"""

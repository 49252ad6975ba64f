"""The Taichi backend: stages written in lanes (`backends.lanes`), fused into one kernel over tiles of worlds.

`emit` prints Taichi source, `program` is the fused kernel, `runtime` the choice between the packages `quadrants` and
`taichi`, and `backend` what the plan sees.
"""

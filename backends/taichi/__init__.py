"""The Taichi backend: stages written in lanes, fused into one kernel over tiles of worlds.

`lanes` is what a stage is written in (with `algebra` and `functions`), `values` and `blocks` what writing it
records, `emit` the printing of Taichi source, `program` the fused kernel, `runtime` the choice between the packages
`quadrants` and `taichi`, and `backend` what the plan sees.
"""

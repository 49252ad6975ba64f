"""The native backend: stages written in lanes (`backends.lanes`), printed as C, compiled by the machine's compiler.

`stage_text` and `kernel_text` print a `FusedKernel` as C over vectors of worlds, with `prelude` as its vocabulary;
`processor` and `compilers` know the machine, `libraries` keeps what was compiled, `program` launches it, `threads` is
the pool that shares tiles out, and `backend` is what the plan sees.
"""

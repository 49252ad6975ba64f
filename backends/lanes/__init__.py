"""The lane language: what a stage for many worlds at once is written in, and all of running it that names no runtime.

Begin with `kernel`, whose docstring is the manual of the language.

- writing a stage: `kernel` is what a builder gets (with `functions` and `groups`; vectors and quaternions are
  in `plugins.shared`), `values`, `blocks` and
  `scopes` are what writing it records, `memory` is what it indexes;
- from stages to a kernel: `segments` (a plan's slots as lane stages), `fuse` (traced, checked, placed), `live` (what
  nobody needs is dropped), `bad_states` and `controls` (what is looked at in every step);
- in and out: `exports`, `imports`, `transfers`, `relayout`;
- towards the plan: `backend` (what every lane backend is), `runner` (builds, feeds and launches a
  program), `program` (a compiled kernel's memory and launches).

A backend that speaks the language prints a `fuse.FusedKernel` and runs it (`backends.taichi` does). Tests:
`tests/backends`.
"""

"""The lane language: what a stage for many worlds at once is written in. It names no runtime.

`kernel` is what a builder gets (with `algebra` and `functions`), `values` and `blocks` are what writing a stage
records, `memory` is what it indexes.
"""

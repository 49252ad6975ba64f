"""MuJoCo's constants, each stated once, with its name there (MuJoCo 3.4.0)."""

from __future__ import annotations

from dovetail.bad_states import MAXVAL as MAXVAL  # what the kernel itself takes for infinite

MINVAL = 1e-15
"""mjMINVAL: a length, mass, volume or time constant below it counts as zero."""

MINMU = 1e-5
"""mjMINMU: least coefficient of friction that a contact works with."""

MINIMP = 0.0001
"""mjMINIMP: least impedance of a constraint."""

MAXIMP = 0.9999
"""mjMAXIMP: greatest impedance of a constraint."""

EPS = 1e-14
"""mjEPS: what MuJoCo's compiler takes as zero; of vectors it compares the squared length."""

SPARSE_FROM = 60
"""Dofs from which on Jacobians are sparse where the option says `auto` (mj_isSparse)."""

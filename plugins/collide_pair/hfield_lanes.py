"""Contacts of a height field with a convex geom in lane kernels: one body of code with the convex pairs.

See mjc_ConvexHField in MuJoCo 3.4, and `prisms_lanes` for the prisms under the grid.
"""

from __future__ import annotations

from dovetail.plugins.collide_pair.convex_lanes import convex

height_field = convex
"""The same function, so that a kernel has it once."""

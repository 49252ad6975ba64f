"""Comparing implementations, and with MuJoCo."""

from dovetail.compare.ab import compare
from dovetail.compare.conform import conform

print(compare("humanoid", "mass_matrix", "crb@numpy", "crb@taichi", nworld=8, precision="f32").table())
print(conform("humanoid", precision="f64", backend="taichi", compiled_by="mujoco").ok)

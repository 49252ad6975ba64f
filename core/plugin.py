"""The only module a plugin author imports.

    from dovetail.plugin import Implementation, hookimpl

    @hookimpl
    def dovetail_implementations():
        return [Implementation(stage="passive_force", key="wind", name="quadratic", backend="numpy",
                               target="my_package.wind:force", summary="…")]

Name the module in your distribution's entry points:

    [project.entry-points."dovetail.plugins"]
    wind = "my_package.plugin"
"""

from __future__ import annotations

from dovetail.backend import Backend, Segment, Slot, Wrapper
from dovetail.contracts.enums import DisableBit, EnableBit, JointType
from dovetail.contracts.fields import REAL, Array, FieldSpec
from dovetail.contracts.kernel_fields import KernelField, Transfer, kernel_field
from dovetail.contracts.plugin_fields import model_field
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.contracts.sdf_shapes import SdfShape
from dovetail.contracts.types import Data, Model
from dovetail.errors import DovetailError
from dovetail.features import FeatureGroup
from dovetail.hookspecs.markers import hookimpl
from dovetail.implementation import Implementation, data_field, touches
from dovetail.semantics import Semantics

__all__ = [
    "REAL",
    "Array",
    "Backend",
    "Data",
    "DataLike",
    "DisableBit",
    "DovetailError",
    "EnableBit",
    "FeatureGroup",
    "FieldSpec",
    "Implementation",
    "JointType",
    "KernelField",
    "Model",
    "ModelLike",
    "SdfShape",
    "Segment",
    "Semantics",
    "Slot",
    "Transfer",
    "Wrapper",
    "data_field",
    "hookimpl",
    "kernel_field",
    "model_field",
    "touches",
]

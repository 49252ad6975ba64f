"""The fields of Data, one small file per part of the pipeline; names, shapes and dtypes are mjData's."""

from dovetail.contracts.data.acceleration import Acceleration
from dovetail.contracts.data.collision import Collision
from dovetail.contracts.data.constraint import Constraint
from dovetail.contracts.data.contact import Contact
from dovetail.contracts.data.position import Position
from dovetail.contracts.data.sleep import Sleep
from dovetail.contracts.data.solver import Solver, SolverStat
from dovetail.contracts.data.state import State
from dovetail.contracts.data.velocity import Velocity

__all__ = [
    "DATA_GROUPS",
    "DATA_PARTS",
    "Acceleration",
    "Collision",
    "Constraint",
    "Contact",
    "Position",
    "Sleep",
    "Solver",
    "SolverStat",
    "State",
    "Velocity",
]

DATA_PARTS: tuple[type, ...] = (State, Position, Velocity, Acceleration, Collision, Constraint, Solver, Sleep)
"""In the order of the pipeline."""

DATA_GROUPS: dict[str, type] = {"contact": Contact, "solver": SolverStat}
"""Sub-structures, by the attribute they are reached through."""

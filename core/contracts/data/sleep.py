"""Which trees, bodies and dofs are awake; all are, unless the sleep flag is on.

Index lists hold their counts' worth of entries; what follows is unspecified. MuJoCo: mj_updateSleep.
"""

from dovetail.contracts.fields import Array, array, entity, scalar


@entity
class Sleep:
    """Sleep state, derived masks and index lists."""

    ntree_awake: int = scalar(dtype="int32", doc="Number of awake trees.", writer="sleep")
    nbody_awake: int = scalar(dtype="int32", doc="Number of bodies in body_awake_ind.", writer="sleep")
    nparent_awake: int = scalar(dtype="int32", doc="Number of bodies in parent_awake_ind.", writer="sleep")
    nv_awake: int = scalar(dtype="int32", doc="Number of dofs in dof_awake_ind.", writer="sleep")
    tree_asleep: Array = array(
        "ntree",
        dtype="int32",
        doc="Negative: awake, counting up from −11 to sleep; else the next tree of a ring asleep together.",
        writer="sleep",
        state=True,
        init=-11,
    )
    tree_awake: Array = array("ntree", dtype="int32", doc="Whether each tree is awake.", writer="sleep")
    body_awake: Array = array(
        "nbody", dtype="int32", doc="Sleep state of each body (enums.SleepState).", writer="sleep"
    )
    body_awake_ind: Array = array(
        "nbody", dtype="int32", doc="Bodies that are awake or static, in increasing order.", writer="sleep"
    )
    parent_awake_ind: Array = array(
        "nbody", dtype="int32", doc="Bodies whose parent is awake or static.", writer="sleep"
    )
    dof_awake_ind: Array = array("nv", dtype="int32", doc="Awake dofs, in increasing order.", writer="sleep")

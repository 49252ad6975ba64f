"""MuJoCo's engine plugin instances (`<extension>` in MJCF); not to be confused with dovetail's plugins.

MuJoCo: mjModel's plugin*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Plugin:
    """Rows per engine plugin instance."""

    plugin: Array = array("nplugin", dtype="int32", doc="Number of the engine plugin in MuJoCo's registry.")
    plugin_stateadr: Array = array(
        "nplugin", dtype="int32", doc="Where the instance's state begins in plugin_state; -1: none."
    )
    plugin_statenum: Array = array(
        "nplugin", dtype="int32", doc="How many numbers of plugin_state the instance has."
    )
    plugin_attr: Array = array(
        "npluginattr",
        dtype="uint8",
        doc="Configuration values of all instances as bytes, each ended by a zero.",
    )
    plugin_attradr: Array = array(
        "nplugin", dtype="int32", doc="Where the instance's configuration begins in plugin_attr."
    )

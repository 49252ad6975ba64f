"""Flexes: deformable lines, surfaces and solids made of elements between vertices.

Vertices are attached to bodies, or interpolated from nodes that are. Vertex, edge and element ids inside
a flex start at 0; the *adr fields say where its rows begin. MuJoCo: mjModel's flex_*, flexedge_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Flex:
    """Rows per flex, and per node, vertex, edge, element or fragment of all flexes."""

    flex_contype: Array = array("nflex", dtype="int32", doc="Contact type bits of the flex.")
    flex_conaffinity: Array = array("nflex", dtype="int32", doc="Contact affinity bits of the flex.")
    flex_condim: Array = array("nflex", dtype="int32", doc="Contact dimension of the flex: 1, 3, 4 or 6.")
    flex_priority: Array = array(
        "nflex", dtype="int32", doc="Contact priority of the flex against geoms and other flexes."
    )
    flex_solmix: Array = array(
        "nflex", dtype="float64", unit="1", doc="Weight of this flex when solver parameters are averaged."
    )
    flex_solref: Array = array("nflex", 2, dtype="float64", doc="Solver reference of the flex's contacts.")
    flex_solimp: Array = array("nflex", 5, dtype="float64", doc="Solver impedance of the flex's contacts.")
    flex_friction: Array = array(
        "nflex",
        3,
        dtype="float64",
        doc="Friction coefficients of the flex: sliding [1], spinning [m], rolling [m].",
    )
    flex_margin: Array = array(
        "nflex",
        dtype="float64",
        unit="m",
        doc="Flex contacts are detected when the distance is at most this.",
    )
    flex_gap: Array = array(
        "nflex", dtype="float64", unit="m", doc="Flex contacts push only when closer than margin − gap."
    )
    flex_internal: Array = array(
        "nflex",
        dtype="uint8",
        doc="Whether elements collide with vertices next to them, which keeps elements from turning over.",
    )
    flex_selfcollide: Array = array(
        "nflex", dtype="int32", doc="How the flex looks for contacts with itself (enums.FlexSelf)."
    )
    flex_activelayers: Array = array(
        "nflex", dtype="int32", doc="How many layers from the surface self-collide, solids only."
    )
    flex_passive: Array = array(
        "nflex",
        dtype="int32",
        doc="Whether contacts of the flex act as passive forces rather than constraints.",
    )
    flex_dim: Array = array("nflex", dtype="int32", doc="Dimension: 1 segments, 2 triangles, 3 tetrahedra.")
    flex_matid: Array = array("nflex", dtype="int32", doc="Material of the flex; -1: none.")
    flex_group: Array = array("nflex", dtype="int32", doc="Visibility group of the flex.")
    flex_interp: Array = array(
        "nflex",
        dtype="int32",
        doc="Order of interpolation: 0 vertices move by themselves, 1 with eight nodes, 2 with 27.",
    )
    flex_nodeadr: Array = array("nflex", dtype="int32", doc="First node of the flex.")
    flex_nodenum: Array = array("nflex", dtype="int32", doc="Number of nodes of the flex.")
    flex_vertadr: Array = array("nflex", dtype="int32", doc="First vertex of the flex.")
    flex_vertnum: Array = array("nflex", dtype="int32", doc="Number of vertices of the flex.")
    flex_edgeadr: Array = array("nflex", dtype="int32", doc="First edge of the flex.")
    flex_edgenum: Array = array("nflex", dtype="int32", doc="Number of edges of the flex.")
    flex_elemadr: Array = array("nflex", dtype="int32", doc="First element of the flex.")
    flex_elemnum: Array = array("nflex", dtype="int32", doc="Number of elements of the flex.")
    flex_elemdataadr: Array = array(
        "nflex", dtype="int32", doc="Where the flex's element vertex ids begin in flex_elem."
    )
    flex_elemedgeadr: Array = array(
        "nflex", dtype="int32", doc="Where the flex's element edge ids begin in flex_elemedge."
    )
    flex_shellnum: Array = array("nflex", dtype="int32", doc="Number of surface fragments of the flex.")
    flex_shelldataadr: Array = array(
        "nflex", dtype="int32", doc="Where the flex's fragment vertex ids begin in flex_shell."
    )
    flex_evpairadr: Array = array("nflex", dtype="int32", doc="First element-vertex pair of the flex.")
    flex_evpairnum: Array = array("nflex", dtype="int32", doc="Number of element-vertex pairs of the flex.")
    flex_texcoordadr: Array = array(
        "nflex", dtype="int32", doc="First texture coordinate of the flex; -1: none."
    )
    flex_nodebodyid: Array = array("nflexnode", dtype="int32", doc="Body each node is attached to.")
    flex_vertbodyid: Array = array(
        "nflexvert", dtype="int32", doc="Body each vertex is attached to; -1: it follows nodes."
    )
    flex_edge: Array = array(
        "nflexedge", 2, dtype="int32", doc="Two vertices of each edge, counted inside the flex."
    )
    flex_edgeflap: Array = array(
        "nflexedge",
        2,
        dtype="int32",
        doc="Vertices opposite each edge in the two triangles that share it, -1: none; surfaces only.",
    )
    flex_elem: Array = array(
        "nflexelemdata", dtype="int32", doc="Vertices of the elements, dim+1 each, counted inside the flex."
    )
    flex_elemtexcoord: Array = array(
        "nflexelemdata", dtype="int32", doc="Texture coordinate ids of the elements, dim+1 each."
    )
    flex_elemedge: Array = array(
        "nflexelemedge", dtype="int32", doc="Edges of the elements, counted inside the flex."
    )
    flex_elemlayer: Array = array(
        "nflexelem", dtype="int32", doc="How many layers below the surface each element lies; solids only."
    )
    flex_shell: Array = array(
        "nflexshelldata",
        dtype="int32",
        doc="Vertices of the surface fragments, dim each, counted inside the flex.",
    )
    flex_evpair: Array = array(
        "nflexevpair", 2, dtype="int32", doc="Element and vertex of each pair tested for self-collision."
    )
    flex_vert: Array = array(
        "nflexvert", 3, dtype="float64", unit="m", doc="Vertex position in the frame of its body."
    )
    flex_vert0: Array = array(
        "nflexvert",
        3,
        dtype="float64",
        unit="1",
        doc="Vertex position at qpos0, scaled so that the flex fills the unit box.",
    )
    flex_node: Array = array(
        "nflexnode", 3, dtype="float64", unit="m", doc="Node position in the frame of its body."
    )
    flex_node0: Array = array(
        "nflexnode", 3, dtype="float64", unit="m", doc="Node position at qpos0, world frame."
    )
    flexedge_length0: Array = array(
        "nflexedge", dtype="float64", unit="m", doc="Length of each edge at qpos0."
    )
    flexedge_invweight0: Array = array(
        "nflexedge", dtype="float64", unit="1/kg", doc="Inverse inertia along each edge at qpos0."
    )
    flex_radius: Array = array(
        "nflex", dtype="float64", unit="m", doc="Thickness: every element is inflated by this radius."
    )
    flex_stiffness: Array = array(
        "nflexelem",
        21,
        dtype="float64",
        doc="Elasticity of each element: packed symmetric matrix between its edges.",
    )
    flex_bending: Array = array(
        "nflexedge",
        17,
        dtype="float64",
        doc="Bending of each edge's two triangles: 4×4 matrix row by row, and the weight of rest curvature.",
    )
    flex_damping: Array = array(
        "nflex", dtype="float64", unit="s", doc="Rayleigh damping: time by which elastic forces look ahead."
    )
    flex_edgestiffness: Array = array(
        "nflex", dtype="float64", unit="N/m", doc="Stiffness of the springs along edges."
    )
    flex_edgedamping: Array = array(
        "nflex", dtype="float64", unit="N s/m", doc="Damping of the springs along edges."
    )
    flex_edgeequality: Array = array(
        "nflex", dtype="uint8", doc="Whether an equality constraint holds the edges' lengths."
    )
    flex_rigid: Array = array(
        "nflex", dtype="uint8", doc="Whether all vertices sit on one body, so that nothing deforms."
    )
    flexedge_rigid: Array = array(
        "nflexedge", dtype="uint8", doc="Whether both vertices of the edge sit on one body."
    )
    flex_centered: Array = array("nflex", dtype="uint8", doc="Whether every vertex is at its body's origin.")
    flex_flatskin: Array = array("nflex", dtype="uint8", doc="Whether the flex is drawn with flat shading.")
    flex_bvhadr: Array = array(
        "nflex", dtype="int32", doc="Root of the flex's bounding volume tree; -1: none."
    )
    flex_bvhnum: Array = array("nflex", dtype="int32", doc="Number of bounding volumes in the flex's tree.")
    flex_rgba: Array = array(
        "nflex", 4, dtype="float32", unit="1", doc="Colour of the flex without a material."
    )
    flex_texcoord: Array = array(
        "nflextexcoord", 2, dtype="float32", unit="1", doc="Texture coordinates of the flexes."
    )

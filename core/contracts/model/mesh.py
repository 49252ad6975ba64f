"""Meshes: triangles, normals, convex hull graph and hull polygons.

Vertices are stored in the mesh's own frame: centred, and turned to the principal axes of inertia. Ids in
faces and polygons are counted inside the mesh. MuJoCo: mjModel's mesh_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Mesh:
    """Rows per mesh, and per vertex, normal, face and polygon of all meshes."""

    mesh_vertadr: Array = array("nmesh", dtype="int32", doc="First vertex of the mesh.")
    mesh_vertnum: Array = array("nmesh", dtype="int32", doc="Number of vertices of the mesh.")
    mesh_faceadr: Array = array("nmesh", dtype="int32", doc="First face of the mesh.")
    mesh_facenum: Array = array("nmesh", dtype="int32", doc="Number of faces of the mesh.")
    mesh_bvhadr: Array = array("nmesh", dtype="int32", doc="Root of the mesh's bounding volume tree.")
    mesh_bvhnum: Array = array("nmesh", dtype="int32", doc="Number of bounding volumes in the mesh's tree.")
    mesh_octadr: Array = array("nmesh", dtype="int32", doc="Root of the mesh's octree; -1: none.")
    mesh_octnum: Array = array("nmesh", dtype="int32", doc="Number of cells in the mesh's octree.")
    mesh_normaladr: Array = array("nmesh", dtype="int32", doc="First normal of the mesh.")
    mesh_normalnum: Array = array("nmesh", dtype="int32", doc="Number of normals of the mesh.")
    mesh_texcoordadr: Array = array(
        "nmesh", dtype="int32", doc="First texture coordinate of the mesh; -1: none."
    )
    mesh_texcoordnum: Array = array("nmesh", dtype="int32", doc="Number of texture coordinates of the mesh.")
    mesh_graphadr: Array = array(
        "nmesh", dtype="int32", doc="Where the mesh's hull graph begins in mesh_graph; -1: none."
    )
    mesh_vert: Array = array(
        "nmeshvert", 3, dtype="float32", unit="m", doc="Vertex positions in the mesh frame."
    )
    mesh_normal: Array = array(
        "nmeshnormal", 3, dtype="float32", unit="1", doc="Unit vertex normals in the mesh frame."
    )
    mesh_texcoord: Array = array(
        "nmeshtexcoord", 2, dtype="float32", unit="1", doc="Texture coordinates of the meshes."
    )
    mesh_face: Array = array(
        "nmeshface", 3, dtype="int32", doc="Three vertices per triangle, anticlockwise from outside."
    )
    mesh_facenormal: Array = array("nmeshface", 3, dtype="int32", doc="Three normals per triangle.")
    mesh_facetexcoord: Array = array(
        "nmeshface", 3, dtype="int32", doc="Three texture coordinates per triangle."
    )
    mesh_graph: Array = array(
        "nmeshgraph",
        dtype="int32",
        doc="Hull: vertex and face counts, then edge addresses, vertex ids, edge ends, face vertices.",
    )
    mesh_scale: Array = array(
        "nmesh", 3, dtype="float64", unit="1", doc="Scale applied to the file's vertices."
    )
    mesh_pos: Array = array(
        "nmesh",
        3,
        dtype="float64",
        unit="m",
        doc="Where the mesh frame's origin lies in the file's coordinates.",
    )
    mesh_quat: Array = array(
        "nmesh",
        4,
        dtype="float64",
        unit="1",
        doc="How the mesh frame is turned in the file's coordinates (w, x, y, z).",
    )
    mesh_pathadr: Array = array(
        "nmesh", dtype="int32", doc="Where the mesh's file path begins in paths; -1: none."
    )
    mesh_polynum: Array = array("nmesh", dtype="int32", doc="Number of hull polygons of the mesh.")
    mesh_polyadr: Array = array("nmesh", dtype="int32", doc="First hull polygon of the mesh.")
    mesh_polynormal: Array = array(
        "nmeshpoly", 3, dtype="float64", unit="1", doc="Outward unit normal of each polygon, mesh frame."
    )
    mesh_polyvertadr: Array = array(
        "nmeshpoly", dtype="int32", doc="Where each polygon's vertices begin in mesh_polyvert."
    )
    mesh_polyvertnum: Array = array("nmeshpoly", dtype="int32", doc="Number of vertices of each polygon.")
    mesh_polyvert: Array = array(
        "nmeshpolyvert", dtype="int32", doc="Vertices of the polygons, in order around each."
    )
    mesh_polymapadr: Array = array(
        "nmeshvert", dtype="int32", doc="Where each vertex's polygons begin in mesh_polymap."
    )
    mesh_polymapnum: Array = array("nmeshvert", dtype="int32", doc="Number of polygons around each vertex.")
    mesh_polymap: Array = array("nmeshpolymap", dtype="int32", doc="Polygons around the vertices.")

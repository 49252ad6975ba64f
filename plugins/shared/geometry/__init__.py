"""Shapes and what lies between them: supports, GJK and EPA, distance fields, triangles, rays, integrals over meshes.
The compiler of models uses it too. `*_one_world_lanes.py` run the iterations of their NumPy namesakes for one world
of a tile after another, in uniform numbers. Begin with shapes and support; tests in tests/stages/collide_pair,
narrowphase and queries.
"""

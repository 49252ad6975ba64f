"""Pictures in C: `shapes.c`, `meeting.c`, `shading.c` and `picture.c` cast packets of rays, `launch` compiles and
calls them. What they compute is written down in `core/rendering/*_numpy.py`."""

"""Pictures of a Model and Data, made on the processor by casting rays.

`renderer` what users see; `batch` scenes of one or all worlds; `gather` and `marks` turn them into a `drawing` of
plain arrays, with `trees` of triangles and `textures`; `prepare` finds where on the picture each element can be;
`shapes_numpy`, `hits_numpy`, `sampling_numpy`, `shading_numpy`, `picture_numpy` are the ray caster that can be
read; `casters` chooses between it and the quick one of the native backend."""

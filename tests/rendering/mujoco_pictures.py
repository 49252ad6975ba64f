"""A program: pictures by mujoco.Renderer, in a process of its own, for MUJOCO_GL counts when mujoco is imported.

    python mujoco_pictures.py OUT.npz MODEL CAMERA HEIGHT WIDTH [MODEL CAMERA HEIGHT WIDTH ...]

MODEL is a file. The arrays are named colour_0, depth_0, objects_0 and so on.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("MUJOCO_GL", "osmesa")


def main(out: str, *words: str) -> None:
    import mujoco
    import numpy as np

    arrays = {}
    for number in range(len(words) // 4):
        path, camera, height, width = words[4 * number : 4 * number + 4]
        model = mujoco.MjModel.from_xml_path(path)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        with mujoco.Renderer(model, int(height), int(width)) as renderer:
            renderer.update_scene(data, int(camera) if camera.lstrip("-").isdigit() else camera)
            arrays[f"colour_{number}"] = renderer.render().copy()
            renderer.enable_depth_rendering()
            arrays[f"depth_{number}"] = renderer.render().copy()
            renderer.disable_depth_rendering()
            renderer.enable_segmentation_rendering()
            arrays[f"objects_{number}"] = renderer.render().copy()
    np.savez(out, **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])

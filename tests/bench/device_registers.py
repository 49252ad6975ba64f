"""Registers and occupancy of a step's stages on GPUs, as NVIDIA's compiler reports them: needs `nvcc`, and no GPU.

    python tests/bench/device_registers.py [MODEL] [f32|f64] [sm_89 …]

The C that the native backend prints for tiles of one world is compiled as CUDA, each stage as a kernel of its own in
which a thread has one world and the memory of 32 worlds lies side by side. It is not what a Taichi runtime makes of
the same trace, but the same operations, so it says how many registers a thread wants.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ["DOVETAIL_LANES"] = "1"

THREADS = 128
"""Of a block; 64 registers of 65,536 a multiprocessor are then what allows all of its threads."""
REGISTERS = 65536
MOST_THREADS = {"sm_80": 2048, "sm_89": 1536, "sm_90": 2048}
"""Of a multiprocessor: A100, RTX 4090, H100."""

PRELUDE = """
#include <stdint.h>
#include <math.h>
typedef int I;
typedef {fp} fp;
typedef {fp} V;
typedef int M;
#define SSQRT(x) sqrt{f}(x)
#define SFLOOR(x) floor{f}(x)
#define SEXP(x) exp{f}(x)
#define VSQRT SSQRT
#define VFLOOR SFLOOR
#define SPL(x) ((fp)(x))
#define ANY(m) (m)
#define NOT(m) (!(m))
#define SEL(m, a, b) ((m) ? (a) : (b))
#define SMIN(a, b) ((a) < (b) ? (a) : (b))
#define SMAX(a, b) ((a) > (b) ? (a) : (b))
#define VMIN SMIN
#define VMAX SMAX
#define __builtin_inf{f}() INFINITY
#define __builtin_inf() INFINITY
#define __builtin_nan(x) NAN
__device__ inline I floordiv(I a, I b) {{ I q = a / b; return q - ((a % b != 0) & ((a < 0) != (b < 0))); }}
__device__ inline I floormod(I a, I b) {{ I m = a % b; return m + (((m != 0) & ((m < 0) != (b < 0))) ? b : 0); }}
__device__ inline I shifted(I a, I b) {{ return (I)((uint32_t)a << b); }}
__device__ inline I whole(fp x) {{ return (I)x; }}
template <class T> struct Rows {{ T *p; __device__ T &operator[](I i) const {{ return p[i * 32]; }} }};
"""

KERNEL = """
__global__ void __launch_bounds__({threads}) {name}(fp *S0, int *SI0, fp *R0, const int *__restrict__ TI,
    const fp *__restrict__ MR, const int *__restrict__ MI, const unsigned char *__restrict__ MB,
    const float *__restrict__ MF, const I e, I rows, I integers, I reals) {{
  const I w = blockIdx.x * blockDim.x + threadIdx.x, side = w / 32 * 32, lane = w % 32;
  const Rows<fp> S = {{S0 + side * rows + lane}}, R = {{R0 + side * reals + lane}};
  const Rows<int> SI = {{SI0 + side * integers + lane}};
{body}
}}
"""


def printed(model: str, precision: str) -> str:
    """The C of a step for tiles of one world."""
    import dovetail
    from dovetail.backends.native import libraries

    texts: list[str] = []
    library = libraries.library

    def noted(sources: list[str], *more: Any) -> Any:
        texts.extend(sources)
        return library(sources, *more)

    libraries.library = noted
    dovetail.Simulation(model, nworld=2, precision=precision, backend="native", threads=1).step()
    return "\n".join(texts)


def stages(text: str) -> dict[str, str]:
    """The bodies of the stages' functions, by name."""
    found = re.findall(
        r"^__attribute__\(\(.*?\)\) void (\w+)\(V \*[^)]*\) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL
    )
    return dict(found)


def reported(text: str, arch: str) -> dict[str, tuple[int, int]]:
    """Registers of a thread, and bytes that it spills, by kernel."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "stages.cu")
        source.write_text(text)
        words = ["nvcc", f"-arch={arch}", "-fmad=false", "-Xptxas", "-v", "-w", "-c", str(source)]
        done = subprocess.run([*words, "-o", f"{folder}/stages.o"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[:2000])
    pattern = r"Compiling entry function '_Z\d+(\w+?)P[fd].*?(\d+) bytes spill stores.*?Used (\d+) registers"
    return {n: (int(r), int(s)) for n, s, r in re.findall(pattern, done.stderr, re.DOTALL)}


def main(model: str = "humanoid", precision: str = "f32", *archs: str) -> None:
    bodies = stages(printed(model, precision))
    kind = {"f32": {"fp": "float", "f": "f"}, "f64": {"fp": "double", "f": ""}}[precision]
    kernels = [KERNEL.format(name=n, body=b, threads=THREADS) for n, b in bodies.items() if b.strip()]
    text = PRELUDE.format(**kind) + "".join(kernels)
    for arch in archs or ("sm_80", "sm_89"):
        found = reported(text, arch)
        print(f"{model}, {precision}, {arch}: {len(found)} of {len(kernels)} stages")
        for name, (registers, spilled) in sorted(found.items(), key=lambda item: -item[1][0]):
            rounded = -(-registers // 8) * 8
            fitting = REGISTERS // (rounded * THREADS) * THREADS
            share = min(1.0, fitting / MOST_THREADS.get(arch, 2048))
            print(f"  {name:44} {registers:4} registers, {spilled:5} bytes spilled, occupancy {share:4.0%}")


if __name__ == "__main__":
    main(*sys.argv[1:])

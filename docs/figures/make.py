"""Writes the drawings of the documentation, `docs/images/*.svg`, from the code and from recorded results.

    python docs/figures/make.py            write them
    python docs/figures/make.py --check    change nothing; exit 1 and name those that are out of date

Speeds are not measured here: `record_speed.py` does that, and `speed.json` holds them. Nor is anything trained:
`record_learning.py` does that, and `data/learning.json` holds the curves.
"""

from __future__ import annotations

import argparse
import sys

import conformance
import lanes
import learning
import speed
from drawing import IMAGES

import memory
import pipeline


def figures() -> dict[str, str]:
    """Every drawing by file name."""
    return {
        "pipeline": pipeline.figure(),
        "arena": memory.figure(),
        "lane-printers": lanes.printers_figure(),
        "lane-fused": lanes.fused_figure(),
        "conformance": conformance.figure(),
        **speed.figures(),
        **learning.figures(),
    }


def stale() -> list[str]:
    """Names of the drawings whose file is not what the code gives now."""
    return [
        name
        for name, text in figures().items()
        if not (path := IMAGES / f"{name}.svg").is_file() or path.read_text(encoding="utf-8") != text
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say which drawings are out of date")
    if parser.parse_args().check:
        names = stale()
        if names:
            sys.exit(f"out of date: {', '.join(names)}; run: python docs/figures/make.py")
        return
    IMAGES.mkdir(exist_ok=True)
    for name, text in figures().items():
        (IMAGES / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

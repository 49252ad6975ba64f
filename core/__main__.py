"""`python -m dovetail` is the command `dovetail`."""

from __future__ import annotations

from dovetail.cli import main

if __name__ == "__main__":
    main(prog_name="dovetail")

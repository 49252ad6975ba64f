"""Recordings, as `dovetail run --output run.npz` writes them: played at any speed, and scrubbed through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.store import TRAJECTORY, read_archive
from dovetail.contracts.types import Data, Model
from dovetail.errors import FileFormatError, ValidationError
from dovetail.simulation import Simulation
from dovetail.viewer.watched import DRAWN, Lens, geom_poses

FRAME = 1.0 / 60.0
"""Seconds of a recording that one step of it is."""


@attrs.frozen(eq=False)
class Recording:
    """Positions and velocities over time, of one world or a batch."""

    path: str
    times: Array
    qpos: Array
    """(samples, nq), or (samples, worlds, nq)."""
    qvel: Array
    nworld: int | None
    header: dict[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> Recording:
        """A recording; an error says what is wrong with the file."""
        header, arrays = read_archive(path, TRAJECTORY)
        missing = [name for name in ("time", "qpos", "qvel") if name not in arrays]
        if missing:
            raise FileFormatError(f"{path}: a recording without {', '.join(missing)}")
        times = np.asarray(arrays["time"], float).reshape(-1)
        lengths = {len(times), len(arrays["qpos"]), len(arrays["qvel"])}
        if not len(times) or len(lengths) > 1:
            raise FileFormatError(f"{path}: time, qpos and qvel have {sorted(lengths)} samples")
        if not (np.isfinite(times).all() and (np.diff(times) >= 0).all()):
            raise FileFormatError(f"{path}: its times do not go forward")
        return cls(str(path), times, arrays["qpos"], arrays["qvel"], header.get("nworld"), header)

    def misfits(self, model: Model) -> list[str]:
        """What of this recording belongs to another model than this."""
        shape = (len(self.times),) if self.nworld is None else (len(self.times), self.nworld)
        found = []
        for what, saved, here in (
            ("the model's name", self.header.get("model"), model.modelname),
            ("the shape of qpos", self.qpos.shape, (*shape, model.nq)),
            ("the shape of qvel", self.qvel.shape, (*shape, model.nv)),
            ("the timestep", self.header.get("timestep"), float(model.opt.timestep)),
        ):
            if saved != here:
                found.append(f"{what} is {saved!r} in the recording, {here!r} in the model")
        return found

    def check(self, model: Model) -> None:
        """Refuse a recording of another model, with everything that differs."""
        problems = self.misfits(model)
        if problems:
            raise ValidationError(
                f"{self.path} is a recording of another model than {model.source}", problems
            )

    def at(self, time: float) -> int:
        """The last sample at or before a time; the first one before all."""
        return max(0, int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1)


class Replay:
    """A recording as something watched: a step is a frame's worth of it, reset is its beginning."""

    def __init__(self, model: Model, recording: Recording, **settings: Any) -> None:
        recording.check(model)
        self.model, self.recording, self.nworld = model, recording, recording.nworld
        keep: Any = "all" if self.nworld is None else DRAWN
        self._own = Simulation(model, **{**settings, "nworld": self.nworld, "keep": keep, "on_nan": "freeze"})
        self._lens = Lens(model)
        self.clock = float(recording.times[0])
        """The time that is shown."""
        self._shown = -1
        self.refresh()

    @property
    def timestep(self) -> float:
        return FRAME

    @property
    def time(self) -> float:
        return self.clock

    @property
    def end(self) -> float:
        return float(self.recording.times[-1])

    def step(self, count: int) -> None:
        """Go on; at the end it begins again."""
        later = self.clock + count * FRAME
        self.seek(later if later <= self.end else float(self.recording.times[0]))

    def seek(self, time: float) -> None:
        """Show another time of it."""
        self.clock = float(np.clip(time, self.recording.times[0], self.end))
        self.refresh()

    def reset(self, keyframe: int | None) -> None:
        """Back to the beginning; keyframes are not part of it."""
        self.seek(float(self.recording.times[0]))

    def refresh(self) -> None:
        sample = self.recording.at(self.clock)
        if sample == self._shown:
            return
        self._shown = sample
        data = self._own.data
        data.qpos[...] = self.recording.qpos[sample]
        data.qvel[...] = self.recording.qvel[sample]
        self._own.forward()

    def bad_state(self) -> str:
        return ""

    def poses(self) -> tuple[Array, Array]:
        return geom_poses(self._own.data)

    def shown(self, world: int) -> Data:
        if self.nworld is None:
            return self._own.data
        return self._lens.look(self._own.data.world(world))

    def edited(self, world: int) -> Data | None:
        return None

"""One side in a process of its own: `python -m fuzz.worker ours`, `theirs` or `native`, asked with pickles by pipes.

MuJoCo may crash, and may corrupt its memory first; dovetail must not, but a fuzzer does not take its word. Each
request has a limit of processor time (the process dies of SIGPROF), and the process a limit of memory.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np

STEPS = 10
SECONDS = {"ours": 20, "theirs": 20, "native": 120}
"""Processor time that one request may take, by side: `native` is ours with kernels to be made."""
MORE_MEMORY = {"ours": 1 << 30, "theirs": 4 << 30, "native": 4 << 30}
"""Bytes beyond what the imported libraries take. A compiler that makes kernels lives under the same limit."""
FOLLOWED = ("time", "qpos", "qvel", "act", "qacc", "sensordata")
"""Fields of the state and of what follows from it that are compared after each step."""
NUDGE = 1e-14
"""By what the start is moved on MuJoCo's side, to see how far rounding alone would carry the motion."""
NUDGES, MORE_NUDGES = 3, 30
"""How often, and how often before a disagreement is believed."""

Answer = dict[str, Any]


# ---- what the processes do


def _settings(nu: int) -> Any:
    """Controls that are the same on both sides."""
    return 0.3 * np.sin(1.0 + np.arange(nu))


def _theirs(path: str, nudges: int = NUDGES) -> Answer:
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return {"refused": str(error) or "refused without a word"}
    fields = {name: _copied(_attribute(model, name)) for name in _their_names(model)}
    answer: Answer = {"fields": fields, "almost flat": _almost_flat(model)}
    try:
        answer["steps"] = _their_steps(model, 0)
        answer["nudged"] = [_their_steps(model, seed) for seed in range(1, nudges + 1)]
    except mujoco.FatalError as error:
        answer["stopped"] = str(error)
    return answer


def _almost_flat(model: Any) -> bool:
    """Whether a flex is flat but for rounding along some axis."""
    import mujoco

    if not model.nflex:
        return False
    data = mujoco.MjData(model)
    for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_flex):
        stage(model, data)
    parts = np.split(data.flexvert_xpos, model.flex_vertadr[1:])
    extents = np.array([np.ptp(points, axis=0) for points in parts if len(points)])
    return bool(((extents > 0) & (extents < 1e-12)).any())


def _their_steps(model: Any, seed: int) -> list[dict[str, Any]]:
    import mujoco

    data = mujoco.MjData(model)
    if seed:
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], model.nq)
        data.qpos[:] += NUDGE * signs * np.maximum(1.0, np.abs(data.qpos))
    data.ctrl[:] = _settings(model.nu)
    states = []
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        states.append({name: np.array(getattr(data, name)) for name in FOLLOWED})
    return states


def _their_names(model: Any) -> Iterator[str]:
    from . import fields

    return fields.compared_names(model)


def _attribute(holder: Any, name: str) -> Any:
    for part in name.split("."):
        holder = getattr(holder, part)
    return holder


def _copied(value: Any) -> Any:
    return np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.array(value)


def _ours(path: str, names: list[str]) -> Answer:
    import dovetail
    import dovetail.errors

    model = dovetail.load(path, config=dovetail.Config())
    fields = {name: _copied(_attribute(model, name)) for name in names}
    simulation = dovetail.Simulation(model, config=dovetail.Config())
    simulation.data.ctrl[:] = _settings(model.nu)
    states = []
    for _ in range(STEPS):
        simulation.step()
        states.append({name: np.array(getattr(simulation.data, name)) for name in FOLLOWED})
    return {"fields": fields, "steps": states}


def _recorded(path: str, seed: int, nudges: int) -> Answer:
    from . import stepper_theirs

    return stepper_theirs.recorded(path, seed, nudges)


def _stepped(path: str, theirs: Answer, seed: int) -> Answer:
    from . import stepper_ours

    return stepper_ours.stepped(path, theirs, seed)


def _state(path: str, model_path: str) -> Answer:
    """Load a file of a state."""
    import dovetail

    simulation = dovetail.Simulation(
        dovetail.load(model_path, config=dovetail.Config()), config=dovetail.Config()
    )
    simulation.load(path)
    simulation.step()
    return {}


def _model(path: str) -> Answer:
    """Load a file of a Model, and use it."""
    import dovetail

    simulation = dovetail.Simulation(dovetail.load_model(path), config=dovetail.Config())
    simulation.step(2)
    return {}


def _config(path: str) -> Answer:
    import dovetail

    config = dovetail.Config.of_file(path)
    dovetail.Simulation(dovetail.load("pendulum", config=dovetail.Config()), config=config).plan.explain()
    return {}


def _make(folder: str) -> Answer:
    """Write the files that other requests damage: a state and a Model."""
    import dovetail

    model = dovetail.load("pendulum", config=dovetail.Config())
    dovetail.Simulation(model, config=dovetail.Config()).save(str(Path(folder) / "state.npz"))
    from dovetail.contracts import model_store

    model_store.save(model, Path(folder) / "model.npz")
    return {"model": str(dovetail.simulation.MODELS / "pendulum.xml")}


def _guarded(work: Callable[..., Answer], *arguments: Any) -> Answer:
    """What came of it on our side: an answer, a typed refusal, or anything else, which is a failure."""
    from dovetail.errors import DovetailError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work(*arguments)
        except DovetailError as error:
            return {"refused": f"{type(error).__name__}: {error}"}
        except MemoryError:
            return {"failed": "memory", "told": traceback.format_exc()[-2000:]}
        except Exception as error:
            return {"failed": "untyped", "type": type(error).__name__, "told": traceback.format_exc()[-3000:]}


WORK: dict[str, Callable[..., Answer]] = {
    "theirs": _theirs,
    "ours": lambda *a: _guarded(_ours, *a),
    "recorded": _recorded,
    "stepped": lambda *a: _guarded(_stepped, *a),
    "state": lambda *a: _guarded(_state, *a),
    "model": lambda *a: _guarded(_model, *a),
    "config": lambda *a: _guarded(_config, *a),
    "make": lambda *a: _guarded(_make, *a),
}


def serve(side: str) -> None:
    """Answer requests until the pipe closes. What libraries print does not get into the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    if side == "theirs":
        import mujoco  # noqa: F401
    else:
        import dovetail.simulation  # noqa: F401
    _limit_memory(MORE_MEMORY[side])
    while True:
        try:
            work, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, SECONDS[side])
        answer = WORK[work](*arguments)
        signal.setitimer(signal.ITIMER_PROF, 0)
        pickle.dump(answer, answers, protocol=5)
        answers.flush()


def _limit_memory(more: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


# ---- asking them


@attrs.define
class Worker:
    """A child process that is started again when it dies, and after many requests."""

    side: str
    folder: Path
    most: int = 400
    """Requests after which the process is replaced: memory that a document corrupted does not stay for ever."""
    child: Any = None
    asked: int = 0

    def ask(self, work: str, *arguments: Any) -> Answer:
        self.send(work, *arguments)
        return self.receive()

    def send(self, work: str, *arguments: Any) -> None:
        if self.child is None or self.asked >= self.most:
            self.close()
            self._start()
        self.asked += 1
        with contextlib.suppress(BrokenPipeError):  # it died of the request before: `receive` will tell
            pickle.dump((work, arguments), self.child.stdin, protocol=5)
            self.child.stdin.flush()

    def receive(self) -> Answer:
        """The answer; `failed` is `hang` or `crash` if the process died of it."""
        try:
            answer: Answer = pickle.load(self.child.stdout)
            return answer
        except (EOFError, pickle.UnpicklingError):
            code = self.child.wait()
            told = self.child.stderr.read().decode(errors="replace")[-1500:]
            self.close()
            hang = code == -signal.SIGPROF
            return {"failed": "hang" if hang else "crash", "told": f"exit code {code}\n{told}"}

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
            self.child = None

    def _start(self) -> None:
        package = __package__ or "fuzz"
        top = Path(__file__).resolve().parents[len(package.split("."))]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = os.pathsep.join([str(top), os.environ.get("PYTHONPATH", "")]).rstrip(
            os.pathsep
        )
        errors = open(self.folder / f"{self.side}.err", "w+b")  # noqa: SIM115 - closed with the child
        self.child = subprocess.Popen(
            [sys.executable, "-m", f"{package}.worker", self.side],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=self.folder,
            env=environment,
        )
        self.child.stderr = errors
        self.asked = 0


if __name__ == "__main__":
    os.environ["DOVETAIL_MODEL_CACHE"] = "0"  # it is the compiler that is looked at
    serve(sys.argv[1])

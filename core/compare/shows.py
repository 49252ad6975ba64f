"""What a model and a state may show: a divergence of two implementations or from MuJoCo, a bad state, a crash.

Each is a small record with `shows(trial)`. Models that do not load show nothing, unless that is the crash looked for.
"""

from __future__ import annotations

import multiprocessing
import pkgutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs
import numpy as np

from dovetail.compare.carried import Carried
from dovetail.compare.errors import relative_error
from dovetail.contracts.types import Model
from dovetail.errors import BadStateError, DovetailError

DIED, HUNG = "died", "hung"
"""What a process that crashed, or took too long, is said to have raised."""


@attrs.frozen(eq=False)
class Trial:
    """A model as text, with its files and a state."""

    text: bytes
    assets: Mapping[str, bytes]
    state: Carried

    def model(self) -> Model:
        from dovetail.loading import loads

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return loads(self.text, assets=dict(self.assets))

    def model_or_none(self) -> Model | None:
        """The same; None if it does not load."""
        try:
            return self.model()
        except Exception:  # whatever a model that crashes something raises
            return None


class Shows(Protocol):
    """Something that a trial may show."""

    def shows(self, trial: Trial) -> bool: ...

    def words(self) -> str:
        """What is shown, and the Python that shows it from `model.xml`."""
        ...


@attrs.frozen(kw_only=True)
class Differs:
    """Two implementations of a slot differ beyond the tolerances of the fields."""

    stage: str
    a: str
    b: str
    steps: int = 1

    def shows(self, trial: Trial) -> bool:
        from dovetail.compare.ab import _Pair
        from dovetail.compare.isolate import Worlds, shared_data
        from dovetail.registry import default_registry

        registry = default_registry()
        try:
            model = trial.model()
            pair = _Pair.of(model, self.stage, (self.a, self.b), Worlds(), registry)
        except DovetailError:
            return False
        data = shared_data(model, pair.worlds, registry)
        trial.state.put(data)
        for _ in range(self.steps):
            for evaluation in range(pair.first.plan.evaluations):
                pair.first.prepare(data, evaluation)
                pair.compare(data, evaluation, 1)
                if any(not row.ok for row in pair.worst.sorted_rows()):
                    return True
                pair.first.run(data, evaluation)
                pair.first.finish(data, evaluation)
        return False

    def words(self) -> str:
        return f"{self.stage}: {self.b} differs from {self.a} within {self.steps} step(s)"


@attrs.frozen(kw_only=True)
class DiffersFromMujoco:
    """The state after some steps is not MuJoCo's."""

    steps: int = 1
    tolerance: float = 1e-6
    backend: str = "numpy"

    def shows(self, trial: Trial) -> bool:
        from dovetail.compare.oracle import require_mujoco
        from dovetail.simulation import Simulation

        mujoco = require_mujoco()
        try:
            sim = Simulation(trial.model(), backend=self.backend)
            theirs = mujoco.MjModel.from_xml_string(trial.text.decode(), dict(trial.assets))
        except (DovetailError, ValueError):
            return False
        trial.state.put(sim.data)
        other = mujoco.MjData(theirs)
        for name in sim.data.state:
            if hasattr(other, name) and np.shape(getattr(other, name)) == np.shape(sim.data.field(name)):
                if name == "time":
                    other.time = float(sim.data.time)
                else:
                    getattr(other, name)[...] = sim.data.field(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim.step(self.steps)
        mujoco.mj_step(theirs, other, self.steps)
        fields = ("qpos", "qvel", "act")
        return any(relative_error(sim.data.field(f), getattr(other, f)) > self.tolerance for f in fields)

    def words(self) -> str:
        return f"the state after {self.steps} step(s) differs from MuJoCo's by more than {self.tolerance:g}"


@attrs.frozen(kw_only=True)
class GoesBad:
    """A number of the state becomes NaN, infinite or too large."""

    steps: int = 100
    backend: str = "numpy"

    def shows(self, trial: Trial) -> bool:
        from dovetail.simulation import Simulation

        try:
            sim = Simulation(trial.model(), backend=self.backend, on_nan="raise")
        except DovetailError:
            return False
        trial.state.put(sim.data)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sim.step(self.steps)
        except BadStateError:
            return True
        return False

    def words(self) -> str:
        return f"the state goes bad within {self.steps} steps"


@attrs.frozen(kw_only=True)
class Crashes:
    """Loading or stepping raises an exception of this type, or ends the process (`died`, `hung`)."""

    kind: str
    steps: int = 1
    backend: str = "numpy"

    def shows(self, trial: Trial) -> bool:
        from dovetail.simulation import Simulation

        try:
            sim = Simulation(trial.model(), backend=self.backend)
            trial.state.put(sim.data)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sim.step(self.steps)
        except Exception as error:
            return self.kind in {kind.__name__ for kind in type(error).__mro__}
        return False

    def words(self) -> str:
        ends = {DIED: "ends the process", HUNG: "takes too long"}
        return f"loading it, or {self.steps} step(s), {ends.get(self.kind, f'raises {self.kind}')}"


@attrs.frozen(kw_only=True)
class Answers:
    """A function of one's own, `package.module:function`, says so of a Trial."""

    target: str

    def shows(self, trial: Trial) -> bool:
        return bool(pkgutil.resolve_name(self.target)(trial))

    def words(self) -> str:
        return f"{self.target} says so"


# ---- in a process of its own


@attrs.define
class InProcess:
    """Asks in another process, which may crash or take too long; then that is the answer."""

    what: Shows
    seconds: float = 20.0
    _process: Any = None
    _pipe: Any = None

    def shows(self, trial: Trial) -> bool:
        kind = getattr(self.what, "kind", "")
        answer = self._ask(trial)
        return answer == kind if isinstance(answer, str) else answer

    def words(self) -> str:
        return self.what.words()

    def _ask(self, trial: Trial) -> bool | str:
        if self._process is None:
            self._start()
        try:
            self._pipe.send((self.what, trial))
            if not self._pipe.poll(self.seconds):
                self.close()
                return HUNG
            answer: bool | str = self._pipe.recv()
        except (EOFError, OSError):
            self.close()
            return DIED
        return answer

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None


def serve(pipe: Any) -> None:
    """Answer trials until nobody asks."""
    while True:
        try:
            what, trial = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(what.shows(trial))
        except Exception as error:
            pipe.send(type(error).__name__)


def document(path: str | Path) -> tuple[Any, dict[str, bytes]]:
    """A model file as a tree with what it includes put in its place, and the files that it names."""
    from dovetail.compare.shrink import parsed

    path = Path(path)
    root = parsed(path.read_bytes())
    _include(root, path.parent, set())
    return root, _files(root, path.parent)


def _include(root: Any, folder: Path, seen: set[Path]) -> None:
    from dovetail.compare.shrink import parsed

    for include in list(root.iter("include")):
        path = (folder / (include.get("file") or "")).resolve()
        if path in seen or not path.is_file():
            raise DovetailError(
                f"cannot put {include.get('file')!r} in its place: no such file, or it includes itself"
            )
        inner = parsed(path.read_bytes())
        _include(inner, folder, {*seen, path})
        for child in list(inner):
            include.addprevious(child)
        include.getparent().remove(include)


_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_FOLDERS = ("", "meshdir", "texturedir", "assetdir")


def _files(root: Any, folder: Path) -> dict[str, bytes]:
    """Files by the path that the model resolves their names to."""
    compilers = list(root.iter("compiler"))
    folders = ["", *(c.get(k) for c in compilers for k in _FOLDERS if k and c.get(k))]
    found = {}
    for element in root.iter():
        for name in filter(None, map(element.get, _FILES)):
            for inner in folders:
                place = f"{inner.rstrip('/')}/{name}" if inner else name
                if (folder / place).is_file():
                    found[place] = (folder / place).read_bytes()
    return found

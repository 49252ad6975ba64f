"""Finding plugins: what is registered, what clashes, what is broken and what is switched off."""

from __future__ import annotations

import importlib.metadata
import sys
import warnings
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dovetail import registry as registry_module
from dovetail.backends.numpy import NumpyBackend
from dovetail.errors import PluginError, UnknownImplementationError, UnknownStageError
from dovetail.plugin import Implementation, hookimpl
from dovetail.registry import Registry, build_registry, default_registry


def of(stage: str, **said: Any) -> Implementation:
    return Implementation(stage=stage, **{"name": "mine", "backend": "numpy", "target": "m:f", **said})


def test_a_record_is_found_by_slot_and_label(registry: Registry) -> None:
    registry.add(of("integrate", name="leapfrog"))
    assert registry.get("integrate", "leapfrog@numpy").name == "leapfrog"
    assert registry.find("integrate", "leapfrog", "numpy") is registry.get("integrate", "leapfrog@numpy")
    assert registry.find("integrate", "leapfrog", "taichi") is None


def test_the_same_label_twice_names_both_providers(registry: Registry) -> None:
    registry.add(of("integrate", provider="first-package"))
    with pytest.raises(
        PluginError,
        match="integrate mine@numpy is registered twice: by first-package and by second-package; "
        "disable one with DOVETAIL_DISABLED_PLUGINS",
    ):
        registry.add(of("integrate", provider="second-package"))


def test_the_same_name_on_two_backends_or_in_two_rows_is_no_clash(registry: Registry) -> None:
    registry.add(of("passive_force", key="wind"))
    registry.add(of("passive_force", key="wind", backend="taichi"))
    registry.add(of("passive_force", key="rain"))
    assert {"wind", "rain"} <= set(registry.keys("passive_force"))


def test_stages_that_all_plugins_share_take_equal_labels(registry: Registry) -> None:
    registry.add(of("step_end", provider="a"))
    registry.add(of("step_end", provider="b"))
    assert len(registry.of("step_end")) == 2


@pytest.mark.parametrize(
    ("stage", "key", "text"), [("passive_force", None, "stage needs key"), ("integrate", "x", "takes no key")]
)
def test_a_row_needs_a_key_and_a_stage_takes_none(
    registry: Registry, stage: str, key: str | None, text: str
) -> None:
    with pytest.raises(PluginError, match=text):
        registry.add(of(stage, key=key))


def test_an_unknown_stage_names_the_nearest(registry: Registry) -> None:
    with pytest.raises(
        UnknownStageError, match=r"there is no stage 'integrat'; did you mean 'integrate'\? Stages: "
    ):
        registry.add(of("integrat"))


def test_an_unknown_field_in_a_record_names_the_nearest(registry: Registry) -> None:
    with pytest.raises(PluginError, match=r"there is no Data or kernel field 'qvell'; did you mean 'qvel'\?"):
        registry.add(of("energy", reads="qpos qvell"))
    with pytest.raises(PluginError, match="there is no Data or kernel field 'mine:x'"):
        registry.add(of("energy", writes="mine:x"))


def test_an_unknown_label_or_backend_lists_what_exists(registry: Registry) -> None:
    with pytest.raises(
        UnknownImplementationError, match=r"there is no 'rk5@numpy'; did you mean 'rk4@numpy'\?.*euler@taichi"
    ):
        registry.get("integrate", "rk5@numpy")
    with pytest.raises(
        UnknownImplementationError,
        match=r"no backend 'taici'; did you mean 'taichi'\? Installed: native, numpy, taichi",
    ):
        registry.backend("taici")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"name": "My Name"}, "name 'My Name'"),
        ({"backend": "C++"}, "backend"),
        ({"target": "module"}, "target 'module'"),
    ],
)
def test_a_malformed_record_cannot_be_made(said: dict[str, str], text: str) -> None:
    with pytest.raises(PluginError, match=f"{text}.* is not valid"):
        of("integrate", **said)


# ---- third parties, through entry points


def plugin_module(*records: Implementation, **hooks: Callable[..., Any]) -> ModuleType:
    module = ModuleType("third_party_plugin")

    def dovetail_implementations() -> list[Implementation]:
        return list(records)

    module.dovetail_implementations = hookimpl(dovetail_implementations)  # type: ignore[attr-defined]
    for name, function in hooks.items():
        setattr(module, name, hookimpl(function))
    return module


class Entry:
    """An installed entry point."""

    def __init__(self, name: str, plugin: object) -> None:
        self.name = name
        self.dist = SimpleNamespace(name=f"dovetail-{name}", version="2.1")
        self._plugin = plugin
        self.loaded = 0

    def load(self) -> object:
        self.loaded += 1
        if isinstance(self._plugin, Exception):
            raise self._plugin
        return self._plugin


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that distributions with these entry points are installed."""

    def pretend(*entries: Entry) -> None:
        def entry_points(group: str) -> tuple[Entry, ...]:
            return entries if group == "dovetail.plugins" else ()

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        monkeypatch.setattr(registry_module, "_cached", None)

    return pretend


def status(registry: Registry, name: str) -> tuple[str, str, str]:
    info = next(p for p in registry.plugins if p.name == name)
    return info.status, info.distribution, info.version


def test_an_installed_plugins_records_carry_its_distribution(install: Callable[..., None]) -> None:
    install(Entry("wind", plugin_module(of("passive_force", key="wind"))))
    registry = build_registry()
    assert status(registry, "wind") == ("active", "dovetail-wind", "2.1")
    assert registry.of("passive_force:wind")[0].provider == "dovetail-wind"


BROKEN = {
    "import": ImportError("no module named 'left_pad'"),
    "hook": plugin_module(dovetail_implementatoins=lambda: ()),
    "stage": plugin_module(of("kinematix")),
    "clash": plugin_module(of("integrate", name="euler")),
    "bare": plugin_module(energy=lambda model, data: None),
    "signature": plugin_module(energy=lambda modell, data: None),
    "backend": plugin_module(dovetail_backends=lambda: [SimpleNamespace(name="numpy")]),
}
REASONS = {
    "import": "ImportError: no module named 'left_pad'",
    "hook": "dovetail_implementatoins",
    "stage": "there is no stage 'kinematix'; did you mean 'kinematics'",
    "clash": "registered twice: by dovetail and by dovetail-bad",
    "bare": "return an Implementation\\(stage='energy'",
    "signature": "modell",
    "backend": "backend 'numpy' of dovetail-bad is registered already",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_plugin_warns_with_its_distribution_and_leaves_the_rest(
    install: Callable[..., None], what: str
) -> None:
    good = plugin_module(of("passive_force", key="wind"))
    install(Entry("bad", BROKEN[what]), Entry("wind", good))
    with pytest.warns(
        UserWarning, match=f"plugin 'bad' of dovetail-bad is broken and left out: (.|\n)*{REASONS[what]}"
    ):
        registry = build_registry()
    assert status(registry, "bad")[0] == "broken"
    assert status(registry, "wind")[0] == "active"
    assert not [r for r in registry.implementations if r.provider == "dovetail-bad"]
    assert registry.backends.keys() == build_registry(third_party=False).backends.keys()


def test_a_plugin_that_breaks_half_way_leaves_nothing_behind(install: Callable[..., None]) -> None:
    install(Entry("bad", plugin_module(of("passive_force", key="wind"), of("nonsense"))))
    with pytest.warns(UserWarning, match="left out"):
        registry = build_registry()
    assert not registry.of("passive_force:wind")


def test_the_warning_comes_once_per_process(install: Callable[..., None]) -> None:
    install(Entry("bad", ImportError("gone")))
    with pytest.warns(UserWarning, match="broken"):
        first = default_registry()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert default_registry() is first


@pytest.mark.parametrize("by", ["wind", "dovetail-wind", "other, wind"])
def test_a_disabled_plugin_is_listed_but_never_loaded(
    install: Callable[..., None], monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    entry = Entry("wind", plugin_module(of("passive_force", key="wind")))
    install(entry)
    monkeypatch.setenv("DOVETAIL_DISABLED_PLUGINS", by)
    registry = build_registry()
    assert status(registry, "wind")[0] == "disabled"
    assert entry.loaded == 0
    assert not registry.of("passive_force:wind")


def test_the_registry_is_rebuilt_when_the_disabled_set_changes(
    install: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(Entry("wind", plugin_module(of("passive_force", key="wind"))))
    assert default_registry().of("passive_force:wind")
    monkeypatch.setenv("DOVETAIL_DISABLED_PLUGINS", "wind")
    assert not default_registry().of("passive_force:wind")


def test_plugins_load_in_order_of_their_names(install: Callable[..., None]) -> None:
    install(Entry("zeta", plugin_module()), Entry("alpha", plugin_module()))
    names = [p.name for p in build_registry().plugins]
    assert names.index("alpha") < names.index("zeta")


def test_discovery_imports_no_implementation(registry: Registry) -> None:
    sys.modules.pop("never_imported", None)
    registry.add(of("energy", target="never_imported:energy"))
    assert "never_imported" not in sys.modules


class _Printer(NumpyBackend):
    """Another backend that speaks the lane language."""

    name = "printer"
    language = "lanes"


def test_a_record_in_a_language_is_there_on_every_backend_that_speaks_it(registry: Registry) -> None:
    before = {r.label for r in registry.of("mass_matrix")}
    assert before == {"crb@native", "crb@numpy", "crb@taichi"}
    registry.add_backend(_Printer())
    assert {r.label for r in registry.of("mass_matrix")} == before | {"crb@printer"}
    one = Implementation(stage="energy", name="late", backend="lanes", target="late:energy")
    assert [r.label for r in registry.add(one)] == ["late@native", "late@taichi", "late@printer"]


def test_a_record_on_a_backend_is_there_on_that_one_alone(registry: Registry) -> None:
    registry.add_backend(_Printer())
    one = Implementation(stage="energy", name="mine", backend="taichi", target="mine:energy")
    assert [r.label for r in registry.add(one)] == ["mine@taichi"]
    assert registry.find("energy", "mine", "printer") is None


def test_a_record_in_a_language_that_nobody_speaks_waits_for_a_backend(registry: Registry) -> None:
    one = Implementation(stage="energy", name="odd", backend="runes", target="odd:energy")
    assert [r.label for r in registry.add(one)] == ["odd@runes"]
    rune = type("Rune", (NumpyBackend,), {"name": "stone", "language": "runes"})()
    registry.add_backend(rune)
    assert [r.label for r in registry.of("energy") if r.name == "odd"] == ["odd@stone"]


def test_a_backend_that_lacks_something_is_refused_by_name(registry: Registry) -> None:
    half = type("Half", (), {"name": "half", "language": "half", "install": "half", "in_place": False})()
    with pytest.raises(
        PluginError, match=r"backend 'half' lacks check, compile, keeps, lanes, missing, takes_whole_steps"
    ):
        registry.add_backend(half)
    assert "half" not in registry.backends


def test_a_record_that_was_refused_is_offered_to_no_later_backend(registry: Registry) -> None:
    with pytest.raises(PluginError, match="no_such_field"):
        registry.add(
            Implementation(
                stage="energy", name="bad", backend="lanes", target="bad:energy", reads="no_such_field"
            )
        )
    registry.add_backend(_Printer())
    assert not [r for r in registry.of("energy") if r.name == "bad"]

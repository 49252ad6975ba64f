"""What rules say of a model: features, needs, keys of parts; and that third parties can state their own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import dovetail
from dovetail import pipeline
from dovetail import registry as registry_module
from dovetail.contracts.enums import DisableBit
from dovetail.errors import PluginError
from dovetail.features import FeatureGroup, features
from dovetail.planning.dependencies import DecidingValues
from dovetail.planning.needs import EVERY_MODEL, ModelFacts, known_features
from dovetail.plugin import Implementation, hookimpl
from dovetail.registry import Registry

MODULE = "acme_rules"

ARM = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><camera fovy="30"/><body pos="0 0 1">
<joint name="j" range="-1 1" limited="true"/><geom name="g" type="box" size=".1 .1 .1" group="2"/>
<site name="s"/></body></worldbody>
<actuator><general joint="j" dyntype="filter" gaintype="affine"/></actuator>
<sensor><gyro site="s"/><touch site="s"/><touch site="s"/></sensor></mujoco>"""

Rules = Callable[..., str]
RecordMaker = Callable[..., Implementation]


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Rules:
    """Put a rule into a module that can be imported; gives its `module:function`."""
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)

    def state(rule: Callable[[Any], Any]) -> str:
        name = f"rule{len(vars(module))}"
        setattr(module, name, rule)
        return f"{MODULE}:{name}"

    return state


@pytest.fixture
def arm() -> dovetail.Model:
    return dovetail.loads(ARM)


def test_a_stage_without_a_rule_is_needed_by_every_model(arm: dovetail.Model, registry: Registry) -> None:
    facts = ModelFacts(arm, registry)
    assert facts.need("kinematics") == EVERY_MODEL == facts.need("passive_force:spring")


def test_rules_give_reasons_in_words(arm: dovetail.Model, registry: Registry) -> None:
    facts = ModelFacts(arm, registry)
    assert facts.need("actuation") == "1 actuator"
    assert facts.need("broadphase") == "geoms that can collide"
    assert facts.need("constraint_rows") == "1 limit, geoms that can collide" == facts.constrained()
    assert facts.need("sensor") == "3 sensors"
    assert facts.need("sensor:touch") == "2 touch sensors"
    assert facts.need("sensor:clock") == facts.need("tendon") == facts.need("energy") == ""


def test_every_reason_is_listed_in_the_order_of_a_step(arm: dovetail.Model, registry: Registry) -> None:
    reasons = ModelFacts(arm, registry).reasons()
    assert reasons["narrowphase"] == "geoms that can collide"
    assert reasons["passive_force:flex"] == ""
    stages = list(dict.fromkeys(slot.partition(":")[0] for slot in reasons))
    assert stages == [name for name in pipeline.STEP if name in stages]
    assert "kinematics" not in reasons


def test_rows_that_nobody_implements_are_known(arm: dovetail.Model, registry: Registry) -> None:
    facts = ModelFacts(arm, registry)
    assert "flex" in facts.known_rows("passive_force")
    assert facts.known_rows("constraint_rows") == []


def test_stages_of_observation_run_on_request(arm: dovetail.Model, registry: Registry) -> None:
    facts = ModelFacts(arm, registry)
    assert [name for name in pipeline.STEP if facts.on_request(name)] == ["subtree_velocity", "body_forces"]


def test_features_name_what_the_model_uses(arm: dovetail.Model, registry: Registry) -> None:
    used = ModelFacts(arm, registry).features
    assert {"joint.hinge", "dyn.filter", "gain.affine", "flex.none", "meeting.plane-box"} <= used
    assert "joint.ball" not in used
    assert used <= known_features(registry)
    assert used == features(arm)


def test_keys_of_parts_are_members_of_their_feature_group(arm: dovetail.Model, registry: Registry) -> None:
    facts = ModelFacts(arm, registry)
    assert facts.part_keys(pipeline.stage("actuator_dynamics")) == ["filter"]
    assert facts.part_keys(pipeline.stage("collide_pair")) == ["plane-box"]


def test_a_key_without_a_row_counts_only_where_every_key_must_have_one(
    arm: dovetail.Model, registry: Registry
) -> None:
    none = registry.copy()
    none.implementations = []
    facts = ModelFacts(arm, none)
    assert facts.part_keys(pipeline.stage("actuator_dynamics")) == ["filter"]
    assert facts.part_keys(pipeline.stage("collide_pair")) == []


def test_groups_that_part_tables_name_are_stated(registry: Registry) -> None:
    named = {stage.keys for stage in pipeline.STAGES.values() if stage.keys}
    assert named <= set(registry.feature_groups)


def test_every_rule_that_a_hookspec_names_can_be_imported(arm: dovetail.Model, registry: Registry) -> None:
    facts = ModelFacts(arm, registry)
    assert all(isinstance(facts.need(name), str) for name in pipeline.STAGES)
    assert all(isinstance(reason, str) for reason in facts.reasons().values())


def test_a_row_of_a_third_party_is_needed_by_its_own_rule(
    arm: dovetail.Model, registry: Registry, record: RecordMaker, rules: Rules
) -> None:
    windy = rules(lambda model: "wind" if model.opt.wind.any() else "")
    record("passive_force", key="sail", needed=windy)
    assert ModelFacts(arm, registry).need("passive_force:sail") == ""
    assert "passive_force:sail" in ModelFacts(arm, registry).reasons()
    arm.opt.wind[0] = 3
    assert ModelFacts(arm, registry).need("passive_force:sail") == "wind"


def test_a_row_is_needed_if_any_rule_about_it_answers(
    arm: dovetail.Model, registry: Registry, record: RecordMaker, rules: Rules
) -> None:
    record("sensor", key="clock", needed=rules(lambda model: "a clock of ours"))
    record("sensor", key="touch", needed=rules(lambda model: ""))
    facts = ModelFacts(arm, registry)
    assert facts.need("sensor:clock") == "a clock of ours"
    assert facts.need("sensor:touch") == "2 touch sensors"


def test_a_records_rule_cannot_make_a_whole_stage_optional(
    arm: dovetail.Model, registry: Registry, record: RecordMaker, rules: Rules
) -> None:
    record("kinematics", needed=rules(lambda model: ""))
    assert ModelFacts(arm, registry).need("kinematics") == EVERY_MODEL


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("no_such_module:rule", "the need for passive_force:sail: importing no_such_module failed"),
        ("dovetail.plugins.model_rules.sensors:energi", "has no 'energi'; did you mean 'energy'"),
    ],
)
def test_a_rule_that_is_not_there_is_told_with_its_slot(
    arm: dovetail.Model, registry: Registry, record: RecordMaker, target: str, text: str
) -> None:
    record("passive_force", key="sail", needed=target)
    with pytest.raises(PluginError, match=text):
        ModelFacts(arm, registry).need("passive_force:sail")


def collect(registry: Registry, groups: list[FeatureGroup], records: list[Implementation]) -> None:
    """Register a plugin as an installed one would be."""
    plugin = SimpleNamespace(
        dovetail_features=hookimpl(lambda: groups), dovetail_implementations=hookimpl(lambda: records)
    )
    registry_module._collect(registry, plugin, "acme", "acme-rules")


def test_a_third_partys_features_join_the_models_and_records_may_name_them(
    arm: dovetail.Model, registry: Registry, rules: Rules
) -> None:
    group = FeatureGroup(
        name="acme_group",
        members=("low", "high"),
        of=rules(lambda m: ["high"] if m.geom_group.any() else ["low"]),
    )
    only_low = Implementation(
        stage="energy", name="simple", backend="numpy", target="m:f", supports="acme_group.low"
    )
    collect(registry, [group], [only_low])
    facts = ModelFacts(arm, registry)
    assert "acme_group.high" in facts.features
    assert facts.unsupported(("acme_group.low",)) == ["acme_group.high"]
    assert {"acme_group.low", "acme_group.high"} <= known_features(registry)
    assert features(arm, registry) == facts.features


def test_a_feature_that_no_group_has_is_refused(registry: Registry, rules: Rules) -> None:
    group = FeatureGroup(name="acme_group", members=("low", "high"), of=rules(lambda model: []))
    wrong = Implementation(
        stage="energy", name="s", backend="numpy", target="m:f", supports="acme_group.hihg"
    )
    with pytest.raises(
        PluginError, match=r"'acme_group.hihg', which is no feature; did you mean 'acme_group.high'"
    ):
        collect(registry, [group], [wrong])
    assert "acme_group" not in registry.feature_groups


def test_an_open_group_takes_any_member(registry: Registry, rules: Rules) -> None:
    group = FeatureGroup(name="acme_maker", members=None, of=rules(lambda model: ["x"]))
    record = Implementation(
        stage="energy", name="s", backend="numpy", target="m:f", supports="acme_maker.anything"
    )
    collect(registry, [group], [record])
    assert registry.find("energy", "s", "numpy") is not None


def test_two_plugins_may_not_state_the_same_group(registry: Registry, rules: Rules) -> None:
    group = FeatureGroup(name="joint", members=("free",), of=rules(lambda model: []))
    with pytest.raises(PluginError, match="feature group 'joint' of acme is stated by model_rules already"):
        collect(registry, [group], [])


# ---- what decisions depend on


def test_the_fields_that_rules_read_are_known(arm: dovetail.Model, registry: Registry) -> None:
    facts = ModelFacts(arm, registry)
    assert facts.looked_at == frozenset()
    assert facts.need("energy") == ""
    assert facts.looked_at == {"opt.enableflags", "opt.disableflags", "sensor_type"}
    facts.need("constraint_rows")
    assert {"opt.disableflags", "dof_frictionloss", "jnt_limited", "geom_contype"} <= facts.looked_at
    assert "body_mass" not in facts.looked_at


@pytest.mark.parametrize(
    ("field", "rule", "edit"),
    [
        ("cam_fovy", lambda model: "lens" if model.cam_fovy[0] > 0 else "", lambda m: m.cam_fovy.fill(-1)),
        ("geom_group", lambda model: str(model.geom_group.max()), lambda m: m.geom_group.fill(1)),
        ("opt.wind", lambda model: str(model.opt.wind.any()), lambda m: m.opt.wind.fill(1)),
        ("site_group", lambda model: str(model.site("s").group), lambda m: m.site_group.fill(1)),
    ],
)
def test_a_rule_that_reads_an_exotic_field_makes_the_key_depend_on_it(
    arm: dovetail.Model,
    registry: Registry,
    record: RecordMaker,
    rules: Rules,
    field: str,
    rule: Callable[[Any], str],
    edit: Callable[[dovetail.Model], None],
) -> None:
    without = DecidingValues.of(arm, _looked_at(arm, registry))
    record("passive_force", key="sail", needed=rules(rule))
    assert field in _looked_at(arm, registry)
    key = DecidingValues.of(arm, _looked_at(arm, registry))
    assert key.holds(arm)
    edit(arm)
    assert without.holds(arm)
    assert not key.holds(arm)


def _looked_at(model: dovetail.Model, registry: Registry) -> frozenset[str]:
    """What all rules about a model read."""
    facts = ModelFacts(model, registry)
    facts.reasons(), facts.features
    return facts.looked_at


def test_a_flag_that_ends_a_rule_early_is_what_its_answer_depends_on(
    arm: dovetail.Model, registry: Registry
) -> None:
    arm.opt.disableflags = int(DisableBit.CONSTRAINT)
    facts = ModelFacts(arm, registry)
    assert facts.constrained() == ""
    assert facts.looked_at == {"opt.disableflags"}

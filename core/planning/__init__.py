"""Planning: from a model and what the user wants to a plan that steps it.

Begin with `planner.compile_plan`, which reads as the list of decisions, and `plan.Plan`, which is what was decided.

- choosing: `selection` (the one rule: call, environment, file, model, default), `plan_selection` (what runs),
  `loading_selection` (what loads a model);
- what the model asks for: `needs` (rules of plugins), `dependencies` (the values that decisions rest on);
- what passes between slots: `flow`, `per_world`, `replay`;
- running: `execution` (compiles segments when first run, and runs them), `explain` (the plan as text), `wrappers`.

Nothing here knows physics or a backend; stages and backends are found in the registry. Tests: `tests/kernel`, of
which `test_selection`, `test_planner` and `test_explain` show what a user sees.
"""

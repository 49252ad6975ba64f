"""A stage for any object with MuJoCo's names."""

from dovetail.plugin import DataLike, Implementation, ModelLike, hookimpl


def air(model: ModelLike, data: DataLike) -> None:
    drag = 0.01 * model.opt.density
    data.qfrc_passive[:] -= drag * abs(data.qvel) * data.qvel
    data.qfrc_passive -= drag


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [Implementation(stage="passive_force", key="drag", name="air", backend="numpy", target="drag:air")]

"""What goes wrong with environments, as Gymnasium's errors and dovetail's at once."""

from __future__ import annotations

import gymnasium

from dovetail.errors import ArgumentError, DovetailError


class BadActionError(ArgumentError, gymnasium.error.InvalidAction):
    """Actions of a wrong shape or kind, or that are no numbers. Nothing was stepped."""


class BadSeedError(ArgumentError, gymnasium.error.Error):
    """A seed that is no whole number, or negative. Nothing was reset."""


class ResetNeededError(DovetailError, gymnasium.error.ResetNeeded):
    """A step before the first reset, or of an environment that is over and does not start again by itself."""


class ClosedEnvError(DovetailError, gymnasium.error.ClosedEnvironmentError):
    """An environment was used after `close`."""


class TaskError(DovetailError):
    """A function of a task raised an exception, or gave something of a wrong shape."""

"""Fails when imported, as a plugin does whose dependency went away."""

import a_package_that_rusted_away  # noqa: F401

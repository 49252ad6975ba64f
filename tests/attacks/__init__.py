"""Hostile inputs: models, files, archives, configurations, arguments and commands that mean harm or nothing."""

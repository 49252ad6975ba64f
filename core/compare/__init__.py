"""Comparing implementations with each other and with MuJoCo 3.4.0, stage by stage."""

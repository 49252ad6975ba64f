"""Crates, springs, tripods, a speedometer, a patient solver and molasses, for dovetail."""

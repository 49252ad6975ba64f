"""Wind and projected bias forces for dovetail."""

"""Questions to a model and its data that no stage asks: plain functions on one world, one module per topic."""

"""moments."""

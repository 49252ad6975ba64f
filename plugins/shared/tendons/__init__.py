"""tendons."""

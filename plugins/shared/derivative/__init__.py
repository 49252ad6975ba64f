"""derivative."""

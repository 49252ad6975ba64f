"""Runtimes that execute implementations. No physics here."""

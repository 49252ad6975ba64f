"""The physics: one folder per stage, one file per algorithm and backend."""

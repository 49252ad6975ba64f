"""The packages here are installed and run by test_windmill.py, in processes of their own."""

collect_ignore_glob = ["dovetail_*"]

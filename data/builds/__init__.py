"""What made the shipped models and tables, a folder each, run as ``python -m data.builds.NAME``."""

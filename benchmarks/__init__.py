"""What stands behind each figure of speed or quality, run as ``python -m benchmarks.NAME``."""

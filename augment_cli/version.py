"""The version of the package, alone in a file so that packaging reads it without importing anything else."""

__version__ = "1.0.0"
RELEASED = "2026-11-25"  # year-month-day, as the changelog has it

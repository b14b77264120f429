"""The version of the package, alone in a file so that packaging reads it without importing anything else."""

__version__ = "0.1.0"
RELEASED = "2026-11-21"  # year-month-day, as the changelog has it

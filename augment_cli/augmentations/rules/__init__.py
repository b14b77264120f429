"""Rules of this project, and of single papers."""

"""The sections of docs/evidence.md, its pictures, and its data file."""

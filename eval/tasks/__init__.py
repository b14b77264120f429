"""Evaluation sets: what tasks.toml says of each, and the checked reading of its file. Knows no protocol."""

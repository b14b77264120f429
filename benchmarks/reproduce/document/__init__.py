"""The sections of benchmarks/results/evidence.md, its pictures, and its data file."""

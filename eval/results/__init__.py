"""Results of scoring: their files, tables and plots, and the comparison of two models."""

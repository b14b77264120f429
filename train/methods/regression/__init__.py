"""Regression on a teacher's cosines or vectors."""

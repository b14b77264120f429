"""Masked language modelling."""

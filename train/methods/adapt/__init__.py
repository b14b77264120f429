"""Adaptation to a domain."""

"""Adaptation to a domain by contrast."""

"""Whitening after training."""

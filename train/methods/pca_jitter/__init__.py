"""PCA jitter."""

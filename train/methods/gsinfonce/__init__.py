"""gsInfoNCE: Gaussian negatives."""

"""GISTEmbed: false negatives masked by a guide."""

"""AugCSE: many augmentations against a discriminator."""

"""The comparison of augmentations as training data: each method next to its control, over draws of text."""

"""What the augmentations that read TF-IDF have in common; no augmentation of its own."""

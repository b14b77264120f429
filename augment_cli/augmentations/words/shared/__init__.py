"""What the augmentations on words have in common: finding words, choosing some, editing them."""

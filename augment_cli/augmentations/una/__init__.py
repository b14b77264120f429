"""UNA and its relatives: augmentations that read TF-IDF."""

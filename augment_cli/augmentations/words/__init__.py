"""Augmentations that read the words of the text, with word lists, WordNet and a gazetteer."""

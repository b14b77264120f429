"""Augmentations that read cached parses: rules on clauses, and on where marks may stand."""

"""What the augmentations that read parses have in common: English rules, clauses, spans."""

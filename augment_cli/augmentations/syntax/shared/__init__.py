"""What the augmentations that read parses have in common: English and Chinese rules, clauses, spans."""

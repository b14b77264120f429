"""Meaning: turned sentences as the hard negatives of their own row, beside paraphrases of few shared words."""

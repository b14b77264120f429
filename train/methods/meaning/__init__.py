"""Meaning: turned sentences are told from the row's own paraphrase."""

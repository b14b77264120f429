"""Answers of a language model on a server: asking for them, and reading them."""

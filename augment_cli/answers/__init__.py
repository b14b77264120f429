"""Answers of a language model, on a server or in process: asking for them, and reading them."""

"""Syntax: the cached parses as arrays, and the clause view that rules read. Nothing here loads spaCy."""

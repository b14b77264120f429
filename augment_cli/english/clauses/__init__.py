"""Clauses and their constituents: tense, negation, auxiliaries."""

"""Formulas and small trainings on embeddings that protocols share; they know no task and no file."""

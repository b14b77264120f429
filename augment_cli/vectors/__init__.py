"""Sentence vectors as a stage, and what is made from them: scores of a stage's texts, mined negatives."""

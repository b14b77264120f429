"""English: its words, clauses and rules, and the guards that hold a model's outputs against them."""

"""`make reproduce`: every method next to its own baseline, over seeds, with the papers' differences.

`grid.toml` says what there is and `grid.py` reads it; `units.py` names each training and what it depends on;
`stages.py` makes the store; `plan.py` says what is missing; `work.py` trains and scores; `results.py` keeps
the numbers; `evidence.py`, `wording.py`, `comparisons.py` and `curves.py` draw the document; `command.py` is
the command.
"""

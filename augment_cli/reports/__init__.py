"""Reports about a store, as plain data: what it holds, how sound that is, what a run would make.

`report.py` is behind `status`, `stats` and `inspect`, `comparison.py` behind the table of all augmentations,
`soundness.py` behind `verify`, `card.py`, `doctor.py` and `plan.py` (`--dry-run`) behind what they are named
after. None of them prints; `pages/terminal.py` does.
"""

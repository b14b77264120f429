"""Reports about a store, as plain data: what it holds, and how sound that is.

`report.py` is behind `status`, `stats` and `inspect`, `comparison.py` behind the table of all augmentations,
`soundness.py` behind `verify`, `card.py` and `doctor.py` behind what they are named after. None of them
prints; `pages/terminal.py` does.
"""

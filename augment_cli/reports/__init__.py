"""Reports about a store, as plain data: what it holds, and how sound that is.

`report.py` is behind `status`, `stats` and `card`, `comparison.py` behind the table of all augmentations,
`soundness.py` behind `verify`, `doctor.py` behind what it is named after. None of them
prints; `pages/terminal.py` does.
"""

"""The fetching of the public evaluation sets, `python -m data.fetch`: sources, readers, checks."""

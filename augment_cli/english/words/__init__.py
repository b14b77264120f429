"""Words of sentences: their readings, what may replace them, and the edits that do."""

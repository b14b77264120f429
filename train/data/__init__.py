"""Which rows a step trains on: their order, token ids, reading ahead, padding."""

"""The search for a recipe of our own: what was tried on the bed, in order, with its dev scores."""

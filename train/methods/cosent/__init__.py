"""CoSENT and AnglE: pairs of texts with scores."""

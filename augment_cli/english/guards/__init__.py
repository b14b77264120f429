"""Whether a model's output says what the original says, in sound English."""

"""Run a spaCy pipeline over the corpus once, and keep what it says of each token (stage `parses`)."""

"""What some settings and commands ask for: pictures of a run, papers, corpus weights, static encoders."""

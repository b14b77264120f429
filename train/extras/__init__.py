"""What some settings and commands ask for: pictures of a run, trackers, corpus weights, static encoders."""

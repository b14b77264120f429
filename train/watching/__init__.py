"""What is watched while a run goes on: dev score, loss, collapse, speed; and how it ended."""

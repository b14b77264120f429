"""What is watched while a run goes on: the dev score, a loss that is not finite, a collapse, the speed."""

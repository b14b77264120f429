"""What a run leaves behind: checkpoints, the exported model and its card, the log, a picture."""

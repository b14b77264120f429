"""What every command of the project does at its start and at its end: streams, Ctrl-C, exit codes."""

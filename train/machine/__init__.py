"""What depends on the machine and not on the method: ranks, threads, number formats, signals."""

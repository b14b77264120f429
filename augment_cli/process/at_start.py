"""What a command does before anything else is loaded: it refuses Windows, looks after Ctrl-C, loads faster.

What comes earlier is Python's own start, in which no program has a say.
"""

import gc
import os
import signal
import sys

EXIT_CODE = 130
NO_WINDOWS = (
    "augment-cli: Windows lacks the file locks, atomic renames and signals that keep a store whole; run it "
    "on Linux or macOS, or under Windows in WSL 2"
)

if sys.platform == "win32":  # said here, since what is loaded next ends with an ImportError
    print(NO_WINDOWS, file=sys.stderr)
    sys.exit(6)  # MissingError

# Libraries make a million objects that stay; to look through them again and again is a tenth of loading.
gc.set_threshold(100_000, 50, 100)


def leave(number: int, frame: object) -> None:
    """End the process at once, since nothing has been begun; what is half loaded would catch an exception."""
    os.write(2, b"\nInterrupted before anything was done.\n")
    os._exit(EXIT_CODE)


# A shell that starts commands in the background lets them ignore it.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, leave)

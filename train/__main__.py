"""Entry point of `python -m train`."""

import augment_cli.process.at_start  # noqa: F401 (Ctrl-C from here on)
from augment_cli.engine.engine import leave_without_address_space
from augment_cli.process.interrupts import handled, standard_streams

if __name__ == "__main__":
    interrupted = "interrupted; the same command continues from the newest checkpoint"
    with handled(interrupted), standard_streams("error"):
        leave_without_address_space("error")  # or libraries fail while they are loaded
        from train.cli import main

        main()

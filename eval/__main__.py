"""Entry point of `python -m eval`."""

import os

import augment_cli.process.at_start  # noqa: F401 (Ctrl-C from here on)
from augment_cli.engine.engine import leave_without_address_space
from augment_cli.process.interrupts import handled, standard_streams

# OpenMP reads this when torch is first imported. Its threads otherwise spin while they wait, and two of them
# fall to a tenth of their speed as soon as another process shares a core.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if __name__ == "__main__":
    with handled("interrupted; finished tasks and stored embeddings are kept"), standard_streams("error"):
        leave_without_address_space("error")  # or libraries fail while they are loaded
        from eval.command import main

        main()

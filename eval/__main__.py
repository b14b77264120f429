"""Entry point of `python -m eval`."""

import os

from augment_cli.interrupts import handled

# OpenMP reads this when torch is first imported. Its threads otherwise spin while they wait, and two of them
# fall to a tenth of their speed as soon as another process shares a core.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if __name__ == "__main__":
    with handled("interrupted; finished tasks and stored embeddings are kept"):
        from eval.command import main

        main()

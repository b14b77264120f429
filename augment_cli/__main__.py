"""`augment-cli`, `augment-train` and the like: Ctrl-C is looked after before anything else is loaded."""

import augment_cli.process.at_start  # noqa: F401 (Ctrl-C from here on)
from augment_cli import places
from augment_cli.process.interrupts import FINISHED_PARTS_ARE_KEPT, handled, standard_streams


def main() -> None:
    """Run the command line and exit with its code."""
    with handled(FINISHED_PARTS_ARE_KEPT), standard_streams("augment-cli"):
        from augment_cli.cli import main as run

        run()


def train() -> None:
    """`augment-train`: what `python -m train` is in a checkout."""
    places.run("train")


def evaluate() -> None:
    """`augment-eval`: what `python -m eval` is in a checkout."""
    places.run("eval")


def fetch() -> None:
    """`augment-data`: what `python -m data.fetch` is in a checkout."""
    places.run("data.fetch")


if __name__ == "__main__":
    main()

"""Entry point of `python -m train`."""

from augment_cli.interrupts import handled

if __name__ == "__main__":
    with handled("interrupted; the same command continues from the newest checkpoint"):
        from train.cli import main

        main()

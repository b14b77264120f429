"""`python -m augment_cli`, the same as `augment-cli`."""

from augment_cli.cli import main

if __name__ == "__main__":
    main()

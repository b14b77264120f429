"""Entry point of `python -m eval`."""

from eval.command import main

if __name__ == "__main__":
    main()

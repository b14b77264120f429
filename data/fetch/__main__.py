"""Entry point of `python -m data.fetch`."""

from data.fetch.command import main

if __name__ == "__main__":
    main()

"""Entry point of `python -m data.fetch`."""

from data.fetch import main

if __name__ == "__main__":
    main()

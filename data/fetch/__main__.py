"""Entry point of `python -m data.fetch`."""

from data.fetch.fetching import main

if __name__ == "__main__":
    main()

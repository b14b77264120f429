"""Entry point of `python -m data.builds.pipeline`."""

from data.builds.pipeline.command import main

if __name__ == "__main__":
    main()

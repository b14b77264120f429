"""Entry point of `python -m data.recipes.pipeline`."""

from data.recipes.pipeline.command import main

if __name__ == "__main__":
    main()

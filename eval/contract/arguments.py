"""A command's arguments: argparse's, whose errors show what was typed without obeying it."""

from __future__ import annotations

import argparse
from typing import NoReturn

from augment_cli.visible import visible_line


class ArgumentParser(argparse.ArgumentParser):
    """argparse's parser; what an error repeats of the command line cannot command the terminal."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and leave with exit code 2.

        Parameters
        ----------
        message : str
            What is wrong, perhaps with words of the command line.
        """
        super().error(visible_line(message))

"""A store opened to make stages in it: the earlier ones that are missing, then the one asked for.

The commands and the Python interface both work through a `Session`.
"""

from augment_cli.process.reporter import Reporter, Silent
from augment_cli.resources import SAMPLE
from augment_cli.session.base import StageResult
from augment_cli.session.steps import Session

__all__ = ["SAMPLE", "Reporter", "Session", "Silent", "StageResult"]

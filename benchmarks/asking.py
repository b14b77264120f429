"""What the benchmarks of language models share: who is asked."""

from __future__ import annotations

import argparse
from typing import Any

from augment_cli.contract.generate_parameters import ENGINES, RESPONSE_FORMATS, GenerateParameters

_USUAL = GenerateParameters()


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options beside `--model` that say who is asked, as `augment-cli generate` has them."""
    parser.add_argument("--engine", choices=ENGINES, default=_USUAL.engine)
    parser.add_argument("--endpoint", default=_USUAL.endpoint)
    parser.add_argument("--allow-remote", action="store_true")
    parser.add_argument("--concurrency", type=int, default=_USUAL.concurrency)
    parser.add_argument("--max-tokens", type=int, default=_USUAL.max_tokens)
    parser.add_argument("--response-format", choices=RESPONSE_FORMATS, default=_USUAL.response_format)


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Those options as `augment_cli.generate` takes them."""
    names = ("model", "engine", "endpoint", "allow_remote", "concurrency", "max_tokens", "response_format")
    return {name: getattr(options, name) for name in names}

"""What a language model is asked, and how its answers are read; `augment_cli/answers/` does both."""

from dataclasses import dataclass

from augment_cli.contract.parameters import (
    batch_tokens_parameter,
    check_parameters,
    device_parameter,
    parameter,
    precision_parameter,
)
from augment_cli.errors import UsageError

# What decides an answer, beside the model's name and the template; the others say how it is fetched.
DECIDING = ("of", "temperature", "top_p", "max_tokens", "rows")
# These, too, where they are not the usual ones: earlier releases did not have them.
DECIDING_LATER = ("engine", "response_format")


ENGINES = ("server", "process")
TEXT, JSON_SCHEMA = RESPONSE_FORMATS = ("text", "json_schema")


@dataclass(frozen=True)
class GenerateParameters:
    """What to ask, whom, and how fast."""

    template: str = parameter(
        "paraphrase",
        "what to ask: contradiction, judge, longer, near-miss, paraphrase, query, shorter, or a TOML file",
    )
    model: str = parameter("", "the model, as the server names it; with --engine process, its folder")
    engine: str = parameter(
        "server", "who answers: a server, or this process with a model in a folder", choices=ENGINES
    )
    endpoint: str = parameter(
        "http://127.0.0.1:8000/v1", "address of a server that speaks the OpenAI protocol, up to /v1"
    )
    allow_remote: bool = parameter(False, "send the texts to a server that is not on this machine")
    of: str = parameter("", "the stage whose texts are shown beside the corpus's, which judge needs")
    rows: int = parameter(0, "ask about the first N rows only; 0: all", minimum=0)
    temperature: float = parameter(0.7, "of the sampling; 0: the likeliest token each time", minimum=0)
    top_p: float = parameter(1.0, "sample among the likeliest tokens of this share", above=0, maximum=1)
    max_tokens: int = parameter(256, "most tokens of an answer", minimum=1)
    response_format: str = parameter(
        TEXT, "have the server hold the answer to a JSON schema, where it can", choices=RESPONSE_FORMATS
    )
    seed: int = parameter(42, "of the sampling, where the server heeds it", minimum=0)
    concurrency: int = parameter(
        8,
        "requests at a time; halved each time the server says that they are too many",
        minimum=1,
        maximum=512,
    )
    timeout: float = parameter(
        0.0, "seconds to wait for the next bytes of an answer, then ask again; 0: no limit", minimum=0
    )
    total_timeout: float = parameter(
        0.0, "seconds for a whole answer, however slowly it comes, then ask again; 0: no limit", minimum=0
    )
    max_failures: float = parameter(
        0.5, "stop when a larger share of the last 20 requests got no answer", minimum=0, maximum=1
    )

    precision: str = precision_parameter()
    device: str = device_parameter()
    batch_tokens: int = batch_tokens_parameter()

    def __post_init__(self) -> None:
        for name in ("endpoint", "model"):  # a line of a Windows file ends in a carriage return
            object.__setattr__(self, name, getattr(self, name).strip())
        check_parameters(self)
        if self.runs_here and self.response_format != TEXT:
            raise UsageError(f"--response-format {self.response_format}: is for servers; leave it out")

    @property
    def runs_here(self) -> bool:
        """Whether the model runs in this process."""
        return self.engine == "process"


@dataclass(frozen=True)
class ReadParameters:
    """How to read answers."""

    template: str | None = parameter(
        None, "TOML file of the template, where it was your own [default: the shipped one of that name]"
    )
    faithful: bool = parameter(
        False, "turn down what loses, adds or invents names, numbers or words, as paraphrase does (English)"
    )

    def __post_init__(self) -> None:
        check_parameters(self)

"""How a command ends: which exception gives which exit code. And the environment variables that are read."""

import re
import sys
from dataclasses import dataclass

from augment_cli import errors
from augment_cli.errors import MissingError, UserError
from augment_cli.errors.visible import visible
from augment_cli.places import as_typed
from augment_cli.process.interrupts import EXIT_CODE, FINISHED_PARTS_ARE_KEPT
from augment_cli.store.files import explain

VARIABLES = {
    "DATA": "the folder of evaluation sets, for `make`, training and `make reproduce`",
    "AUGMENT_API_KEY": "the key of a language model's server; it is never shown or stored",
    "AUGMENT_FAST": "`0` takes the libraries' plain code in the place of the fast one, everywhere",
    "AWS_ENDPOINT_URL_S3": "an object store that is not Amazon's, before `AWS_ENDPOINT_URL`",
    "AWS_ENDPOINT_URL": "the same; the provider's other variables reach its own library",
    "AWS_REGION": "the region of a bucket; where it is missing, the bucket is asked",
    "AWS_DEFAULT_REGION": "the same",
    "HF_HOME": "the model hub's cache, which its library reads",
    "HF_HUB_OFFLINE": "`1` asks no hub, which its library reads",
    "CXX": "the C++ compiler that `compile = true` calls",
}


# How torch, oneDNN, OpenBLAS, the loader of libraries and Python's threads say it.
_NO_MEMORY = re.compile(
    "(cannot|can't) allocate memory|tried to allocate|bad_alloc|failed to map segment|"
    "can't start new thread|out of memory"
)


@dataclass(frozen=True)
class Command:
    """What a command says where it fails."""

    name: str = "error"  # what stands in front of every line
    interrupted: str = FINISHED_PARTS_ARE_KEPT  # the line after a Ctrl-C
    # what to do where memory ran out
    no_memory: str = "memory ran out; end other programs, or run it on a machine with more"
    writes: str = "a file"  # what an error of the file system is about where it names no file
    kept: str = "what is finished is kept"  # what the same command, run again, need not do again
    extra: str = ""  # of the package, which brings all that the command may lack
    option: str = "--out"  # what names the folder that is written to

    def exit_code(self, error: BaseException) -> int | None:
        """Print the line about an error and give its exit code; None for what is a fault of our own."""
        if isinstance(error, KeyboardInterrupt):
            print(self.interrupted, file=sys.stderr)
            return EXIT_CODE
        known = self._known(error)
        if known is None:
            return None
        print(f"{self.name}: {visible(as_typed(str(known)))}", file=sys.stderr)
        return known.exit_code

    def _known(self, error: BaseException) -> UserError | None:
        if isinstance(error, UserError):
            return error
        if means_no_memory(error):
            return MissingError(f"{self.no_memory} ({str(error) or type(error).__name__})")
        if (missing := errors.from_import(error, self.extra)) is not None:
            return missing
        if isinstance(error, OSError) and error.errno is not None:  # else not from the operating system
            return explain(error, self.writes, self.kept, self.option)
        return None


def means_no_memory(error: BaseException) -> bool:
    """Whether an error, or what it came from, says that memory ran out."""
    seen: BaseException | None = error
    while seen is not None:
        is_of_kind = isinstance(seen, OSError | ImportError | RuntimeError)
        if isinstance(seen, MemoryError) or (is_of_kind and _NO_MEMORY.search(str(seen).lower())):
            return True
        seen = seen.__cause__
    return False

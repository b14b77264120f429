"""What an object store's error means for a person: what, where, what to do next; no secret is repeated."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from augment_cli.errors import BadInputError, MissingError, UsageError, UserError
from augment_cli.errors.visible import Address, without_secrets

# The last is said of a bucket whose region is looked for.
_NO_BUCKET = re.compile("no_?such_?bucket|(bucket|container) does not exist|' not found")
_NOT_ALLOWED = re.compile(
    "access_?denied|forbidden|permission[_ ]denied|unauthorized|unauthenticated|http status 40[13]|"
    "invalid_?access_?key_?id|signature_?does_?not_?match|invalid_signature"
)
_MOST_CHARACTERS = 240


@contextlib.contextmanager
def explained(where: str, address: Address, writes: bool = False) -> Iterator[None]:
    """Turn whatever a client of an object store raises into an error of ours."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:  # each client library has errors of its own
        raise explanation(error, where, address, writes) from None


def explanation(error: Exception, where: str, address: Address, writes: bool = False) -> UserError:
    """The error of ours that says what an error of a client library means; parameters as in `explained`."""
    lines = without_secrets(str(error), address).strip().splitlines()
    reason = (lines or [type(error).__name__])[0].partition(" (Request ID")[0][:_MOST_CHARACTERS]
    words = str(error).lower()
    if isinstance(error, ImportError):
        return MissingError(f"{where}: needs a package that is not installed ({reason})")
    if isinstance(error, ValueError):
        return UsageError(f"{where}: makes no sense as an address ({reason}); correct it")
    if _NO_BUCKET.search(words):
        return BadInputError(
            f"{where}: there is no such bucket ({reason}); correct its name, or make it first with your "
            "provider's own tool"
        )
    if isinstance(error, FileNotFoundError):
        return BadInputError(f"{where}: there is no such file ({reason}); correct the address")
    if isinstance(error, PermissionError) or _NOT_ALLOWED.search(words):
        kind = MissingError if writes else BadInputError
        return kind(
            f"{where}: not allowed to {'write' if writes else 'read'} it ({reason}); give credentials that "
            "are, where the provider's own tools look for them (such as AWS_PROFILE, or "
            "GOOGLE_APPLICATION_CREDENTIALS)"
        )
    return MissingError(
        f"{where}: the connection failed ({reason}); see that the address is right and can be reached, then "
        "run the same command again"
    )

"""What is an address (`s3://…`) and not a path, and how it is shown: without whatever could be a secret."""

from __future__ import annotations

import os
import re
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

# A Path makes one slash of two.
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.IGNORECASE | re.DOTALL)
# Here the name before @ is that of a container, and no user's.
_WITH_CONTAINER = frozenset({"abfs", "abfss", "wasb", "wasbs"})
# Values of a query that anybody may see, and that a message is clearer with.
_PLAIN = frozenset({"region", "scheme", "endpoint_override"})
_CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


class Address(NamedTuple):
    """The parts of an address, each as it is written; all but the scheme may be empty."""

    scheme: str  # in lower case
    user: str  # what stands before @: a name, or name and password with a colon between
    host: str  # a machine, with its port, or a bucket
    path: str  # with the slash that begins it
    query: str  # what comes after the question mark

    @property
    def shown(self) -> str:
        """All but user, password and query."""
        return f"{self.scheme}://{self.host}{self.path}"


def is_address(place: object) -> bool:
    """Whether a person means an address: a scheme of two letters or more, a colon, a slash."""
    return _ADDRESS.match(str(place)) is not None


def whole(place: object) -> str:
    """An address with both its slashes, and its scheme in lower case; three of `file:///` stay three."""
    text = str(place).rstrip("\r\n")  # which the lines of a Windows file end in
    if (found := _ADDRESS.match(text)) is None:
        return text
    scheme, rest = found[1].lower(), found[2]
    if scheme != "file":
        return f"{scheme}://{rest}"
    # The one machine that such an address may name.
    if "://localhost/" in text[: len("file://localhost/")].lower():
        rest = rest[len("localhost/") :]
    return f"{scheme}:///{rest}"


def parse(place: object) -> Address:
    """The parts of an address, which `is_address`."""
    scheme, _, rest = whole(place).partition("://")
    rest, _, query = rest.partition("?")
    if scheme in ("http", "https"):
        rest = rest.partition("#")[0]  # elsewhere it is a part of a name
    host, slash, path = rest.partition("/")
    user, at, server = host.rpartition("@")
    has_port = scheme != "s3" and host.rpartition(":")[2].isdigit()
    if not at and "@" in path and ":" in host and not has_port:
        # A secret key may have slashes, which end the host too early.
        user, _, rest = rest.rpartition("@")
        host, slash, path = rest.partition("/")
    elif not at or (scheme in _WITH_CONTAINER and ":" not in user):
        user = ""
    else:
        host = server
    return Address(scheme, user, host, slash + path, query)


def shown(place: object) -> str:
    """An address without user, password, query and fragment, as it may be printed; anything else as it is."""
    return parse(place).shown if is_address(place) else str(place)


def without_secrets(text: str, address: Address) -> str:
    """A message of a library that may quote an address, or parts of it, with the secrets of it left out.

    Those that the environment holds are left out, too.
    """
    pairs = [pair.partition("=") for pair in address.query.split("&")]
    found = {value for name, _, value in pairs if name not in _PLAIN}
    found |= {address.user, *address.user.split(":", 1), *(os.environ.get(name, "") for name in _CREDENTIALS)}
    found |= {plain(secret) for secret in found for plain in (unquote, unquote_plus)}
    for secret in sorted(found, key=len, reverse=True):
        if len(secret) > 3:
            text = text.replace(secret, "…")
    return text

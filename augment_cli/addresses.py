"""What is an address (`s3://…`) and not a path, and how it is shown: without whatever could be a secret."""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus, urlsplit

_ADDRESS = re.compile(
    r"([a-z][a-z0-9+.-]+):/+(.*)", re.IGNORECASE | re.DOTALL
)  # a Path makes one slash of two
# Here the name before @ is that of a container, and no user's.
_WITH_CONTAINER = frozenset({"abfs", "abfss", "wasb", "wasbs"})


def is_address(place: object) -> bool:
    """Whether a person means an address: a scheme of two letters or more, a colon, a slash."""
    return _ADDRESS.match(str(place)) is not None


def whole(place: object) -> str:
    """An address with both its slashes, and its scheme in lower case; three of `file:///` stay three."""
    text = str(place)
    if (found := _ADDRESS.match(text)) is None:
        return text
    scheme, rest = found[1].lower(), found[2]
    return f"{scheme}:///{rest}" if scheme == "file" else f"{scheme}://{rest}"


def shown(place: object) -> str:
    """An address as it may be printed and logged: without user, password, query and fragment.

    Parameters
    ----------
    place : object
        An address, or anything else, which stays as it is.

    Returns
    -------
    str
        Such as `s3://bucket/folder/a.txt` for `s3://key:secret@bucket/folder/a.txt?region=…`.
    """
    if not is_address(place):
        return str(place)
    scheme, _, rest = whole(place).partition("://")
    rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    host, slash, path = rest.partition("/")
    user, at, server = host.rpartition("@")
    # A secret key may have slashes, which end the host too early: what is before the last @ is no path.
    if not at and "@" in path and ":" in host:
        host, slash, path = path.rpartition("@")[2].partition("/")
    elif at and not (scheme in _WITH_CONTAINER and ":" not in user):
        host = server
    return f"{scheme}://{host}{slash}{path}"


def without_secrets(text: str, place: object) -> str:
    """A message of a library that may quote an address, or parts of it, with the secrets of it left out.

    Parameters
    ----------
    text : str
    place : object
        The address.
    """
    address = whole(place)
    text = text.replace(str(place), shown(place)).replace(address, shown(place))
    for secret in sorted(_secrets(address), key=len, reverse=True):
        text = text.replace(secret, "…")
    return text


def _secrets(address: str) -> set[str]:
    """User, password, query, and the values in it, as they are written and as they are meant."""
    parts = urlsplit(address)
    found = {parts.query, *(pair.partition("=")[2] for pair in parts.query.split("&"))}
    user, at, _ = parts.netloc.rpartition("@")
    if at and not (parts.scheme in _WITH_CONTAINER and ":" not in user):
        found |= {user, *user.split(":", 1)}
    found |= {plain(secret) for secret in found for plain in (unquote, unquote_plus)}
    return {secret for secret in found if len(secret) > 3}

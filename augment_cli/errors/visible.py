"""How control characters and addresses are shown in messages."""

import json
import os
import re
from typing import Any, NamedTuple
from urllib.parse import unquote, unquote_plus

# C0 and C1 but tab and line feed, halves of surrogate pairs, separators that begin a line somewhere, and what
# sets the direction of text: one of them makes a line say what is not in it.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(value: object) -> str:
    """A value as text with control characters as marks, `␛` or `<U+202E>`; line feeds and tabs stay."""
    return _COMMANDS.sub(_mark, str(value))


def visible_line(value: object) -> str:
    """The same for what stands within a line, such as a name: line feeds and tabs are marks too."""
    return visible(value).replace("\n", "␊").replace("\t", "␉")


def in_markdown(text: str) -> str:
    """A text as a cell or a line of Markdown, in which it opens no tag and no further cell."""
    return visible_line(text).replace("<", "&lt;").replace("|", "\\|")


def visible_json(value: Any, indent: int | None = 1) -> str:
    """JSON that a terminal may show: the same value, with such characters as `\\u` escapes."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    # Line feeds and tabs within a string are escaped by JSON itself.
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def is_unicode(text: str) -> bool:
    """Whether a text has no halves of surrogate pairs, which JSON can name and UTF-8 cannot hold."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


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

"""From an address to a file system: pyarrow's clients for large object stores, fsspec for the rest."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, unquote

import pyarrow.fs

from augment_cli.errors import BadInputError, MissingError, UsageError, UserError, needed
from augment_cli.errors.visible import Address, parse, whole, without_secrets

# The last is said of a bucket whose region is looked for.
_NO_BUCKET = re.compile("no_?such_?bucket|(bucket|container) does not exist|' not found")
_NOT_ALLOWED = re.compile(
    "access_?denied|forbidden|permission[_ ]denied|unauthorized|unauthenticated|http status 40[13]|"
    "invalid_?access_?key_?id|signature_?does_?not_?match|invalid_signature"
)
_MOST_CHARACTERS = 240
# Every wait has an end: seconds until a connection stands and between two bytes, and tries of a request.
# Ctrl-C is taken between two requests, so they are short.
CONNECT_SECONDS, SILENT_SECONDS, TRIES = 5.0, 10.0, 3
_GCS_SECONDS = 10  # for all tries of a request
_OPTIONS_OF_S3 = ("region", "scheme", "endpoint_override")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")  # the first that is set counts
_WEB, _PARTIAL = ("http", "https"), 206
_BY_ARROW = frozenset({"gs", "gcs", "abfs", "abfss", "hdfs", "viewfs"})


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


@dataclass(frozen=True)
class Place:
    """A file or folder that an address names; as text it has no secret."""

    filesystem: pyarrow.fs.FileSystem = field(repr=False)
    path: str = field(repr=False)  # as the file system has it
    name: str  # as it is shown: the address without its secrets
    # what a person gave, secrets included; its path may be that of a folder or pattern this was found by
    address: Address = field(repr=False)

    def __str__(self) -> str:
        return self.name

    @property
    def has_folders(self) -> bool:
        """Whether a file needs a folder to lie in, which object stores do not have."""
        return self.filesystem.type_name not in ("s3", "gcs", "abfs")

    def at(self, relative: str) -> Place:
        """The file or folder of a relative path inside this folder."""
        return replace(
            self, path=f"{self.path.rstrip('/')}/{relative}", name=f"{self.name.rstrip('/')}/{relative}"
        )

    def listed(self, path: str) -> Place:
        """What a listing of this folder has under a path of the file system."""
        folder = self.path.rstrip("/")
        if path.startswith(f"{folder}/"):
            return replace(self.at(path[len(folder) + 1 :]), path=path)
        return replace(self, path=path, name=f"{self.address.scheme}://{path.lstrip('/')}")

    def above(self, levels: int) -> Place:
        """The folder some levels up."""
        path = self.path.rsplit("/", levels)[0] or "/"
        return replace(self, path=path, name=self.name.rstrip("/").rsplit("/", levels)[0])


def place_of(address: str) -> Place:
    """Open the file system that an address speaks of; nothing is read yet."""
    # Credentials are those that the provider's own tools find (environment, profile, machine), or stand in
    # the address.
    parts = parse(address)
    with explained(parts.shown, parts):
        if parts.scheme == "file":
            path = unquote(parts.path).rstrip("/") or "/"
            return Place(pyarrow.fs.LocalFileSystem(), path, f"file://{path}", parts)
        if not parts.host or "*" in parts.host:
            raise UsageError(
                f"{parts.shown}: names no bucket or machine; write it as {parts.scheme}://NAME/…"
            )
        if parts.scheme == "s3":
            return Place(_s3(parts), f"{parts.host}{parts.path}".rstrip("/"), parts.shown, parts)
        if parts.scheme in _BY_ARROW:
            filesystem, bucket = _by_arrow(parts)
            return Place(filesystem, f"{bucket.rstrip('/')}{parts.path}".rstrip("/"), parts.shown, parts)
        filesystem, path = _by_fsspec(address, parts)
        return Place(filesystem, path, parts.shown, parts)


def _s3(address: Address) -> pyarrow.fs.FileSystem:
    """A client of S3 whose waits end; of what is not Amazon's, `endpoint_override` names the server."""
    options: dict[str, Any] = {}
    for name, value in parse_qsl(address.query, keep_blank_values=True):
        if name not in _OPTIONS_OF_S3:
            known = ", ".join(_OPTIONS_OF_S3)
            raise UsageError(f"{address.shown}: unknown option {name!r} in it; known are {known}")
        options[name] = value
    if address.user:
        key, _, secret = address.user.partition(":")
        options |= {"access_key": unquote(key), "secret_key": unquote(secret)}
    endpoint = next(filter(None, map(os.environ.get, _ENDPOINTS)), None)
    if endpoint and "endpoint_override" not in options:  # which pyarrow does not look for by itself
        scheme, _, server = endpoint.rpartition("://")
        options |= {"endpoint_override": server.rstrip("/"), "scheme": scheme or "https"}
    if not (
        {"region", "endpoint_override"} & options.keys()
        or {"AWS_REGION", "AWS_DEFAULT_REGION"} & os.environ.keys()
    ):
        options["region"] = pyarrow.fs.resolve_s3_region(address.host)
    return pyarrow.fs.S3FileSystem(
        connect_timeout=CONNECT_SECONDS,
        request_timeout=SILENT_SECONDS,
        retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
        **options,
    )


def _by_arrow(address: Address) -> tuple[pyarrow.fs.FileSystem, str]:
    """Another client of pyarrow's, and the bucket as it has it."""
    query = address.query
    if address.scheme in ("gs", "gcs") and "retry_limit_seconds" not in query:
        query = "&".join(filter(None, [query, f"retry_limit_seconds={_GCS_SECONDS}"]))
    user = f"{address.user}@" if address.user else ""
    root = f"{address.scheme}://{user}{address.host}/" + (f"?{query}" if query else "")
    filesystem, bucket = pyarrow.fs.FileSystem.from_uri(root)
    return filesystem, bucket


def _by_fsspec(address: str, parts: Address) -> tuple[pyarrow.fs.FileSystem, str]:
    with needed("fsspec"):
        import fsspec
    if parts.scheme not in fsspec.available_protocols():
        raise UsageError(
            f"{parts.shown}: no installed package knows addresses that begin with {parts.scheme}://; fetch "
            "the files with a tool that does"
        )
    options = {"client_kwargs": {"raise_for_status": right_range}} if parts.scheme in _WEB else {}
    filesystem, path = fsspec.url_to_fs(whole(address), **options)
    return pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(filesystem)), path


async def right_range(response: Any) -> None:
    """Refuse an answer of a web server that has other bytes than were asked for."""
    asked = response.request_info.headers.get("Range", "").removeprefix("bytes=")
    given = response.headers.get("Content-Range", "").removeprefix("bytes ")
    if response.status == _PARTIAL and asked and given and asked.split("-")[0] != given.split("-")[0]:
        raise OSError(f"the server was asked for bytes {asked}, and gave {given}")

"""From an address to a file system: pyarrow's clients for the large object stores, fsspec for the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow.fs

from augment_cli.addresses import shown, whole
from augment_cli.errors import MissingError, UsageError
from augment_cli.remote.failures import explained

# Every wait has an end: seconds until a connection stands and between two bytes, and tries of a request.
CONNECT_SECONDS, SILENT_SECONDS, TRIES = 10.0, 30.0, 4
_GCS_SECONDS = 60  # for all tries of a request
_OPTIONS_OF_S3 = ("region", "scheme", "endpoint_override")
_BY_ARROW = frozenset({"gs", "gcs", "abfs", "abfss", "hdfs", "viewfs"})


@dataclass(frozen=True)
class Place:
    """A file or folder that an address names.

    Attributes
    ----------
    filesystem : pyarrow.fs.FileSystem
    path : str
        As the file system has it.
    address : str
        The whole of it, with what could be a secret: never shown.
    """

    filesystem: pyarrow.fs.FileSystem = field(repr=False)
    path: str = field(repr=False)
    address: str = field(repr=False)

    def __str__(self) -> str:
        return shown(self.address)

    @property
    def has_folders(self) -> bool:
        """Whether a file needs a folder to lie in, which object stores do not have."""
        return self.filesystem.type_name not in ("s3", "gcs", "abfs")

    def at(self, relative: str) -> Place:
        """The file or folder of a relative path inside this folder."""
        address, mark, query = self.address.partition("?")
        inside = f"{address.rstrip('/')}/{relative}{mark}{query}"
        return Place(self.filesystem, f"{self.path.rstrip('/')}/{relative}", inside)

    def other(self, path: str) -> Place:
        """Another path of the same file system, such as one that a listing has."""
        parts = urlsplit(self.address)
        begin = len(self.path) if path.startswith(self.path) else 0
        if begin:
            address, mark, query = self.address.partition("?")
            return Place(self.filesystem, path, f"{address}{path[begin:]}{mark}{query}")
        return Place(self.filesystem, path, f"{parts.scheme}://{path.lstrip('/')}")


def place_of(address: str) -> Place:
    """Open the file system that an address speaks of; nothing is read yet.

    Credentials are those that the provider's own tools find (environment, profile, machine), or stand in the
    address.

    Raises
    ------
    UsageError
        If the address makes no sense.
    MissingError
        If no installed package knows its scheme.
    """
    address = whole(address)
    with explained(address):
        scheme, parts = address.partition(":")[0], urlsplit(address)
        if scheme == "file":
            return Place(pyarrow.fs.LocalFileSystem(), unquote(parts.path).rstrip("/") or "/", address)
        if not parts.netloc:
            raise UsageError(f"{shown(address)}: names no bucket or machine; write it as {scheme}://NAME/…")
        host = parts.netloc.rpartition("@")[2]
        if scheme == "s3":
            return Place(_s3(address, host), f"{host}{parts.path}".rstrip("/"), address)
        if scheme in _BY_ARROW:
            query = parts.query
            if scheme in ("gs", "gcs") and "retry_limit_seconds" not in query:
                query = "&".join(filter(None, [query, f"retry_limit_seconds={_GCS_SECONDS}"]))
            root = f"{scheme}://{parts.netloc}/" + (f"?{query}" if query else "")
            filesystem, bucket = pyarrow.fs.FileSystem.from_uri(root)
            return Place(filesystem, f"{bucket.rstrip('/')}{parts.path}".rstrip("/"), address)
        return _by_fsspec(address)


def _s3(address: str, bucket: str) -> pyarrow.fs.FileSystem:
    """A client of S3 whose waits end; of what is not Amazon's, `endpoint_override` names the server."""
    parts = urlsplit(address)
    options: dict[str, Any] = {}
    for name, value in parse_qsl(parts.query):
        if name not in _OPTIONS_OF_S3:
            known = ", ".join(_OPTIONS_OF_S3)
            raise UsageError(f"{shown(address)}: unknown option {name!r} in it; known are {known}")
        options[name] = value
    user, at, _ = parts.netloc.rpartition("@")
    if at:
        key, _, secret = user.partition(":")
        options |= {"access_key": unquote(key), "secret_key": unquote(secret)}
    if not (
        {"region", "endpoint_override"} & options.keys()
        or {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} & os.environ.keys()
    ):
        options["region"] = pyarrow.fs.resolve_s3_region(bucket)
    return pyarrow.fs.S3FileSystem(
        connect_timeout=CONNECT_SECONDS,
        request_timeout=SILENT_SECONDS,
        retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
        **options,
    )


def _by_fsspec(address: str) -> Place:
    try:
        import fsspec
    except ImportError:
        raise MissingError(
            f"{shown(address)}: this kind of address needs fsspec; pip install 'augment-cli[remote]'"
        ) from None
    if (scheme := address.partition(":")[0]) not in fsspec.available_protocols():
        raise UsageError(
            f"{shown(address)}: no installed package knows addresses that begin with {scheme}://; fetch the "
            "files with a tool that does"
        )
    filesystem, path = fsspec.url_to_fs(address)
    return Place(pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(filesystem)), path, address)

"""From an address to a file system; single files found, written, read as a stream that survives a cut."""

import contextlib
import fnmatch
import hashlib
import io
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, unquote

import pyarrow as pa
import pyarrow.fs
from pyarrow.fs import FileInfo, FileSelector, FileType

from augment_cli.errors import BadInputError, MissingError, UsageError, UserError, needed
from augment_cli.errors.visible import Address, parse, whole, without_secrets
from augment_cli.store.files import naming

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
BUFFER_BYTES = 4 << 20  # asked for at a time where less is wanted: each question costs a round trip
_TRIES, _FIRST_PAUSE = 3, 0.25  # of reading on where a connection was cut; seconds, doubled each time
_WILDCARDS = frozenset("*[")


@contextlib.contextmanager
def explained(where: str, address: Address, writes: bool = False) -> Iterator[None]:
    """Turn whatever a client of an object store raises into an error of ours."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:  # each client library has errors of its own
        raise _explanation(error, where, address, writes) from None


def _explanation(error: Exception, where: str, address: Address, writes: bool) -> UserError:
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

    def at(self, relative: str) -> "Place":
        """The file or folder of a relative path inside this folder."""
        return replace(
            self, path=f"{self.path.rstrip('/')}/{relative}", name=f"{self.name.rstrip('/')}/{relative}"
        )

    def listed(self, path: str) -> "Place":
        """What a listing of this folder has under a path of the file system."""
        folder = self.path.rstrip("/")
        if path.startswith(f"{folder}/"):
            return replace(self.at(path[len(folder) + 1 :]), path=path)
        return replace(self, path=path, name=f"{self.address.scheme}://{path.lstrip('/')}")

    def above(self, levels: int) -> "Place":
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


class _Source(io.RawIOBase):
    """The bytes of a place; where the connection breaks, it is opened again at the byte that was not read."""

    def __init__(self, place: Place, size: int) -> None:
        self._place, self._size, self._at = place, size, 0
        self._stream: Any = None
        self._stream_at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from where we are; fewer bytes only at the end."""
        wanted = max(0, min(len(buffer), self._size - self._at))
        if not wanted:
            return 0
        with explained(str(self._place), self._place.address):
            for attempt in range(_TRIES):
                try:
                    data = self._read(wanted)
                    break
                except (OSError, pa.ArrowException):
                    self._stream = None
                    if attempt == _TRIES - 1:
                        raise
                    time.sleep(_FIRST_PAUSE * 2**attempt)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _read(self, wanted: int) -> bytes:
        if self._stream is None:
            self._stream, self._stream_at = self._place.filesystem.open_input_file(self._place.path), 0
        if self._stream_at != self._at:
            self._stream.seek(self._at)
        data = self._stream.read(wanted)
        if not data:
            raise OSError(f"ended after {self._at:,} of {self._size:,} bytes")
        self._stream_at = self._at + len(data)
        return data


class _Digested(io.RawIOBase):
    """A raw stream that knows the SHA-256 of what was read of it."""

    def __init__(self, source: io.RawIOBase) -> None:
        super().__init__()
        self._source = source
        self._sha256: Any = hashlib.sha256()
        self._is_whole = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        count: int | None = self._source.readinto(buffer)
        self._is_whole = not count
        if count and self._sha256 is not None:
            self._sha256.update(memoryview(buffer)[:count])
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, after which only a reading from the beginning is digested."""
        if self._source.tell() != (place := self._source.seek(offset, whence)):
            self._sha256 = None if place else hashlib.sha256()
        return place

    def close(self) -> None:
        self._source.close()
        super().close()

    def digest(self) -> str | None:
        """SHA-256 of what was read, if that was the file from its beginning to its end."""
        return self._sha256.hexdigest() if self._is_whole and self._sha256 is not None else None


class TwiceReadFile(ABC):
    """A file that is read for its digest, and for its lines; as text it is its name, without a secret."""

    size: int  # bytes
    _digest: str | None = None
    _read: _Digested | None = None

    @abstractmethod
    def _raw(self) -> io.RawIOBase:
        """The file, for reading from its beginning."""

    @property
    def name(self) -> str:
        """Its last part."""
        return PurePosixPath(str(self)).name

    @property
    def suffixes(self) -> list[str]:
        """Its endings, such as `.txt` and `.gz`."""
        return PurePosixPath(str(self)).suffixes

    def open(self) -> BinaryIO:
        """The file for reading from its beginning: some megabytes are asked for at a time."""
        self._read = _Digested(self._raw())
        return io.BufferedReader(self._read, BUFFER_BYTES)

    def sha256(self) -> str:
        """SHA-256 of its bytes, 64 hexadecimal digits; the whole of it is read, and nothing kept."""
        with naming(self), io.BufferedReader(self._raw(), BUFFER_BYTES) as file:
            self._digest = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digest

    def refuse_change(self) -> None:
        """See that what was read is what was found: what is known of it, and the bytes if all were read."""
        read = self._read.digest() if self._read is not None else None
        if self._has_changed(read) or (None not in (self._digest, read) and read != self._digest):
            raise BadInputError(
                f"{self}: changed while it was read, and nothing of it was kept; run the same command again "
                "when nothing writes to it"
            )

    @abstractmethod
    def _has_changed(self, read: str | None) -> bool:
        """Whether what is known of the file, or the digest of what was `read`, is not what was found."""


@dataclass
class RemoteFile(TwiceReadFile):
    """A file at an address."""

    place: Place
    size: int
    changed: int | None  # when it was written last, in nanoseconds since 1970, where the file system says so

    def __str__(self) -> str:
        return str(self.place)

    def _raw(self) -> io.RawIOBase:
        return _Source(self.place, self.size)

    def _has_changed(self, read: str | None) -> bool:
        first, now = self._digest, find_file(self.place)
        if now is None or (now.size, now.changed) != (self.size, self.changed):
            return True
        # A server may not say when a file was written: what was not read in order is read once more.
        must_read = read is None and first is not None and self.changed is None
        return must_read and self.sha256() != first


def _as_file(place: Place, info: FileInfo) -> RemoteFile:
    if info.size is None:
        raise BadInputError(f"{place}: its server does not say how long it is; fetch it first")
    return RemoteFile(place, info.size, info.mtime_ns)


def find_file(place: Place) -> RemoteFile | None:
    """The file at a place, or None where there is none."""
    with explained(str(place), place.address):
        info = place.filesystem.get_file_info(place.path)
        return _as_file(place, info) if info.type == FileType.File else None


def files_below(place: Place, at_any_depth: bool = True) -> list[RemoteFile]:
    """The files in a folder, in the order of their names; none where there is no folder."""
    with explained(str(place), place.address):
        selector = FileSelector(place.path, allow_not_found=True, recursive=at_any_depth)
        infos = [info for info in place.filesystem.get_file_info(selector) if info.type == FileType.File]
    return [_as_file(place.listed(info.path), info) for info in sorted(infos, key=lambda info: info.path)]


def find_files_at(address: str) -> tuple[list[RemoteFile], bool]:
    """The files that an address means: one file, all in a folder, or those that a pattern fits."""
    # `*` and `[…]` stand for characters within a name, `**` for any folders; a name that has them outright
    # is looked for first.
    place = place_of(address)
    if (file := find_file(place)) is not None:
        return [file], False
    if not _WILDCARDS & set(place.path):
        return files_below(place), True
    pattern = place.path.split("/")
    fixed = next(at for at, name in enumerate(pattern) if _WILDCARDS & set(name))
    depth = len(pattern) - fixed
    found = files_below(place.above(depth), at_any_depth=depth > 1 or pattern[-1] == "**")
    return [file for file in found if _fits(file.place.path.split("/")[fixed:], pattern[fixed:])], False


def _fits(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path fit those of a pattern; `**` is any number of folders, as in `glob`."""
    if not pattern:
        return not names
    if pattern[0] == "**":
        hidden = next((at for at, name in enumerate(names) if name.startswith(".")), len(names))
        return any(_fits(names[skipped:], pattern[1:]) for skipped in range(hidden + 1))
    if not names or (names[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatch.fnmatchcase(names[0], pattern[0]) and _fits(names[1:], pattern[1:])


def write(place: Place, chunks: Iterable[bytes]) -> None:
    """Write a file, in place of one that is there."""
    # An object store lets it appear as a whole. In a folder of this machine it gets its name at the end.
    with explained(str(place), place.address, writes=True):
        system, path = place.filesystem, place.path
        if system.type_name not in ("s3", "gcs", "abfs"):  # object stores have no folders
            system.create_dir(path.rpartition("/")[0], recursive=True)
        is_local = system.type_name == "local"
        written = f"{path}.partial" if is_local else path
        with system.open_output_stream(written, compression=None) as stream:
            for chunk in chunks:
                stream.write(chunk)
        if is_local:
            system.move(written, path)


def delete(place: Place) -> None:
    """Delete a file that is there."""
    with explained(str(place), place.address, writes=True):
        place.filesystem.delete_file(place.path)

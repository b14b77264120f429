"""Addresses are told from paths, and are shown without what could be a secret."""

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.errors.visible import is_address, parse, shown, whole, without_secrets
from augment_cli.remote.files import explained, place_of

ADDRESSES = {
    "s3://bucket/a.txt": "s3://bucket/a.txt",
    "s3://key:secret@bucket/a.txt?region=x": "s3://bucket/a.txt",
    "s3://key:sec/ret@bucket/a.txt": "s3://bucket/a.txt",
    "gs://anonymous@bucket/a": "gs://bucket/a",
    "https://token@host.org/a.gz?X-Amz-Signature=abc#part": "https://host.org/a.gz",
    "abfs://container@account.dfs.core.windows.net/a": "abfs://container@account.dfs.core.windows.net/a",
    "abfs://user:secret@account.dfs.core.windows.net/a": "abfs://account.dfs.core.windows.net/a",
    "file:///folder/a%20b.txt": "file:///folder/a%20b.txt",
    "s3://bucket/mail@home/a.txt": "s3://bucket/mail@home/a.txt",
    "https://host.org:8080/a@b/c.txt": "https://host.org:8080/a@b/c.txt",
    "s3://key:12/ret@bucket/a.txt": "s3://bucket/a.txt",
    "zip://a.csv::https://user:secret@host.org/x": "zip://host.org/x",
    "s3://[bucket/a.txt": "s3://[bucket/a.txt",
    "s3://bucket/a.txt\r\n": "s3://bucket/a.txt",
}


@pytest.mark.parametrize("address", ["file://localhost/folder/a.txt", "FILE://LocalHost/folder/a.txt"])
def test_localhost_is_this_machine(address):
    assert shown(address) == "file:///folder/a.txt" and place_of(address).path == "/folder/a.txt"
    assert shown("file:///localhost/a.txt") == "file:///localhost/a.txt"


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_shown(address):
    assert is_address(address)
    assert shown(address) == shown(Path(address)) == ADDRESSES[address]
    assert shown(shown(address)) == shown(address)


@pytest.mark.parametrize("path", ["a.txt", "/a/b", "C:/a", "folder:x", "-", "s3", "..", "a b://c"])
def test_paths_are_no_addresses(path):
    assert not is_address(path) and shown(path) == path == whole(path)


SECRETS = st.text("abcdefghij0123456789+/=%&#?", min_size=8, max_size=30)


@given(SECRETS, SECRETS, SECRETS)
def test_no_secret_is_shown_or_quoted(user, password, signature):
    user, password, signature = (f"Zz{quote(text, safe='')}zZ" for text in (user, password, signature))
    address = f"s3://{user}:{password}@bucket/folder/a.txt?signature={signature}&X={password}"
    message = f"cannot open {address}: {password} of {user} does not fit {signature}"
    for said in (shown(address), shown(Path(address)), without_secrets(message, parse(address))):
        assert "Zz" not in said and "zZ" not in said
        assert "bucket/folder/a.txt" in said


def test_a_secret_key_with_a_slash_is_a_secret_whole():
    address = parse("s3://key:sec/ret@bucket/a.txt?endpoint_override=host.org:9000&scheme=http")
    assert address == ("s3", "key:sec/ret", "bucket", "/a.txt", "endpoint_override=host.org:9000&scheme=http")


@pytest.mark.parametrize(
    ("address", "message", "left"),
    [
        (
            "s3://key:sec/ret@bucket/a.txt?endpoint_override=host.org:9000&scheme=http",
            "no answer of http://host.org:9000 for 'ret@bucket' with sec/ret",
            "no answer of http://host.org:9000 for 'ret@bucket' with …",
        ),
        ("s3://key:hid%2Fden@bucket/a.txt", "hid/den, hid%2Fden", "…, …"),
        ("s3://bucket/a.txt?token=wo%20rd+s", "wo rd+s, wo rd s, wo%20rd+s", "…, …, …"),
        ("s3://bucket/a", "denied: of-the-environment/words", "denied: …"),
    ],
)
def test_secrets_are_left_out_however_they_are_quoted(monkeypatch, address, message, left):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-environment/words")
    assert without_secrets(message, parse(address)) == left


@pytest.mark.parametrize(
    ("error", "writes", "kind", "said"),
    [
        (OSError("AWS Error NO_SUCH_BUCKET during ListObjectsV2"), False, BadInputError, "no such bucket"),
        (FileNotFoundError("gone"), False, BadInputError, "no such file"),
        (PermissionError("no"), True, MissingError, "not allowed to write"),
        (OSError("curlCode: 56, Failure when receiving"), False, MissingError, "the connection failed"),
        (RuntimeError(), False, MissingError, "RuntimeError"),
        (ImportError("install aiohttp"), False, MissingError, "install aiohttp"),
        (OSError("ACCESS_DENIED (Request ID: 1b)"), False, BadInputError, r"read it \(ACCESS_DENIED\);"),
        (OSError("Bucket 'b' not found"), False, BadInputError, "no such bucket"),
        (ValueError("Invalid port hidden"), False, UsageError, "makes no sense as an address"),
    ],
)
def test_what_clients_raise_becomes_one_line(error, writes, kind, said):
    address = parse("s3://k:hidden@b/a?s=hidden")
    with pytest.raises(kind, match=said) as raised, explained("s3://b/a", address, writes):
        raise error
    assert "hidden" not in str(raised.value)
    assert str(raised.value).startswith("s3://b/a: ") and "\n" not in str(raised.value)
    assert raised.value.__suppress_context__  # no traceback of the client's, which may quote the address

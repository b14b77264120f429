"""Object stores in earnest: S3 as moto's server speaks it on the loopback, and servers that fail.

pyarrow's client is C++, so everything goes over a socket. Every wait is bounded: by the client's own limits,
which are made small here, and by pytest's.
"""

import contextlib
import gzip
import http.server
import json
import socket
import threading

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

import augment_cli
from augment_cli.errors import BadInputError, MissingError
from augment_cli.remote import files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@contextlib.contextmanager
def refused(kind, match):
    """Refused in one line that has no secret in it."""
    with pytest.raises(kind, match=match) as raised:
        yield
    assert "hidden" not in str(raised.value) and "\n" not in str(raised.value)


LINES = [f"the heron of river {number} waits near bridge {number % 7}" for number in range(20_000)]


@pytest.fixture(autouse=True)
def quick_to_give_up(monkeypatch):
    monkeypatch.setattr(files, "CONNECT_SECONDS", 2.0)
    monkeypatch.setattr(files, "SILENT_SECONDS", 1.0)
    monkeypatch.setattr(files, "TRIES", 2)
    monkeypatch.setattr(files, "_FIRST_PAUSE", 0.01)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(scope="module")
def server():
    from moto.server import ThreadedMotoServer  # slow to load

    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield running.get_host_and_port()
    running.stop()


@pytest.fixture(scope="module")
def client(server):
    host, port = server
    system = pyarrow.fs.S3FileSystem(
        access_key="key",
        secret_key="hidden/secret",
        endpoint_override=f"{host}:{port}",
        scheme="http",
        region="us-east-1",
        allow_bucket_creation=True,
    )
    system.create_dir("bucket")
    return system


def at(server, path, user="key:hidden%2Fsecret@"):
    host, port = server
    return f"s3://{user}{path}?endpoint_override={host}:{port}&scheme=http&region=us-east-1"


@pytest.fixture(scope="module")
def corpus(client, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    text = "".join(f"{line}\n" for line in LINES).encode()
    (folder / "a.txt.gz").write_bytes(gzip.compress(text))
    (folder / "b.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in LINES))
    (folder / "c.csv").write_text("text\n" + "".join(f"{line}\n" for line in LINES))
    pq.write_table(pa.table({"text": LINES}), folder / "d.parquet", row_group_size=5_000)
    (folder / "e#1 %20é.txt").write_text("a name that is not only letters\n")
    for path in folder.iterdir():
        with client.open_output_stream(f"bucket/corpus/{path.name}", compression=None) as stream:
            stream.write(path.read_bytes())
    return folder


class Proxy:
    """Passes bytes to a server and back; cuts the first `cuts` connections after so many bytes of answers."""

    def __init__(self, server, after, cuts):
        self._server, self._after, self.cuts = server, after, cuts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = self._listener.getsockname()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:  # closed: the test is over
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near):
        with near, socket.create_connection(self._server, timeout=20) as far:
            near.settimeout(20)
            asking = threading.Thread(target=self._ask, args=(near, far), daemon=True)
            asking.start()
            self._answer(far, near)
            asking.join(20)

    def _ask(self, near, far):
        with _passing(near, far):
            while data := near.recv(65_536):
                far.sendall(data)

    def _answer(self, far, near):
        passed = 0
        with _passing(far, near):
            while data := far.recv(65_536):
                passed += len(data)
                if self.cuts and passed > self._after:
                    self.cuts -= 1
                    near.sendall(data[: max(0, self._after - passed)])
                    return
                near.sendall(data)

    def close(self):
        self._listener.close()


@contextlib.contextmanager
def _passing(*ends):
    """Whatever ends it, both ends hear of it."""
    with contextlib.suppress(OSError):
        yield
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(server):
    proxies = []

    def begin(**limits):
        proxies.append(Proxy(server, **limits))
        return proxies[-1]

    yield begin
    for one in proxies:
        one.close()


@pytest.mark.parametrize("what", ["corpus", "corpus/*", "corpus/"])
def test_a_corpus_in_a_bucket_is_the_one_in_a_folder(server, corpus, tmp_path, what):
    augment_cli.ingest_corpus(corpus, tmp_path / "local")
    augment_cli.ingest_corpus(at(server, f"bucket/{what}"), tmp_path / "store")
    made, local = (tmp_path / name / "manifest.json" for name in ("store", "local"))
    assert made.read_bytes() == local.read_bytes()
    assert b"hidden" not in made.read_bytes()


def test_the_command_with_credentials_from_the_environment(server, corpus, tmp_path, process):
    environment = {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "hidden",
        "AWS_ENDPOINT_URL": "http://{}:{}/".format(*server),
    }

    def command(*words):
        result = process(*words, cwd=tmp_path, **environment)
        assert "hidden" not in result.stdout + result.stderr
        return result

    result = command("ingest", "--corpus", "s3://bucket/corpus/*.gz", "--store", "one", "--limit", "50")
    assert result.returncode == 0, result.stderr
    assert augment_cli.open_store(tmp_path / "one").rows == 50
    assert command("publish", "one", "s3://bucket/one").returncode == 0
    assert command("fetch", "s3://bucket/one", "two").returncode == 0
    refused = command("ingest", "--corpus", "s3://key:hidden@no-such-bucket/a.txt", "--store", "three")
    assert refused.returncode == 4 and len(refused.stderr.strip().splitlines()) == 1
    assert "s3://no-such-bucket/a.txt: " in refused.stderr
    live = command("una", "--store", "s3://key:hidden@bucket/one")
    assert live.returncode == 2 and "augment-cli fetch s3://bucket/one FOLDER" in live.stderr


@pytest.mark.parametrize("name", ["a.txt.gz", "c.csv", "d.parquet"])
@pytest.mark.parametrize("cuts", [2, 10_000])
def test_a_connection_cut_half_way(server, corpus, proxy, tmp_path, name, cuts):
    size = (corpus / name).stat().st_size
    cutting = proxy(after=size // 2, cuts=cuts)
    address = at(cutting.place, f"bucket/corpus/{name}")
    if cuts == 2:
        assert augment_cli.ingest_corpus(address, tmp_path / "store").kept == len(LINES)
        assert cutting.cuts == 0
        return
    with refused(MissingError, rf"^s3://bucket/corpus/{name}: the connection failed"):
        augment_cli.ingest_corpus(address, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_publish_and_fetch_with_connections_that_are_cut(server, client, proxy, store, tmp_path):
    url = at(server, "bucket/published")
    parts = sum(len(store.stage(name).parts) for name in store.stages())
    assert augment_cli.publish(store.path, url).copied == parts
    assert augment_cli.publish(store.path, url).copied == 0
    published = (store.path / "manifest.json").read_bytes()
    with client.open_input_stream("bucket/published/manifest.json") as stream:
        assert stream.read() == published

    cutting = proxy(after=3_000, cuts=3)
    augment_cli.fetch(at(cutting.place, "bucket/published"), tmp_path / "cut")
    assert cutting.cuts == 0
    assert (tmp_path / "cut" / "manifest.json").read_bytes() == published
    dead = proxy(after=0, cuts=10_000)
    with pytest.raises(MissingError, match="the connection failed"):
        augment_cli.fetch(at(dead.place, "bucket/published"), tmp_path / "dead")
    assert not (tmp_path / "dead").exists()


def test_a_missing_bucket_or_file(server, client, store, tmp_path):
    for path in ("missing-bucket/a.txt", "bucket/missing.txt", "bucket/missing/*", "missing-bucket/*.gz"):
        with refused(BadInputError, r"^s3://(missing-)?bucket/.*(no such|correct)"):
            augment_cli.ingest_corpus(at(server, path), tmp_path / "made")
    with pytest.raises(BadInputError, match=r"^s3://missing-bucket/x/.*no such bucket"):
        augment_cli.publish(store.path, at(server, "missing-bucket/x"))
    with pytest.raises(BadInputError):
        augment_cli.fetch(at(server, "missing-bucket/x"), tmp_path / "made")
    assert not (tmp_path / "made").exists()


EMPTY = b'<?xml version="1.0"?><ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>'


class ReadOnly(http.server.BaseHTTPRequestHandler):
    def _answer(self, status, body=b""):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self._answer(404)

    def do_GET(self):
        self._answer(200, EMPTY)

    def do_PUT(self):
        self._answer(403)

    do_POST = do_PUT  # noqa: N815, the library's names

    def log_message(self, *arguments):
        pass


class Forbidding(ReadOnly):
    do_GET = do_HEAD = ReadOnly.do_PUT  # noqa: N815


@pytest.fixture
def answering():
    with contextlib.ExitStack() as running:

        def begin(handler):
            server = running.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            running.callback(server.shutdown)
            return server.server_address

        yield begin


def test_no_permission(answering, store, tmp_path):
    address, made = at(answering(Forbidding), "bucket/a.txt"), tmp_path / "made"
    for call, *arguments in (
        (augment_cli.ingest_corpus, address, made),
        (augment_cli.fetch, address, made),
        (augment_cli.publish, store.path, address),
    ):
        with refused(BadInputError, r"^s3://bucket/a.txt\S*: not allowed to read it"):
            call(*arguments)
    assert not made.exists()
    with refused(MissingError, r"^s3://bucket/folder/\S+: not allowed to write it"):
        augment_cli.publish(store.path, at(answering(ReadOnly), "bucket/folder"))


@pytest.mark.parametrize("listens", [True, False])
def test_a_server_that_never_answers(tmp_path, listens):
    """The wait ends, here after some seconds; `pytest.mark.timeout` says that it did."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
        place = silent.getsockname()
        if not listens:
            silent.close()
        with pytest.raises(MissingError, match="the connection failed"):
            augment_cli.ingest_corpus(at(place, "bucket/a.txt"), tmp_path / "store")
    assert not (tmp_path / "store").exists()

"""A server that speaks the OpenAI protocol on this machine, and does whatever a test wants of it."""

import contextlib
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FaultyServer(ThreadingHTTPServer):
    """It notes each request, and how many were under way at a time."""

    daemon_threads = True

    def __init__(self, behave):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.behave = threading.Lock(), behave
        self.requests, self.under_way, self.most = [], 0, 0
        self.endpoint = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyServer

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append((self.path, dict(self.headers), body))
            server.under_way += 1
            server.most = max(server.most, server.under_way)
            number = len(server.requests) - 1
        try:
            with contextlib.suppress(OSError):
                server.behave(self, number, body)
        finally:
            with server.lock:
                server.under_way -= 1

    def reply(self, value, status=200, **headers):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        with self.server.lock:  # no longer under way once its bytes are out
            self.server.under_way -= 1
        self.send_response(status)
        for name, one in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), one)
        self.end_headers()
        self.wfile.write(data)
        with self.server.lock:
            self.server.under_way += 1

    def answer(self, text, finish="stop", **more):
        self.reply(answer(text, finish, **more))

    def drip(self, value, seconds=0.002):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for byte in data:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(seconds)

    def cut(self, after=b""):
        """The connection is gone, in the middle of an answer where one is given."""
        if after:
            self.send_response(200)
            self.send_header("Content-Length", str(len(after) + 100))
            self.end_headers()
            self.wfile.write(after)
            self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *args):
        pass


def answer(text, finish="stop", model="small", **message):
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **message},
        "finish_reason": finish,
    }
    return {"model": model, "choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


def last_text(body):
    return body["messages"][-1]["content"].partition(": ")[2]


@contextlib.contextmanager
def serving(behave):
    """A server; `behave(handler, number, body)` is called with each request, numbered from 0."""
    server = FaultyServer(behave)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

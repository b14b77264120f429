"""A server of files on the loopback interface, with faults where a test wants them."""

import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@pytest.fixture()
def server():
    """Serves `server.files` by path; `server.faults[path]` is a list of what goes wrong first."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.lstrip("/")
            server: Any = self.server
            server.asked.append(path)
            fault = server.faults[path].pop(0) if server.faults[path] else None
            if isinstance(fault, int) or path not in server.files:
                self.send_error(fault or 404)
                return
            body = server.files[path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)

        def log_message(self, *arguments):
            pass

    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.faults, server.asked = {}, defaultdict(list), []
    server.host = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()

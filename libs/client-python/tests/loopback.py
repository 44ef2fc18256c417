"""An HTTP server on a free port of this machine, for tests that play the service."""

from __future__ import annotations

import http.server
import threading
from typing import Any, Type


class Handler(http.server.BaseHTTPRequestHandler):
    """Without a log, and with one method for reads and changes."""

    def handle_request(self, body: bytes) -> None:
        raise NotImplementedError

    def do_GET(self) -> None:
        self.handle_request(self.rfile.read(int(self.headers.get("content-length") or 0)))

    do_POST = do_GET

    def reply(self, status: int, content: bytes, **headers: str) -> None:
        """Header names may have ``_`` for ``-``."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        self.send_response(status)
        for name, text in {"content-length": str(len(content)), **named}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class LoopbackServer:
    def __init__(self, handler: Type[Handler]) -> None:
        #: Set at the end: a stalled reply waits for it.
        self.over = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

"""Servers of this machine that take the requests of the AWS Batch and Kubernetes clients.

They keep what is asked, and answer that each job has failed: no test has an account.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# What AWS Batch answers, by the last part of the address.
_AWS = {
    "registerjobdefinition": {"jobDefinitionName": "d", "jobDefinitionArn": "a", "revision": 1},
    "submitjob": {"jobName": "j", "jobId": "1"},
    "describejobs": {"jobs": [{"jobId": "1", "jobName": "j", "status": "FAILED"}]},
}


@contextmanager
def requests() -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """A server's address, and a list of (path, JSON body) that grows with what is sent."""
    seen: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or "null")
            if self.command == "POST":
                seen.append((self.path, body))
            content = json.dumps(self._reply(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _reply(self, body: Any) -> Any:
            if self.path.startswith("/v1/"):
                return _AWS.get(self.path.split("/")[-1], {})
            if self.command == "POST":
                return body
            # Of a Kubernetes job, and of the pods that there are for it.
            return {"metadata": {"name": "j"}, "status": {"failed": 1}, "items": []}

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *_) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()

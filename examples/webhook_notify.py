"""Tells you when an agent waits: receives turnwire's webhooks, checks their signature, and says it on the desktop or here.

    TURNWIRE_WEBHOOK_SECRET=… python examples/webhook_notify.py 8901

In turnwire.toml:  [[webhooks]]
                   url = "http://127.0.0.1:8901/"
                   secret_env = "TURNWIRE_WEBHOOK_SECRET"

Standard library alone; with the package `standardwebhooks` the check is `Webhook(secret).verify(body, headers)`.
"""

import base64
import hashlib
import hmac
import json
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LARGEST = 1 << 20
"""Bytes of a body."""

OLDEST_S = 300
"""Seconds that a message may be old: what somebody has kept is not said again."""

seen: deque[str] = deque(maxlen=1000)
"""Ids that were told: turnwire sends again what it believes lost."""


def verified(body: bytes, headers: Mapping[str, str], secret: str, now: float) -> bool:
    """Return whether turnwire signed this, lately."""
    name, sent, signatures = (headers.get(f"webhook-{what}", "") for what in ("id", "timestamp", "signature"))
    if not sent.isdigit() or abs(now - int(sent)) > OLDEST_S:
        return False
    key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
    digest = hmac.new(key, f"{name}.{sent}.".encode() + body, hashlib.sha256).digest()
    right = "v1," + base64.b64encode(digest).decode()
    return any(hmac.compare_digest(right.encode(), one.encode()) for one in signatures.split())


def sentence(kind: str, event: Mapping[str, Any]) -> str:
    """Say what happened in a line."""
    match kind:
        case "permission_request":
            return f"An agent asks for leave: {event['permission_title']}"
        case "question_request":
            asked = event.get("message") or "; ".join(each["question"] for each in event.get("questions", []))
            return f"An agent asks: {asked}"
        case "complete":
            return f"A turn is over: {event['data'].get('outcome')}"
        case _:
            return f"{kind}: {event.get('state', '')}"


class Receiver(BaseHTTPRequestHandler):
    """Takes what turnwire posts."""

    secret = os.environ.get("TURNWIRE_WEBHOOK_SECRET", "")

    def do_POST(self) -> None:
        """Check the signature, answer at once, then tell."""
        length = int(self.headers.get("content-length", "0"))
        body = self.rfile.read(min(length, LARGEST))
        genuine = verified(
            body, {key.lower(): value for key, value in self.headers.items()}, self.secret, time.time()
        )
        self.send_response(204 if genuine else 401)
        self.end_headers()
        name = self.headers.get("webhook-id", "")
        if genuine and name not in seen:
            seen.append(name)
            message = json.loads(body)
            tell(sentence(message["type"], message["data"]["event"]))

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def tell(words: str) -> None:
    """Say it on the desktop, where there is one, and here."""
    print(words, flush=True)
    if shutil.which("notify-send") and "DISPLAY" in os.environ:
        subprocess.run(["notify-send", "--", "turnwire", words], check=False)


if __name__ == "__main__":
    if not Receiver.secret:
        sys.exit("set TURNWIRE_WEBHOOK_SECRET")
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver) as server:
        print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()

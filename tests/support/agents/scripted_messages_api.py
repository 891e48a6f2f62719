"""A Messages API on loopback that answers from a plan, so that a real CLI runs whole turns offline.

What a request is answered with is, in this order: the first queued `Reply`; the plan inside the prompt
(`plan(step, step, …)`: step k answers after k tool results); the text "ok: " and the start of the prompt.
Threaded, because a CLI keeps several requests open and a `Hang` must hold one of them without holding the rest.
Every request is kept in `requests`, so that a test can assert what the model would have seen.
"""

import itertools
import json
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

JSON = dict[str, Any]
"""A JSON object of the Messages API: its values are the API's, not ours."""


def text(value: str) -> JSON:
    """A text block."""
    return {"type": "text", "text": value}


def thinking(value: str) -> JSON:
    """A thinking block."""
    return {"type": "thinking", "thinking": value}


def tool_use(name: str, /, **arguments: object) -> JSON:
    """A call of the tool `name`."""
    return {"type": "tool_use", "name": name, "input": arguments}


def sleep(seconds: float) -> JSON:
    """A pause of the stream; it ends early when the server closes."""
    return {"type": "sleep", "s": seconds}


def pause() -> JSON:
    """The stream stands still until `resume`; it goes on as well when the server closes."""
    return {"type": "pause"}


def http_error(status: int, error: str, message: str, headers: dict[str, str] | None = None) -> JSON:
    """An answer with an HTTP error; stands alone in its step."""
    return {
        "type": "http_error",
        "status": status,
        "error": error,
        "message": message,
        "headers": headers or {},
    }


def drop() -> JSON:
    """The connection breaks here, in the middle of the stream."""
    return {"type": "drop"}


def hang() -> JSON:
    """Nothing more is sent until the client goes or the server closes."""
    return {"type": "hang"}


Step = Sequence[JSON]


def plan(*steps: Step, note: str = "") -> str:
    """Return a prompt that carries what the model is to answer, step by step."""
    return f"{note} {json.dumps({'steps': steps})}".strip()


@dataclass
class ScriptedMessagesApi:
    """The running server: its address, what it was asked, and what it is to answer."""

    url: str
    requests: list[JSON] = field(default_factory=list)
    """The bodies of all message requests, in order of arrival."""
    model: Callable[[str, int], Step] | None = None
    """Answers what has no plan: from the prompt and how many results came after it."""
    _queue: deque[Step] = field(default_factory=deque)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)
    resumed: threading.Event = field(default_factory=threading.Event)

    def resume(self) -> None:
        """Let streams go on that stand at a `pause`, and those that come to one."""
        self.resumed.set()

    def queue(self, *steps: Step) -> None:
        """Answer the next requests with these steps, whatever they ask."""
        with self._lock:
            self._queue.extend(steps)

    def prompts(self) -> list[str]:
        """The newest prompt of every request, in order of arrival."""
        with self._lock:
            return [_last_prompt(body["messages"])[0] for body in self.requests]

    def next_id(self, prefix: str) -> str:
        """Return a fresh id."""
        with self._lock:
            return f"{prefix}_{next(self._ids):06d}"

    def answer(self, body: JSON) -> list[JSON]:
        """Note the request and return its answer's blocks."""
        with self._lock:
            self.requests.append(body)
            queued = self._queue.popleft() if self._queue else None
        step = queued
        if step is None and self.model is not None:
            step = self.model(*_last_prompt(body["messages"]))
        blocks = [dict(block) for block in (_planned(body["messages"]) if step is None else step)]
        for block in blocks:
            if block["type"] == "tool_use":
                block.setdefault("id", self.next_id("toolu"))
        return blocks


# what the CLI itself writes into user messages, beside the prompt
_NO_PROMPT = ("<system-reminder>", "[Request interrupted")


def _last_prompt(messages: list[JSON]) -> tuple[str, int]:
    """The newest prompt, and how many messages with tool results came after it."""
    results = 0
    for message in reversed(messages):
        if message["role"] != "user":
            continue
        content = message["content"]
        if isinstance(content, str):
            return content, results
        # after an interrupt one message carries the broken call's result and, behind it, the next prompt
        has_result = False
        for block in reversed(content):
            if block["type"] == "text" and not block["text"].lstrip().startswith(_NO_PROMPT):
                return block["text"], results + has_result
            has_result = has_result or block["type"] == "tool_result"
        results += has_result
    return "", results


def _planned(messages: list[JSON]) -> Step:
    prompt, results = _last_prompt(messages)
    start = prompt.find('{"steps"')
    if start < 0:
        return [text("ok: " + prompt[:50])]
    steps: list[Step] = json.JSONDecoder().raw_decode(prompt[start:])[0]["steps"]
    return steps[results] if results < len(steps) else [text("done.")]


USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 5,
    "cache_read_input_tokens": 7,
    "output_tokens": 20,
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def api(self) -> ScriptedMessagesApi:
        return cast("_Server", self.server).api

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class names it so
        """Say nothing: stderr belongs to the test."""

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not self.path.startswith("/v1/messages"):
            self._json({})
        elif "count_tokens" in self.path:
            self._json({"input_tokens": 10})
        else:
            try:
                self._messages(json.loads(raw))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the CLI was interrupted or has gone

    def _json(self, value: JSON, status: int = 200, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, content in (headers or {}).items():
            self.send_header(name, content)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _messages(self, body: JSON) -> None:
        blocks = self.api.answer(body)
        if blocks and blocks[0]["type"] == "http_error":
            error = {"type": blocks[0]["error"], "message": blocks[0]["message"]}
            body = {"type": "error", "error": error}
            self._json(body, blocks[0]["status"], blocks[0].get("headers"))
            return
        stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
        head = {
            "id": self.api.next_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "stop_reason": None,
            "stop_sequence": None,
        }
        if not body.get("stream"):
            content = [block for block in blocks if block["type"] in _EMPTY]
            self._json({**head, "content": content, "stop_reason": stop, "usage": USAGE})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if self._stream(head, blocks, stop):
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _stream(self, head: JSON, blocks: list[JSON], stop: str) -> bool:
        """Send the blocks as server-sent events; False when the stream is to end in its middle."""
        self._event("message_start", message={**head, "content": [], "usage": {**USAGE, "output_tokens": 1}})
        index = 0
        for block in blocks:
            match block["type"]:
                case "sleep":
                    self.api.closing.wait(block["s"])
                case "pause":
                    self.api.resumed.wait()
                case "hang":
                    self.api.closing.wait()
                    return False
                case "drop":
                    return False
                case _:
                    self._block(index, block)
                    index += 1
        self._event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=USAGE)
        self._event("message_stop")
        return True

    def _block(self, index: int, block: JSON) -> None:
        kind = block["type"]
        empty = dict(_EMPTY[kind])
        if kind == "tool_use":
            empty |= {"id": block["id"], "name": block["name"]}
            delta, key, value = "input_json_delta", "partial_json", json.dumps(block["input"])
        else:
            delta, key, value = f"{kind}_delta", kind, block[kind]
        self._event("content_block_start", index=index, content_block=empty)
        size = max(1, len(value) // 4)
        for at in range(0, len(value), size):
            self._event("content_block_delta", index=index, delta={"type": delta, key: value[at : at + size]})
        if kind == "thinking":
            signature = {"type": "signature_delta", "signature": "c2ln"}
            self._event("content_block_delta", index=index, delta=signature)
        self._event("content_block_stop", index=index)

    def _event(self, name: str, **fields: object) -> None:
        event = f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()


_EMPTY: dict[str, JSON] = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
    "tool_use": {"type": "tool_use", "input": {}},
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no error; anything else belongs on stderr."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    api: ScriptedMessagesApi


@contextmanager
def scripted_messages_api() -> Iterator[ScriptedMessagesApi]:
    """Serve on 127.0.0.1 and a free port while the context is open."""
    server = _Server(("127.0.0.1", 0), _Handler)
    api = server.api = ScriptedMessagesApi(url=f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api.closing.set()
        api.resume()
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)

"""The model APIs that agents other than Claude Code ask, on loopback: OpenAI's chat completions and responses, and Gemini's.

A test queues answers; each main request takes the next one. Requests without tools are an agent's own business (titles,
routing, "who speaks next"), and get an answer that settles it. Every request is kept, so that a test can see what the
model would have seen.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = dict[str, Any]
"""A JSON object of somebody else's API."""

USAGE = (100, 20)
"""Tokens of the prompt and of the answer, of every answer."""


@dataclass(frozen=True)
class Say:
    """The model says something, in two pieces."""

    text: str


@dataclass(frozen=True)
class Call:
    """The model calls a tool."""

    tool: str
    arguments: JSON
    namespace: str | None = None
    """Where the responses API has the tool, if in a namespace."""


@dataclass(frozen=True)
class Wait:
    """The stream stands still until the agent hangs up, or the server closes."""


@dataclass(frozen=True)
class Patch:
    """The model calls `apply_patch` of the responses API, which takes a text."""

    text: str


@dataclass(frozen=True)
class Fail:
    """The API answers with an HTTP error."""

    status: int
    message: str


Part = Say | Call | Patch | Wait | Fail
Answer = Sequence[Part]


@dataclass
class ScriptedModels:
    """The server's state."""

    url: str = ""
    answers: deque[Answer] = field(default_factory=deque)
    """What the next main requests are answered with; then "Done."."""
    requests: list[JSON] = field(default_factory=list)
    """The bodies of the main requests."""
    model: Callable[[str, int], Answer] | None = None
    """Answers what is not queued: from the prompt and how many results of tools came after it."""
    closing: threading.Event = field(default_factory=threading.Event)
    waiting: threading.Event = field(default_factory=threading.Event)
    """Set once a stream stands still."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, body: JSON) -> Answer:
        """Take the next answer for a main request."""
        with self._lock:
            self.requests.append(body)
            if self.answers:
                return self.answers.popleft()
            return [Say("Done.")] if self.model is None else self.model(*last_prompt(body))


def last_prompt(body: JSON) -> tuple[str, int]:
    """The newest prompt of a request to any of the APIs, and how many results of tools came after it.

    Of the responses API these are all prompts since the last answer: one that joins a turn is a message of its own.
    """
    results = 0
    said: list[str] = []
    for message in reversed(body.get("messages") or body.get("contents") or body.get("input") or []):
        if str(message.get("type")).endswith("_output"):
            results += 1
            continue
        parts = message.get("content") or message.get("parts") or []
        words = parts if isinstance(parts, str) else "".join(part.get("text") or "" for part in parts)
        has_result = message.get("role") == "tool" or any(
            "functionResponse" in part for part in parts if isinstance(part, dict)
        )
        results += has_result
        if message.get("role") == "user" and not has_result and words.strip():
            said.insert(0, words)
            if "input" not in body:
                break
        elif said:
            break
    return "\n".join(said), results


def side_answer(body: JSON) -> str:
    """An answer to a request that is no step of the conversation."""
    asked = json.dumps(body)
    if "next_speaker" in asked:
        return json.dumps({"reasoning": "It is the user's turn.", "next_speaker": "user"})
    if "complexity" in asked:
        return json.dumps(
            {
                "complexity_reasoning": "Simple.",
                "complexity_score": 1,
                "reasoning": "",
                "model_choice": "flash",
            }
        )
    return "A title"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    models: ScriptedModels

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the base class
        """Say nothing."""

    def do_GET(self) -> None:
        """List no models."""
        self._json({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        """Answer a question to a model."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body: JSON = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        gemini, responses = "enerateContent" in self.path, self.path.endswith("/responses")
        if not gemini and not responses and "chat/completions" not in self.path:
            self._json({"totalTokens": USAGE[0]})
            return
        answer = self.models.next(body) if body.get("tools") else [Say(side_answer(body))]
        streams = body.get("stream") if not gemini else "streamGenerateContent" in self.path
        failed = next((part for part in answer if isinstance(part, Fail)), None)
        try:
            if failed is not None:
                self._json({"error": {"message": failed.message, "type": "error"}}, failed.status)
            elif responses:
                self._respond(answer)
            elif streams:
                self._stream(answer, gemini=gemini)
            else:
                self._json(_gemini(answer, last=True) if gemini else _chat_whole(answer))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the agent has hung up, as it does when it is cancelled

    def _json(self, body: JSON, status: int = 200) -> None:
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def _stream(self, answer: Answer, *, gemini: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in answer:
            if isinstance(part, Wait):
                self._stand_still()
                return
            for event in _gemini_events(part) if gemini else _chat_events(part, answer):
                self._event(event)
        if gemini:
            self._event(_gemini([], last=True))
        else:
            calls = any(isinstance(part, Call) for part in answer)
            self._event(_chat({}, finish="tool_calls" if calls else "stop"))
            self._event({**_chat({}), "choices": [], "usage": _USED})
            self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _respond(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        whole: JSON = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
        self._event({"type": "response.created", "response": whole})
        for place, part in enumerate(answer):
            if isinstance(part, Wait):
                self._stand_still()
                return
            waits = Wait() in answer[place:]
            for event in _response_events(
                part, place, f"{len(self.models.requests)}_{place}", whole=not waits
            ):
                self._event(event)
        sent, received = USAGE
        used: JSON = {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received}
        used |= {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        self._event(
            {"type": "response.completed", "response": {**whole, "status": "completed", "usage": used}}
        )
        self._chunk(b"")

    def _stand_still(self) -> None:
        self.models.waiting.set()
        # a comment now and then, so that it is seen when the agent hangs up
        while not self.models.closing.wait(0.1):
            self._chunk(b": \n\n")

    def _event(self, event: JSON) -> None:
        self._chunk(b"data: " + json.dumps(event).encode() + b"\r\n\r\n")

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
        self.wfile.flush()


def _halves(text: str) -> list[str]:
    middle = max(1, len(text) // 2)
    return [half for half in (text[:middle], text[middle:]) if half]


# Gemini


def _gemini(parts: Sequence[Any], *, last: bool = False) -> JSON:
    content = [
        {"text": part.text}
        if isinstance(part, Say)
        else {"functionCall": {"name": part.tool, "args": part.arguments}}
        for part in parts
    ]
    candidate: JSON = {"index": 0, "content": {"role": "model", "parts": content or [{"text": ""}]}}
    answer: JSON = {"candidates": [candidate], "modelVersion": "scripted"}
    if last:
        candidate["finishReason"] = "STOP"
        prompt, answered = USAGE
        answer["usageMetadata"] = {
            "promptTokenCount": prompt, "candidatesTokenCount": answered, "totalTokenCount": prompt + answered,
        }  # fmt: skip
    return answer


def _gemini_events(part: Part) -> list[JSON]:
    if isinstance(part, Say):
        return [_gemini([Say(half)]) for half in _halves(part.text)]
    return [_gemini([part])]


# OpenAI

_USED = {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[1], "total_tokens": sum(USAGE)}


def _chat(delta: JSON, finish: str | None = None) -> JSON:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chat-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted-1",
        "choices": [choice],
    }


def _chat_events(part: Part, answer: Answer) -> list[JSON]:
    if isinstance(part, Say):
        return [_chat({"role": "assistant", "content": half}) for half in _halves(part.text)]
    assert isinstance(part, Call)
    place = [one for one in answer if isinstance(one, Call)].index(part)
    call = {"index": place, "id": f"call_{id(part):x}", "type": "function"}
    called = {**call, "function": {"name": part.tool, "arguments": json.dumps(part.arguments)}}
    return [_chat({"role": "assistant", "tool_calls": [called]})]


def _chat_whole(answer: Answer) -> JSON:
    text = "".join(part.text for part in answer if isinstance(part, Say))
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted-1",
        "choices": [choice],
        "usage": _USED,
    }


# OpenAI's responses


def _response_events(part: Part, place: int, name: str, *, whole: bool) -> list[JSON]:
    """The events of one item; without `whole`, one that never ends."""

    def event(kind: str, **more: Any) -> JSON:
        return {"type": f"response.{kind}", "output_index": place, **more}

    match part:
        case Say(text):
            item: JSON = {"id": f"msg_{name}", "type": "message", "role": "assistant", "content": []}
            done = {**item, "content": [{"type": "output_text", "text": text, "annotations": []}]}
            pieces = [
                event("output_text.delta", item_id=item["id"], content_index=0, delta=half)
                for half in _halves(text)
            ]
        case Call(tool, arguments, namespace):
            called = {"type": "function_call", "call_id": f"call_{name}", "name": tool}
            if namespace is not None:
                called["namespace"] = namespace
            item = done = {"id": f"fc_{name}", **called, "arguments": json.dumps(arguments)}
            pieces = []
        case Patch(text):
            called = {"type": "custom_tool_call", "call_id": f"call_{name}", "name": "apply_patch"}
            item = done = {"id": f"ctc_{name}", "status": "completed", **called, "input": text}
            pieces = []
        case _:
            return []
    began = [event("output_item.added", item=item), *pieces]
    return [*began, event("output_item.done", item=done)] if whole else began


@contextmanager
def scripted_models() -> Iterator[ScriptedModels]:
    """Serve while the context is open."""
    models = ScriptedModels()
    handler = type("Handler", (_Handler,), {"models": models})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    models.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield models
    finally:
        models.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()

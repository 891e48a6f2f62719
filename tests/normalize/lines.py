"""Lines of a CLI, written short, and events told short: a test of the translator reads as a transcript."""
# ruff: noqa: A002 - arguments have the names of the fields they become

import json
from typing import Any

from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.inputs import Decision, Ended, Received, Sent
from turnwire.protocol.claude.decode import decode

JsonObject = dict[str, Any]

SESSION = "s"


def system(subtype: str, **fields: Any) -> JsonObject:
    return {"type": "system", "subtype": subtype, "session_id": SESSION, **fields}


def init(version: str | None = "2.1.330", model: str = "claude-opus-5-5", **fields: Any) -> JsonObject:
    told = {} if version is None else {"claude_code_version": version}
    return system("init", model=model, **told, **fields)


def assistant(
    *content: JsonObject, id: str | None = "m1", uuid: str | None = "a1", **fields: Any
) -> JsonObject:
    body = {"id": id, "content": list(content), "model": fields.pop("model", "claude-opus-5-5")}
    if "usage" in fields:
        body["usage"] = fields.pop("usage")
    parent = fields.pop("parent", None)
    return {
        "type": "assistant",
        "message": body,
        "uuid": uuid,
        "session_id": SESSION,
        "parent_tool_use_id": parent,
        **fields,
    }


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def thinking(words: str) -> JsonObject:
    return {"type": "thinking", "thinking": words, "signature": ""}


def tool_use(id: str, name: str = "Bash", **arguments: Any) -> JsonObject:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments or {"command": "ls"}}


def tool_result(id: str, content: Any = "done", *, is_error: bool | None = None) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}


def user(*content: Any, uuid: str | None = "u1", **fields: Any) -> JsonObject:
    said = content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)
    parent = fields.pop("parent", None)
    return {
        "type": "user",
        "message": {"role": "user", "content": said},
        "uuid": uuid,
        "session_id": SESSION,
        "parent_tool_use_id": parent,
        **fields,
    }


def result(
    words: str | None = "", subtype: str = "success", uuid: str | None = "r1", **fields: Any
) -> JsonObject:
    told = {} if words is None else {"result": words}
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": False,
        "session_id": SESSION,
        "uuid": uuid,
        **told,
        **fields,
    }


def stream(event: JsonObject, **fields: Any) -> JsonObject:
    return {
        "type": "stream_event",
        "event": event,
        "session_id": SESSION,
        "parent_tool_use_id": None,
        **fields,
    }


def message_start(id: str = "m1", **fields: Any) -> JsonObject:
    return stream(
        {"type": "message_start", "message": {"id": id, "model": "claude-opus-5-5", "content": [], **fields}}
    )


def block_start(index: int = 0, block: JsonObject | None = None) -> JsonObject:
    return stream({"type": "content_block_start", "index": index, "content_block": block or text("")})


def delta(words: str, index: int = 0) -> JsonObject:
    return stream(
        {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": words}}
    )


def thought(words: str, index: int = 0) -> JsonObject:
    return stream(
        {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "thinking_delta", "thinking": words},
        }
    )


def block_stop(index: int = 0) -> JsonObject:
    return stream({"type": "content_block_stop", "index": index})


def message_delta(stop_reason: str = "end_turn") -> JsonObject:
    return stream({"type": "message_delta", "delta": {"stop_reason": stop_reason}})


def message_stop(**fields: Any) -> JsonObject:
    return stream({"type": "message_stop"}, **fields)


def control(id: str, subtype: str, **fields: Any) -> JsonObject:
    return {"type": "control_request", "request_id": id, "request": {"subtype": subtype, **fields}}


def answer(id: str, **payload: Any) -> JsonObject:
    return {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": id, "response": payload},
    }


class Talk:
    """A session: lines go in, what is told of them comes out."""

    def __init__(self, **options: Any) -> None:
        self.translator = ClaudeCore(**options)
        self.events: list[AgentEvent] = []

    def hears(self, *lines: JsonObject) -> list[str]:
        """What is told of lines from the CLI."""
        return self._tell([event for line in lines for event in self.receive(line)])

    def says(self, *lines: JsonObject) -> list[str]:
        """What is told of lines to the CLI."""
        raw = [json.dumps(line).encode() for line in lines]
        return self._tell(
            [event for line in raw for event in self.translator.handle(Sent(line, decode(line)))]
        )

    def decides(self, decision: Decision) -> list[str]:
        return self._tell(self.translator.handle(decision))

    def ends(self, end: Ended | None = None) -> list[str]:
        return self._tell(self.translator.handle(end or Ended("end_of_input")))

    def receive(self, line: JsonObject) -> list[AgentEvent]:
        raw = json.dumps(line).encode()
        return self.translator.handle(Received(raw, decode(raw)))

    def last(self, kind: str) -> JsonObject:
        """The last event of a kind, as a frontend gets it."""
        found = [event for event in self.events if event.type == kind]
        told: JsonObject = json.loads(to_json(found[-1]))
        return told

    def _tell(self, events: list[AgentEvent]) -> list[str]:
        self.events += events
        return [brief(event) for event in events if event.type not in QUIET]


QUIET = {"session_status", "session_info", "session_mode", "available_commands", "context_window"}
"""Left out of what is told: said by nearly every `init`, and tested on their own."""


TOLD = (
    "origin", "text", "reasoning_text", "tool_call_id", "tool_status", "pending_id", "behavior", "reason", "error",
    "position", "prompt", "message_count", "task_id", "task_status", "kind", "state", "message_type", "message_ids",
    "message_uuids", "source", "phase", "current_mode_id",
)  # fmt: skip


def brief(event: AgentEvent) -> str:
    """An event in a few words."""
    told: JsonObject = json.loads(to_json(event))
    words = [told["type"]]
    if told.get("parent_tool_call_id"):
        words.append(f"[{told['parent_tool_call_id']}]")
    if told["type"] in ("turn_started", "complete"):
        words.append(told["operation_id"])
    words += [str(told[name]) for name in TOLD if told.get(name) is not None]
    outcome = (told.get("data") or {}).get("outcome") or told.get("outcome")
    if outcome:
        words.append(outcome)
    words += [flag for flag in ("replace", "synthetic", "redacted", "background") if told.get(flag)]
    return " ".join(words)

"""The lines that a CLI writes, in the shapes of one version. All output of the agent passes through here.

Ids come from one random source, so a seed reproduces a session.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from turnwire.protocol.json_values import Json, JsonObject
from turnwire.scripted_agent.claude.versions import Quirks

WINDOW = 200_000
"""Tokens of the context window in `modelUsage`."""

_ALPHABET = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def tokens(text: str) -> int:
    """A plausible number of tokens for a text."""
    return max(1, len(text) // 4)


@dataclass
class Usage:
    """Tokens used by a turn or by the process."""

    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, other: "Usage") -> None:
        """Add another usage to this one."""
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens

    def wire(self) -> JsonObject:
        """The usage as the Messages API spells it."""
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": self.output_tokens,
        }


@dataclass
class Wire:
    """Writes lines through `put`. Holds the session's id, the version and the model's name."""

    put: Callable[[bytes], None]
    quirks: Quirks
    session_id: str
    cwd: str
    chance: random.Random
    model: str = "scripted-agent"
    permission_mode: str = "default"
    commands: list[JsonObject] = field(default_factory=list)

    def uuid(self) -> str:
        """A fresh uuid."""
        return str(UUID(int=self.chance.getrandbits(128), version=4))

    def api_id(self, prefix: str) -> str:
        """A fresh id as the Messages API makes them."""
        return f"{prefix}_01{''.join(self.chance.choices(_ALPHABET, k=22))}"

    def line(self, message: JsonObject) -> None:
        """Write one line."""
        self.put(msgspec.json.encode(message) + b"\n")

    def _stamped(self, message: JsonObject, **more: Json) -> None:
        self.line({**message, "session_id": self.session_id, "uuid": self.uuid(), **more})

    def init(self) -> None:
        """Write system/init, which begins every turn."""
        names = [command.get("name", "") for command in self.commands]
        message: JsonObject = {
            "type": "system",
            "subtype": "init",
            "cwd": self.cwd,
            "session_id": self.session_id,
            "tools": [
                "Task",
                "AskUserQuestion",
                "Bash",
                "Edit",
                "ExitPlanMode",
                "Glob",
                "Grep",
                "Read",
                "TodoWrite",
                "Write",
            ],
            "mcp_servers": [],
            "model": self.model,
            "permissionMode": self.permission_mode,
            "slash_commands": names,
            "apiKeySource": "none",
            "output_style": "default",
        }
        if self.quirks.introduces_account:
            message |= {
                "claude_code_version": f"{self.quirks.version} (scripted agent)",
                "agents": [],
                "skills": [],
                "plugins": [],
            }
        self.line({**message, "uuid": self.uuid()})

    def system(self, subtype: str, **fields: Json) -> None:
        """Write any other system line."""
        self._stamped({"type": "system", "subtype": subtype, **fields})

    def assistant(self, message_id: str, block: JsonObject, parent: str | None, **more: Json) -> str:
        """Write one block of an assistant message; returns the line's uuid."""
        uuid = self.uuid()
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": more.pop("model", self.model),
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": Usage(1, 1).wire(),
        }
        self.line(
            {
                "type": "assistant",
                "message": message,
                "parent_tool_use_id": parent,
                "session_id": self.session_id,
                "uuid": uuid,
                **more,
            }
        )
        return uuid

    def user(self, content: Json, parent: str | None = None, **more: Json) -> None:
        """Write a user line: a tool's result, an interruption, an echo."""
        if self.quirks.timestamps:
            more.setdefault(
                "timestamp", datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            )
        uuid = more.pop("uuid", None) or self.uuid()
        self.line(
            {
                "type": "user",
                "message": {"role": "user", "content": content},
                "parent_tool_use_id": parent,
                "session_id": self.session_id,
                "uuid": uuid,
                **more,
            }
        )

    def tool_result(
        self, call_id: str, content: Json, *, error: bool, structured: Json, parent: str | None
    ) -> None:
        """Write the result of a tool call."""
        block: JsonObject = {"tool_use_id": call_id, "type": "tool_result", "content": content}
        if error:
            block["is_error"] = True
        # only the main thread's results carry structured data
        if self.quirks.structured_results and structured is not None and parent is None:
            self.user([block], parent, tool_use_result=structured)
        else:
            self.user([block], parent)

    def stream(self, event: JsonObject) -> None:
        """Write an event of the Messages API's stream; subagents have none."""
        self.line(
            {
                "type": "stream_event",
                "event": event,
                "session_id": self.session_id,
                "parent_tool_use_id": None,
                "uuid": self.uuid(),
            }
        )

    def lifecycle(self, prompt_uuid: str, state: str) -> None:
        """Report a prompt as queued, started or completed. Does nothing in versions that do not report it."""
        if self.quirks.tells_lifecycle:
            self._stamped({"type": "command_lifecycle", "command_uuid": prompt_uuid, "state": state})

    def rate_limit(self, limit: JsonObject) -> None:
        """Write a rate limit event."""
        self._stamped({"type": "rate_limit_event", "rate_limit_info": limit})

    def result(self, fields: JsonObject) -> None:
        """Write a turn's result. Only older versions write `type` first."""
        common: JsonObject = {**fields, "session_id": self.session_id, "uuid": self.uuid()}
        if self.quirks.type_leads_result:
            self.line({"type": "result", **common})
        else:
            self.line({**common, "type": "result"})

    def control_response(self, request_id: str, response: JsonObject | None = None) -> None:
        """Answer a control request of the host."""
        answer: JsonObject = {"subtype": "success", "request_id": request_id}
        if response is not None:
            answer["response"] = response
        self.line({"type": "control_response", "response": answer})

    def control_error(self, request_id: str, error: str) -> None:
        """Refuse a control request of the host."""
        answer = {"subtype": "error", "request_id": request_id, "error": error}
        self.line({"type": "control_response", "response": answer})

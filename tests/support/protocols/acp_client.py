"""The official client of ACP around an agent process, which keeps every message and holds each to the schema's models."""

# ruff: noqa: ARG002  methods have the parameters that the official client calls them with

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp import RequestError, spawn_agent_process
from acp.connection import StreamDirection, StreamEvent
from acp.core import ClientSideConnection
from acp.schema import (
    AuthenticateResponse,
    ClientCapabilities,
    CloseSessionResponse,
    CreateElicitationRequest,
    CreateTerminalRequest,
    DeleteSessionResponse,
    Error,
    ForkSessionResponse,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
    ReadTextFileRequest,
    ReleaseTerminalRequest,
    RequestPermissionRequest,
    ResumeSessionResponse,
    SessionNotification,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    TerminalOutputRequest,
    WaitForTerminalExitRequest,
    WriteTextFileRequest,
)
from pydantic import TypeAdapter

JSON = dict[str, Any]

DEADLINE = 60.0
"""Seconds after which a conversation hangs."""

REPLIES: dict[str, Any] = {
    "initialize": InitializeResponse,
    "authenticate": AuthenticateResponse,
    "session/new": NewSessionResponse,
    "session/load": LoadSessionResponse,
    "session/resume": ResumeSessionResponse,
    "session/fork": ForkSessionResponse,
    "session/list": ListSessionsResponse,
    "session/close": CloseSessionResponse,
    "session/delete": DeleteSessionResponse,
    "session/set_mode": SetSessionModeResponse,
    "session/set_config_option": SetSessionConfigOptionResponse,
    "session/prompt": PromptResponse,
}
ASKED: dict[str, Any] = {
    "session/update": SessionNotification,
    "session/request_permission": RequestPermissionRequest,
    "fs/read_text_file": ReadTextFileRequest,
    "fs/write_text_file": WriteTextFileRequest,
    "terminal/create": CreateTerminalRequest,
    "terminal/output": TerminalOutputRequest,
    "terminal/wait_for_exit": WaitForTerminalExitRequest,
    "terminal/release": ReleaseTerminalRequest,
    "elicitation/create": CreateElicitationRequest,
}


def hold_to_schema(model: Any, value: Any) -> None:
    """Fail unless the value is one of the model, and the model knows every field of it."""
    adapter = TypeAdapter(model)
    parsed = adapter.validate_python(value)
    assert adapter.dump_python(parsed, mode="json", by_alias=True, exclude_unset=True) == value


class AcpAgent:
    """A running agent: the official client's connection, and what went over it."""

    def __init__(self) -> None:
        self.connection: ClientSideConnection
        self.process: asyncio.subprocess.Process
        self.received: list[JSON] = []
        """Every message of the agent, as it came."""
        self.sent: list[JSON] = []
        """Every message of the client."""
        self.asked: list[JSON] = []
        """The permissions that were asked for."""
        self.answers: deque[str] = deque()
        """What the next permissions are answered with: an option's id, "cancelled" or "error"; then the first option."""
        self.forms: deque[Any] = deque()
        """What the next forms are answered with: content, or None to decline."""
        self.files: dict[str, str] = {}
        """The client's files."""
        self.hold = asyncio.Event()
        """Permissions are answered only while it is set."""
        self.hold.set()
        self.changed = asyncio.Condition()

    # what the official client wants of its owner

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        """Nothing: every message is kept as it comes."""

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **more: Any) -> JSON:
        """Answer as a test wants it."""
        await self.hold.wait()
        answer = self.answers.popleft() if self.answers else options[0].option_id
        if answer == "error":
            raise RequestError.internal_error()
        if answer == "cancelled":
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": answer}}

    async def read_text_file(self, path: str, **more: Any) -> JSON:
        """Read one of the client's files."""
        if path not in self.files:
            raise RequestError.resource_not_found(path)
        return {"content": self.files[path]}

    async def write_text_file(self, path: str, content: str, **more: Any) -> None:
        """Write one of the client's files."""
        self.files[path] = content

    async def create_terminal(self, command: str, **more: Any) -> JSON:
        """Pretend to run a command."""
        return {"terminalId": "terminal-1"}

    async def terminal_output(self, **more: Any) -> JSON:
        """What the pretended command wrote."""
        return {"output": "from the terminal\n", "truncated": False}

    async def wait_for_terminal_exit(self, **more: Any) -> JSON:
        """How the pretended command ended."""
        return {"exitCode": 3}

    async def release_terminal(self, **more: Any) -> None:
        """Forget the pretended command."""

    async def create_elicitation(self, message: str, mode: Any, **more: Any) -> JSON:
        """Answer a form as a test wants it."""
        content = self.forms.popleft() if self.forms else None
        return {"action": "decline"} if content is None else {"action": "accept", "content": content}

    def on_connect(self, connection: Any) -> None:
        """Nothing."""

    # what a test asks

    async def observe(self, event: StreamEvent) -> None:
        """Keep a message."""
        incoming = event.direction is StreamDirection.INCOMING
        (self.received if incoming else self.sent).append(event.message)
        if incoming and event.message.get("method") == "session/request_permission":
            self.asked.append(event.message["params"])
        async with self.changed:
            self.changed.notify_all()

    async def until(self, wanted: Callable[["AcpAgent"], object]) -> None:
        """Wait until something holds of what was received."""
        async with asyncio.timeout(DEADLINE), self.changed:
            await self.changed.wait_for(lambda: bool(wanted(self)))

    def updates(self, kind: str = "") -> list[JSON]:
        """The updates received, all or those of a kind."""
        told = [
            message["params"]["update"]
            for message in self.received
            if message.get("method") == "session/update"
        ]
        return [update for update in told if kind in ("", update["sessionUpdate"])]

    def text(self, kind: str = "agent_message_chunk") -> str:
        """What was said, joined."""
        return "".join(update["content"].get("text", "") for update in self.updates(kind))

    def calls(self) -> list[JSON]:
        """The tool calls, each with its updates laid over it."""
        calls: dict[str, JSON] = {}
        for update in self.updates():
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                calls[update["toolCallId"]] = {**calls.get(update["toolCallId"], {}), **update}
        return list(calls.values())

    def forget(self) -> None:
        """Begin a new conversation for the questions above."""
        self.received.clear()
        self.asked.clear()

    def hold_all_to_schema(self) -> None:
        """Fail unless every message of the agent is what the schema says."""
        methods = {
            message["id"]: message["method"]
            for message in self.sent
            if "id" in message and "method" in message
        }
        for message in self.received:
            assert message["jsonrpc"] == "2.0"
            if "method" in message:
                hold_to_schema(ASKED[message["method"]], message["params"])
            elif "error" in message:
                hold_to_schema(Error, message["error"])
            else:
                hold_to_schema(REPLIES[methods[message["id"]]], message["result"])


CAPABILITIES = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
}


@asynccontextmanager
async def acp_agent(
    argv: list[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    capabilities: JSON | None = None,
    initialize: bool = True,
) -> AsyncIterator[AcpAgent]:
    """Run an agent while the context is open; its stderr goes to ours."""
    agent = AcpAgent()
    async with (
        asyncio.timeout(DEADLINE * 3),
        spawn_agent_process(
            agent,  # type: ignore[arg-type]  # the official protocol wants models where dictionaries do as well
            *argv,
            env=env,
            cwd=cwd,
            transport_kwargs={"limit": 64 * 1024 * 1024, "stderr": None},
            observers=[agent.observe],
            use_unstable_protocol=True,
        ) as (connection, process),
    ):
        agent.connection, agent.process = connection, process
        if initialize:
            offered = ClientCapabilities.model_validate(
                CAPABILITIES if capabilities is None else capabilities
            )
            await connection.initialize(protocol_version=1, client_capabilities=offered)
        yield agent

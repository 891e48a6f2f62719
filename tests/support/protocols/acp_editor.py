"""An editor for tests: the official client of the Agent Client Protocol, which checks every line it is sent.

It stands in this process, in front of a hub, or drives `turnwire acp` as a process.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import acp
from acp import schema
from acp.client.connection import ClientSideConnection
from pydantic import BaseModel, TypeAdapter

from turnwire.client import Client
from turnwire.frontends.acp.agent import HubStarter, Starter, serve
from turnwire_process import DEADLINE

Json = dict[str, Any]
T = TypeVar("T")

SCRIPT = """
turns:
  - match: "^change"
    steps:
      - thinking: "I look at the file."
      - text: "I change it."
      - todos:
          - {content: "Change it", status: in_progress, activeForm: "Changing it"}
      - tool: Edit
        input: {file_path: src/app.py, old_string: "a", new_string: "b"}
        permission: true
        result: "The file has been updated."
        structured:
          filePath: src/app.py
          oldString: "a"
          newString: "b"
          originalFile: "x\\na\\ny\\n"
          structuredPatch: [{oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: [" x", "-a", "+b", " y"]}]
      - text: "Changed."
  - match: "^ask"
    steps:
      - ask:
          - question: "Which one?"
            header: "Choice"
            options: [{label: "Red", description: "A colour"}, {label: "Blue", description: "Another"}]
            multiSelect: false
      - text: "Asked."
  - match: "^fail"
    steps:
      - fail: error_during_execution
        errors: ["It broke."]
fallback:
  steps:
    - text: "I run {prompt}."
    - tool: Bash
      input: {command: "{prompt}", description: "As told"}
      permission: true
      seconds: 30
      result: "ran"
      structured: {stdout: "ran", stderr: "", interrupted: false}
    - text: "Done."
"""
"""An agent that changes a file, asks a question, fails, or wants to run the prompt as a command."""

_ELICITATION: TypeAdapter[BaseModel] = TypeAdapter(schema.CreateElicitationRequest)

FORMS = schema.ClientCapabilities(
    elicitation=schema.ElicitationCapabilities(
        form=schema.ElicitationFormCapabilities(), url=schema.ElicitationUrlCapabilities()
    )
)
"""What an editor says that can be asked by forms."""


def checked(line: Json) -> Json:
    """A message of the agent's, once the official models have taken what it holds."""
    assert line["jsonrpc"] == "2.0"
    match line:
        case {"method": "session/update", "params": params}:
            update = schema.SessionNotification.model_validate(params).update
            assert "Other" not in type(update).__name__
        case {"method": "session/request_permission", "params": params, "id": int()}:
            schema.RequestPermissionRequest.model_validate(params)
        case {"method": "elicitation/create", "params": params, "id": int()}:
            assert "Other" not in type(_ELICITATION.validate_python(params)).__name__
        case {"method": "$/cancel_request", "params": params}:
            schema.CancelRequestNotification.model_validate(params)
        case {"id": _, "result": _}:
            pass
        case {"id": _, "error": error}:
            schema.Error.model_validate(error)
        case _:
            raise AssertionError(f"the agent may not say {line}")
    return line


class Asked:
    """A request of the agent's that waits for the human at this editor."""

    def __init__(self, title: str, options: Sequence[str]) -> None:
        self.title = title
        self.options = list(options)
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def choose(self, option: str | None) -> None:
        """Choose an option; None cancels."""
        if self.answer.done():
            return
        if option is None:
            self.answer.set_result(schema.DeniedOutcome(outcome="cancelled"))
        else:
            self.answer.set_result(schema.AllowedOutcome(outcome="selected", option_id=option))


class Editor:
    """What the human at an editor sees, and what they are asked."""

    def __init__(self) -> None:
        self.updates: list[Json] = []
        """All updates, as they were sent."""
        self.asked: asyncio.Queue[Asked] = asyncio.Queue()
        self.taken_back: list[Any] = []
        """The numbers of requests that the agent took back."""
        self.forms: list[Any] = []
        self.cannot_fill = False
        """Whether it offers forms, and has none."""
        self.fill: Callable[[Any], Any] = lambda mode: schema.DeclineElicitationResponse(action="decline")
        self._news = asyncio.Condition()

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        pass  # they are taken from the wire: here they may come in another order

    async def request_permission(
        self,
        session_id: str,  # noqa: ARG002 - the protocol's names
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **kwargs: Any,  # noqa: ARG002 - the protocol's names
    ) -> schema.RequestPermissionResponse:
        asked = Asked(tool_call.title or "", [option.option_id for option in options])
        await self.asked.put(asked)
        return schema.RequestPermissionResponse(outcome=await asked.answer)

    async def create_elicitation(self, message: str, mode: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - the protocol's names
        if self.cannot_fill:
            raise acp.RequestError.method_not_found("elicitation/create")
        self.forms.append(mode)
        return self.fill(mode)

    async def saw(self, line: Json) -> None:
        """Take note of a line."""
        async with self._news:
            match line:
                case {"method": "session/update", "params": {"update": update}}:
                    self.updates.append(update)
                case {"method": "$/cancel_request", "params": {"requestId": number}}:
                    self.taken_back.append(number)
                case _:
                    pass
            self._news.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(DEADLINE), self._news:
            await self._news.wait_for(condition)

    async def next_asked(self) -> Asked:
        """The next request that waits."""
        async with asyncio.timeout(DEADLINE):
            return await self.asked.get()

    def of(self, kind: str) -> list[Json]:
        """The updates of a kind."""
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    def text(self, kind: str = "agent_message_chunk") -> str:
        """What was said, by a kind of update."""
        return "".join(update["content"]["text"] for update in self.of(kind))

    def calls(self) -> dict[str, str]:
        """The last status of each tool call."""
        found: dict[str, str] = {}
        for update in self.updates:
            if update["sessionUpdate"] in {"tool_call", "tool_call_update"} and "status" in update:
                found[update["toolCallId"]] = update["status"]
        return found


class Wire:
    """An editor's end of a connection, within this process; also the agent's `Lines`."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._to_agent: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._to_editor: asyncio.Queue[Json | None] = asyncio.Queue()
        self.lines: list[Json] = []
        """All that the agent said."""
        self._passes = asyncio.Event()
        self._passes.set()

    def stop_reading(self) -> None:
        """Read no more, so that the agent has to wait."""
        self._passes.clear()

    def go_on_reading(self) -> None:
        self._passes.set()

    def write(self, line: bytes) -> None:
        """Write bytes to the agent as they are."""
        self._to_agent.put_nowait(line)

    def end(self) -> None:
        """Say nothing more."""
        self._to_agent.put_nowait(None)

    async def chunks(self) -> AsyncIterator[bytes]:
        while (chunk := await self._to_agent.get()) is not None:
            yield chunk

    def add(self, lines: bytes) -> None:
        for line in lines.splitlines():
            message = checked(json.loads(line))
            self.lines.append(message)
            self._to_editor.put_nowait(message)

    async def put(self, lines: bytes) -> None:
        await self._passes.wait()
        self.add(lines)

    async def send(self, message: Json) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Json | None:
        message = await self._to_editor.get()
        if message is not None:
            await self._editor.saw(message)
        return message

    async def close(self) -> None:
        self.end()


class EditorHarness:
    """An editor with its connection."""

    def __init__(self, editor: Editor, wire: Wire, agent: ClientSideConnection) -> None:
        self.editor = editor
        self.wire = wire
        self.agent = agent

    async def open(self, capabilities: schema.ClientCapabilities | None = None) -> schema.InitializeResponse:
        """Introduce the editor."""
        return await self.agent.initialize(protocol_version=1, client_capabilities=capabilities)

    async def load(
        self, session: str, capabilities: schema.ClientCapabilities | None = None
    ) -> "EditorHarness":
        """Introduce the editor, and load a session."""
        await self.open(capabilities)
        await within(self.agent.load_session(cwd="/", session_id=session, mcp_servers=[]))
        return self

    async def prompt(self, session: str, text: str) -> schema.PromptResponse:
        """Say something, and wait for the end of its turn."""
        return await within(self.agent.prompt(session_id=session, prompt=[acp.text_block(text)]))


async def within(work: Awaitable[T]) -> T:
    """Wait for work, as long as any wait may take."""
    async with asyncio.timeout(DEADLINE):
        return await work


@asynccontextmanager
async def editing(client: Client, starter: Starter | None = None) -> AsyncIterator[EditorHarness]:
    """An editor in this process, in front of a hub; at the end it says nothing more, and the agent has to end."""
    editor = Editor()
    wire = Wire(editor)
    serving = asyncio.create_task(
        serve(client, wire.chunks(), wire, starter or HubStarter(client), version="0")
    )
    connection = ClientSideConnection(cast(acp.Client, editor), wire, use_unstable_protocol=True)
    try:
        yield EditorHarness(editor, wire, connection)
    finally:
        wire.end()
        try:
            await within(serving)
        finally:
            await connection.close()


@asynccontextmanager
async def started(folder: Path, *options: str, env: Mapping[str, str]) -> AsyncIterator[EditorHarness]:
    """`turnwire acp` as an editor starts it; it has to end well when its stdin ends."""
    with (folder / "acp.log").open("ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "turnwire",
                "acp",
                "--port",
                "0",
                "--state-dir",
                str(folder / "state"),
                *options,
            ),
            cwd=folder,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            limit=1 << 26,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    editor = Editor()
    wire = Wire(editor)
    stdin, stdout = process.stdin, process.stdout

    async def write() -> None:
        async for chunk in wire.chunks():
            stdin.write(chunk)
            await stdin.drain()
        stdin.close()

    async def read() -> None:
        async for line in stdout:
            wire.add(line)

    relays = [asyncio.create_task(write()), asyncio.create_task(read())]
    connection = ClientSideConnection(cast(acp.Client, editor), wire, use_unstable_protocol=True)
    try:
        yield EditorHarness(editor, wire, connection)
        wire.end()
        await within(process.wait())
        assert process.returncode == 0, (folder / "acp.log").read_text()
        await within(relays[1])
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        for relay in relays:
            relay.cancel()
        await asyncio.gather(*relays, return_exceptions=True)
        await connection.close()

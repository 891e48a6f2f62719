"""The scripted agent as a real process: lines in, lines out, every wait bounded."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from recordings import ROOT

JSON = dict[str, Any]
DEADLINE = 60.0
"""Seconds that any wait may take: far above what a slow machine needs, since a test that fails must end too."""

STREAM = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
ASKING = (*STREAM, "--permission-prompt-tool", "stdio")


def agent_command(script: str | Path, *options: str) -> list[str]:
    """The argv that runs a script, a bundled script or a recording's folder."""
    return [sys.executable, "-m", "turnwire.scripted_agent", str(script), *options]


class AgentProcess:
    """A running agent."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.received: list[JSON] = []

    def send_raw(self, line: bytes) -> None:
        """Write bytes to its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)

    def send(self, message: JSON) -> None:
        """Write one message."""
        self.send_raw(json.dumps(message).encode() + b"\n")

    def prompt(self, text: str, **more: Any) -> None:
        """Write a user message."""
        self.send({"type": "user", "message": {"role": "user", "content": text}, **more})

    def control(self, request_id: str, **request: Any) -> None:
        """Write a control request."""
        self.send({"type": "control_request", "request_id": request_id, "request": request})

    def answer(self, request: JSON, **response: Any) -> None:
        """Answer a control request of the agent in the official shape."""
        inner = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": inner})

    def allow(self, request: JSON, **more: Any) -> None:
        """Allow what a can_use_tool asks for."""
        self.answer(request, behavior="allow", updatedInput=request["request"]["input"], **more)

    async def line(self) -> bytes:
        """The next raw line; b"" at the end."""
        assert self.process.stdout is not None
        async with asyncio.timeout(DEADLINE):
            return await self.process.stdout.readline()

    async def next(self) -> JSON:
        """The next message; fails at the end of stdout."""
        line = await self.line()
        assert line, f"stdout ended; exit {self.process.returncode}"
        message: JSON = json.loads(line)
        self.received.append(message)
        return message

    async def until(self, wanted: Callable[[JSON], bool]) -> JSON:
        """The next message that is wanted; what comes before it stays in `received`."""
        while True:
            message = await self.next()
            if wanted(message):
                return message

    async def until_type(self, kind: str) -> JSON:
        """The next message of a type."""
        return await self.until(lambda message: message["type"] == kind)

    async def result(self) -> JSON:
        """The next result."""
        return await self.until_type("result")

    async def rest(self) -> list[JSON]:
        """Close stdin and read to the end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        messages = []
        while line := await self.line():
            messages.append(json.loads(line))
        return messages

    async def exit_code(self) -> int:
        """Wait for the end of the process."""
        async with asyncio.timeout(DEADLINE):
            return await self.process.wait()

    async def stderr(self) -> str:
        """All of its stderr; waits for the end."""
        assert self.process.stderr is not None
        async with asyncio.timeout(DEADLINE):
            return (await self.process.stderr.read()).decode()

    def texts(self) -> list[str]:
        """The text blocks of the main thread's assistant lines received so far."""
        return [
            block["text"]
            for message in self.received
            if message["type"] == "assistant" and message["parent_tool_use_id"] is None
            for block in message["message"]["content"]
            if block["type"] == "text"
        ]

    def results_of_tools(self) -> list[JSON]:
        """The tool_result blocks received so far."""
        return [
            block
            for message in self.received
            if message["type"] == "user" and isinstance(message["message"]["content"], list)
            for block in message["message"]["content"]
            if block["type"] == "tool_result"
        ]


@asynccontextmanager
async def agent(script: str | Path, *options: str) -> AsyncIterator[AgentProcess]:
    """Run the agent while the context is open; it is killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *agent_command(script, *options),
        cwd=ROOT,
        limit=256 * 1024 * 1024,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    running = AgentProcess(process)
    try:
        yield running
    finally:
        if process.returncode is None:
            process.kill()
        async with asyncio.timeout(DEADLINE):
            await process.communicate()


def script_file(folder: Path, text: str) -> Path:
    """Write a script."""
    path = folder / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return path

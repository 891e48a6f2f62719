"""Plays a recording: writes the recorded lines, and waits at each recorded input for the host's own.

A folder holds stdout.jsonl, stdin.jsonl and timeline.jsonl as fixtures/ does. The host need not send the recorded
bytes. Any prompt matches a prompt. A control response is matched by its request id, a control request by its subtype.
The recorded answer is written with the id of the host's own request. `initialize` is answered even where the
recording has none.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import Json, JsonObject


class Row(msgspec.Struct, frozen=True):
    """One row of timeline.jsonl."""

    t: float
    dir: Literal["recv", "send", "signal", "exit"]
    line: int | None = None
    eof: bool = False
    signal: str | None = None
    code: int | None = None


class _About(msgspec.Struct):
    """The contents of scenario.json."""

    version: str


UNKNOWN = "2.1.999"
"""The version of a recording that names none."""


class RecordingError(TurnwireError):
    """A folder that cannot be played, and why."""


@dataclass(frozen=True)
class Recording:
    """The lines of a recording."""

    rows: list[Row]
    stdout: list[bytes]
    stdin: list[bytes]
    stderr: str
    version: str
    """Of the CLI that was recorded."""


def is_recording(path: Path) -> bool:
    """Whether the path is a folder with a timeline."""
    return (path / "timeline.jsonl").is_file()


def read_recording(folder: Path) -> Recording:
    """Read a recording's folder.

    Raises:
        RecordingError: a file is missing, or a row is not a row.
    """
    try:
        rows = [
            msgspec.json.decode(row, type=Row)
            for row in (folder / "timeline.jsonl").read_bytes().split(b"\n")
            if row
        ]
        stdout = (folder / "stdout.jsonl").read_bytes().split(b"\n")
        stdin = (folder / "stdin.jsonl").read_bytes().split(b"\n")
        about = folder / "scenario.json"
        version = msgspec.json.decode(about.read_bytes(), type=_About).version if about.exists() else UNKNOWN
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise RecordingError(f"{folder}: {error}") from error
    stderr = folder / "stderr.txt"
    return Recording(
        rows, stdout, stdin, stderr.read_text(encoding="utf-8") if stderr.exists() else "", version
    )


def _decoded(line: bytes) -> JsonObject:
    try:
        value: Json = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def kind_of(message: JsonObject) -> tuple[str, str]:
    """Return the key that matches an input: its kind, and the id or subtype that separates inputs of one kind."""
    match message:
        case {"type": "user"}:
            return "prompt", ""
        case {"type": "control_request", "request": {"subtype": str(subtype)}}:
            return "request", subtype
        case {"type": "control_response"}:
            inner = message.get("response")
            inner_id = inner.get("request_id") if isinstance(inner, dict) else None
            return "response", str(inner_id or message.get("request_id") or "")
        case _:
            return "other", ""


class Player:
    """Plays one recording; `speed` 0 is as fast as the host answers, 1 the recorded pace."""

    def __init__(self, recording: Recording, put: Callable[[bytes], None], speed: float) -> None:
        self._recording = recording
        self._put = put
        self._speed = speed
        self._inputs: list[tuple[tuple[str, str], JsonObject]] = []
        self._arrived = asyncio.Event()
        self._closed = False
        self._ids: dict[str, str] = {}
        """Recorded id of a host's request -> the id that the host used now."""
        self._expected = {
            kind_of(_decoded(recording.stdin[row.line]))
            for row in recording.rows
            if row.dir == "send" and row.line is not None
        }

    def handle(self, line: bytes) -> None:
        """Handle a line of the host."""
        message = _decoded(line)
        kind = kind_of(message)
        if kind[0] == "request" and kind not in self._expected:
            self._improvise(kind[1], message)
            return
        self._inputs.append((kind, message))
        self._arrived.set()

    def close(self) -> None:
        """Handle the end of stdin."""
        self._closed = True
        self._arrived.set()

    def _improvise(self, subtype: str, message: JsonObject) -> None:
        """Answer a request that the recording does not have."""
        answer: JsonObject = {"subtype": "success", "request_id": message.get("request_id")}
        if subtype == "initialize":
            answer["response"] = {"commands": [], "output_style": "default", "models": []}
        elif subtype != "interrupt":
            answer |= {"subtype": "error", "error": f"the recording has no answer to {subtype}"}
        self._put(msgspec.json.encode({"type": "control_response", "response": answer}) + b"\n")

    async def play(self) -> int:
        """Play to the end; returns the exit code."""
        before = 0.0
        for row in self._recording.rows:
            if self._speed:
                await asyncio.sleep((row.t - before) / self._speed)
            before = row.t
            match row.dir:
                case "recv" if row.line is not None:
                    self._write(self._recording.stdout[row.line])
                    await asyncio.sleep(0)
                case "send" if row.line is not None:
                    if not await self._wait_for(self._recording.stdin[row.line]):
                        break
                case "send":
                    await self._wait_for_close()
                case "signal" if row.signal == "SIGKILL":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "exit":
                    return self._exit(row.code or 0)
                case _:
                    pass  # a SIGINT came from outside: what it led to is in the rows that follow
        await self._wait_for_close()
        return 0

    def _exit(self, code: int) -> int:
        sys.stderr.write(self._recording.stderr)
        return code

    def _write(self, line: bytes) -> None:
        for recorded, current in self._ids.items():
            line = line.replace(f'"request_id":"{recorded}"'.encode(), f'"request_id":"{current}"'.encode())
        self._put(line + b"\n")

    async def _wait_for(self, recorded: bytes) -> bool:
        """Wait for the host's counterpart of a recorded input; False when stdin has ended without it."""
        message = _decoded(recorded)
        kind = kind_of(message)
        while True:
            for index, (arrived, current) in enumerate(self._inputs):
                # what was no message may have been sent as anything
                if kind == arrived or kind[0] == "other":
                    del self._inputs[index]
                    if kind[0] == "request":
                        self._ids[str(message.get("request_id"))] = str(current.get("request_id"))
                    return True
            if self._closed:
                return False
            self._arrived.clear()
            await self._arrived.wait()

    async def _wait_for_close(self) -> None:
        while not self._closed:
            self._arrived.clear()
            await self._arrived.wait()

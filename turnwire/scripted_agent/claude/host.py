"""The other side: the host that started the agent, writes prompts and control lines to its stdin and reads its stdout.

A thread reads stdin and hands each line to the event loop. Writes block, as a CLI's writes to a pipe do. Control
responses are accepted in every shape that `turnwire.protocol.claude.control` reads.
"""

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from turnwire.protocol.claude.blocks import TextBlock
from turnwire.protocol.claude.control import ControlRequest, ControlResponse, failure
from turnwire.protocol.claude.encode import to_json
from turnwire.protocol.claude.messages import Message, User
from turnwire.protocol.claude.requests import AnyRequest
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.malformed import Malformed


@dataclass(frozen=True)
class Prompt:
    """A user message from the host."""

    text: str
    uuid: str | None = None
    content: Json = ""
    """As the host wrote it, for echoes."""


class BadInput(TurnwireError):
    """A line on stdin that the real CLI dies of."""


def prompt_of(user: User, line: bytes) -> Prompt:
    """Read a user message; raises BadInput when its role is not the user's."""
    if user.message.role != "user":
        raise BadInput("Error: Expected message role 'user'")
    text = "\n".join(block.text for block in user.blocks if isinstance(block, TextBlock))
    return Prompt(text=text, uuid=user.uuid, content=_content(user, line))


def _content(user: User, line: bytes) -> Json:
    """Return the content as the host wrote it; as it was understood where an envelope is around it."""
    match msgspec.json.decode(line):
        case {"message": {"content": content}}:
            return content
        case _:
            return to_json(user.message).get("content", "")


class Host:
    """The connection to the host. Prompts go into a queue, control requests to `on_request`, responses to the waiting task."""

    def __init__(
        self, new_id: Callable[[], str], hear: Callable[[bytes], list[Message]], *, dies_on_unknown_type: bool
    ) -> None:
        self._hear = hear
        self._new_id = new_id
        self._dies_on_unknown_type = dies_on_unknown_type
        self._pending: dict[str, asyncio.Future[ControlResponse]] = {}
        self._arrived = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.prompts: deque[Prompt] = deque()
        """Unbounded, as the CLI's own queue: a host that sends prompts faster than turns end gets them all answered."""
        self.closed = False
        self.on_request: Callable[[str, AnyRequest], None] = lambda *_: None
        self.on_prompt: Callable[[Prompt], None] = lambda *_: None
        self.on_close: Callable[[], None] = lambda: None
        self.on_bad_input: Callable[[BadInput], None] = lambda *_: None

    def start(self) -> None:
        """Start to read stdin."""
        threading.Thread(target=self._read, daemon=True, name="stdin").start()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            self._loop.call_soon_threadsafe(self._take, line.rstrip(b"\r\n"))
        self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        self.closed = True
        self._arrived.set()
        self.on_close()

    def _take(self, line: bytes) -> None:
        try:
            self._dispatch(line)
        except BadInput as error:
            self.on_bad_input(error)

    def _dispatch(self, line: bytes) -> None:
        if not line and not self._dies_on_unknown_type:
            return
        for message in self._hear(line):
            self._take_message(message, line)

    def _take_message(self, message: Message, line: bytes) -> None:
        match message:
            case User():
                prompt = prompt_of(message, line)
                self.prompts.append(prompt)
                self.on_prompt(prompt)
                self._arrived.set()
            case ControlRequest():
                self.on_request(message.request_id, message.request)
            case ControlResponse():
                waiting = self._pending.pop(message.request_id, None)
                # a late or unknown answer is ignored, as the CLI does
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
            case Malformed():
                raise BadInput(f"Error parsing streaming input line: {message.line[:200]}: {message.reason}")
            case _:
                if self._dies_on_unknown_type:
                    raise BadInput(
                        f"Error parsing streaming input line: {line[:200]!r}: unexpected message type"
                    )

    async def wait_for_prompt(self) -> Prompt | None:
        """Wait for the next prompt; None at the end of stdin."""
        while not self.prompts:
            if self.closed:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        return self.prompts.popleft()

    def withdraw(self, uuid: str) -> bool:
        """Remove a waiting prompt. Returns False if no prompt with this uuid waits."""
        waiting = [prompt for prompt in self.prompts if uuid and prompt.uuid == uuid]
        for prompt in waiting:
            self.prompts.remove(prompt)
        return bool(waiting)

    async def request(self, write: Callable[[JsonObject], None], request: JsonObject) -> ControlResponse:
        """Ask the host and wait for its answer."""
        request_id = self._new_id()
        future: asyncio.Future[ControlResponse] = self._loop.create_future()
        self._pending[request_id] = future
        write({"type": "control_request", "request_id": request_id, "request": request})
        try:
            return await future
        finally:
            self._pending.pop(request_id, None)

    def cancel_pending(self, write: Callable[[JsonObject], None]) -> None:
        """Withdraw every open request: the host gets a control_cancel_request for each."""
        for request_id in self._pending:
            write({"type": "control_cancel_request", "request_id": request_id})

    def deny_pending(self, reason: str) -> None:
        """Answer every open request with an error: the host has gone."""
        for request_id, future in self._pending.items():
            if not future.done():
                future.set_result(failure(request_id, reason))

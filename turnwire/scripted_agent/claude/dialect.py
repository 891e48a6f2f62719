"""The agent in another dialect, miriad or JSON-RPC, through turnwire's own peers of these protocols.

Inside, the agent behaves as the CLI. Its lines are translated into the dialect one by one, and the host's lines out of it.
Agents of
these dialects report what happens to prompts that arrive during a turn: queued, then injected as one.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import to_json
from turnwire.protocol.claude.messages import Message
from turnwire.protocol.claude.system import Init, System
from turnwire.protocol.dialects import DIALECTS
from turnwire.protocol.json_lines import line_of
from turnwire.scripted_agent.loading import ScriptError

Name: TypeAlias = Literal["claude", "miriad", "json_rpc"]

BLANK_LINE = "\n\n"
"""Separates prompts that are injected together (miriad-code)."""


class Dialect:
    """How this agent speaks and hears."""

    def __init__(self, name: str, put: Callable[[bytes], None]) -> None:
        if name not in get_args(Name):
            raise ScriptError(f"--dialect: {name} is none of {', '.join(get_args(Name))}")
        self.is_foreign = name != "claude"
        """True for dialects that queue and inject prompts and answer `status`."""
        self._peer = DIALECTS[name].agent()
        self._put = put

    def say(self, line: bytes) -> None:
        """Write a line of the CLI in the dialect. A line that is no message is written unchanged."""
        if not self.is_foreign:
            self._put(line)
            return
        message = decode(line.removesuffix(b"\n"))
        if isinstance(message, Init):
            return  # neither kind of agent introduces itself
        if isinstance(message, System):
            fields = to_json(message)
            fields.pop("uuid", None)
            self._write(message, line_of(fields).removesuffix(b"\n"))
        else:
            self._write(message, line.removesuffix(b"\n"))

    def pause(self) -> None:
        """Write lines that waited for more of their message."""
        for line in self._peer.pause():
            self._put(line)

    def hear(self, line: bytes) -> list[Message]:
        """Return the messages in a line of the host. Writes the dialect's own errors about the line."""
        heard = self._peer.read(line)
        for reply in heard.lines:
            self._put(reply)
        return heard.messages

    def _write(self, message: Message, line: bytes) -> None:
        for spelled in self._peer.write(message, line).lines:
            self._put(spelled)

"""Which dialect a stream is in, told by its lines.

The dialects agree in most lines, so a decision waits for one that only one of them has. Until then reading as miriad
is right for all but JSON-RPC, since miriad only adds to Claude's vocabulary.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.dialect import ClaudeAgent, ClaudeHost
from turnwire.protocol.claude.messages import Assistant, Message, StreamEvent, Unknown
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.system import Init
from turnwire.protocol.dialects.base import AgentPeer, Dialect, Exchange, Peer
from turnwire.protocol.json_rpc.agent import JsonRpcAgent
from turnwire.protocol.json_rpc.host import JsonRpcHost
from turnwire.protocol.miriad.dialect import MiriadAgent, MiriadHost
from turnwire.protocol.miriad.system import Consolidation, Injected, Queued, SystemFailure, SystemToolResult


def recognise(lines: Iterable[bytes]) -> str | None:
    """Return the name of the dialect that the lines are in; None if they fit more than one."""
    for line in lines:
        if line.lstrip().startswith(b"["):  # a batch: only JSON-RPC has lists
            return "json_rpc"
        name = _told_by(decode(line))
        if name is not None:
            return name
    return None


def _told_by(message: Message) -> str | None:
    match message:
        case Unknown(raw={"jsonrpc": _}):
            return "json_rpc"
        case Unknown(raw={"type": "control"}):
            return "miriad"
        case SystemToolResult() | SystemFailure() | Queued() | Injected() | Consolidation():
            return "miriad"
        case Result(subtype="error" | "cancelled"):
            return "miriad"
        case Init() | StreamEvent() | ControlRequest() | ControlResponse() | ControlCancelRequest():
            return "claude"
        case Assistant(uuid=str()) | Result(uuid=str()):
            return "claude"
        case _:
            return None


PeerT = TypeVar("PeerT", bound=Peer)


class _Automatic(Generic[PeerT]):
    """Reads any dialect, and writes in the one it recognised; until then in Claude's.

    What was asked in Claude's until then is asked again in the dialect that it turned out to be: nobody has answered it.
    """

    def __init__(self, peers: dict[str, PeerT]) -> None:
        self._peers = peers
        self._name: str | None = None
        self._asked: dict[str, ControlRequest] = {}

    def read(self, line: bytes) -> Exchange:
        """Take a line of the other side."""
        if self._name is not None:
            return self._peers[self._name].read(line)
        self._name = recognise([line])
        heard = self._peers[self._name or "miriad"].read(line)
        if self._name is None or self._name == "claude":
            return heard
        again = [self._peers[self._name].write(request) for request in self._asked.values()]
        self._asked.clear()
        return Exchange(
            [*heard.messages, *(message for said in again for message in said.messages)],
            [*heard.lines, *(line for said in again for line in said.lines)],
        )

    def write(self, message: Message, line: bytes | None = None) -> Exchange:
        """Say a message to the other side."""
        if self._name is None and isinstance(message, ControlRequest):
            self._asked[message.request_id] = message
        return self._speaker().write(message, line)

    def _speaker(self) -> PeerT:
        return self._peers[self._name or "claude"]


class _AutomaticAgent(_Automatic[AgentPeer]):
    def refuse(self, prompt: Message, reason: str) -> Exchange:
        """Say that a prompt is not taken."""
        return self._speaker().refuse(prompt, reason)

    def pause(self) -> list[bytes]:
        """Return the lines that wait for more of the same message."""
        return self._speaker().pause()


def _automatic_host() -> Peer:
    return _Automatic[Peer]({"claude": ClaudeHost(), "miriad": MiriadHost(), "json_rpc": JsonRpcHost()})


def _automatic_agent() -> AgentPeer:
    return _AutomaticAgent({"claude": ClaudeAgent(), "miriad": MiriadAgent(), "json_rpc": JsonRpcAgent()})


AUTOMATIC = Dialect("auto", _automatic_host, _automatic_agent)

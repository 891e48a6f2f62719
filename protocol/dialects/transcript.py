"""Lines of both sides of a conversation, in whatever dialect: for recordings and files, where nobody is spoken to.

Nearly all lines are Claude's, and cost no more than their decoding.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from protocol.acp import decode as acp
from protocol.acp.recognise import is_acp
from protocol.claude.control import ControlRequest, ControlResponse
from protocol.claude.decode import decode, malformed
from protocol.claude.encode import EncodeError
from protocol.claude.messages import Message, Unknown, User
from protocol.framing import OversizeLine
from protocol.json_rpc.agent import JsonRpcAgent
from protocol.json_rpc.host import JsonRpcHost
from protocol.malformed import Malformed
from protocol.miriad.dialect import MiriadAgent


class Transcript:
    """Reads both sides of one conversation."""

    def __init__(self) -> None:
        self._host = JsonRpcHost()
        self._agent = JsonRpcAgent()
        self._miriad = MiriadAgent()
        self._is_acp = False

    def received(self, line: bytes | OversizeLine) -> Sequence[Struct]:
        """Return what a line says that an agent wrote."""
        return [message for _, message in self.heard((line,))]

    def heard(self, lines: Iterable[bytes | OversizeLine]) -> Iterator[tuple[bytes | None, Struct]]:
        """Yield what lines say that an agent wrote: each message with its line, None for one that was too long.

        A line may hold several messages, or none.
        """
        for line in lines:
            if isinstance(line, OversizeLine):
                yield None, acp.malformed(line) if self._is_acp else malformed(line)
            elif self._is_acp:
                yield line, acp.decode(line)
            else:
                message = decode(line)
                kind = type(message)
                if (kind is not Unknown and kind is not Malformed) or not _is_envelope(message, line):
                    yield line, message
                elif self._tells_acp(message):
                    yield line, acp.decode(line)
                else:
                    for enveloped in self._host.read(line).messages:
                        yield line, enveloped

    def sent(self, line: bytes) -> Sequence[Struct]:
        """Return what a line says that an agent was told."""
        if self._is_acp:
            return (acp.decode(line),)
        message = decode(line)
        if _is_envelope(message, line):
            if self._tells_acp(message):
                return (acp.decode(line),)
            return self._agent.read(line).messages
        if isinstance(message, Unknown) and message.type == "control":
            return self._miriad.read(line).messages
        if isinstance(message, User | ControlRequest | ControlResponse):
            self._follow(message)
        return [message]

    def _tells_acp(self, message: Message) -> bool:
        """Take a JSON-RPC object that may tell which of its protocols is spoken; what was told once is so to the end."""
        self._is_acp = isinstance(message, Unknown) and is_acp(message.raw)
        return self._is_acp

    def _follow(self, message: Message) -> None:
        """Number what a session of ours asked, as it did: answers in envelopes name the numbers alone."""
        try:
            self._host.write(message)
        except EncodeError:
            pass  # no session of ours has said that


def _is_envelope(message: Message, line: bytes) -> bool:
    match message:
        case Unknown(raw={"jsonrpc": _}):
            return True
        case Malformed():
            return line.lstrip().startswith(b"[") and b'"jsonrpc"' in line
        case _:
            return False

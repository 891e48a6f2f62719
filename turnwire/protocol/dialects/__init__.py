"""Other spellings of the protocol, each turned into the same messages: claude, miriad, json_rpc.

A dialect has two ends. `host()` is ours when we drive an agent that speaks it, `agent()` when we are the agent and
somebody drives us. Both are a `Peer`: `read` takes a line of the other side, `write` a message of ours. `AUTOMATIC`
is a host that reads any of them and answers in the one it heard.
"""

from turnwire.protocol.claude.dialect import CLAUDE
from turnwire.protocol.dialects.base import AgentPeer, Dialect, Exchange, Peer
from turnwire.protocol.dialects.recognise import AUTOMATIC, recognise
from turnwire.protocol.json_rpc.dialect import JSON_RPC
from turnwire.protocol.miriad.dialect import MIRIAD

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (CLAUDE, MIRIAD, JSON_RPC, AUTOMATIC)}
"""Every dialect by its name, as options and configuration spell it."""

__all__ = [
    "AUTOMATIC",
    "CLAUDE",
    "DIALECTS",
    "JSON_RPC",
    "MIRIAD",
    "AgentPeer",
    "Dialect",
    "Exchange",
    "Peer",
    "recognise",
]

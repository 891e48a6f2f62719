"""The JSON-RPC 2.0 dialect: the same messages, each in an envelope.

A prompt is the request `run`. Its response is the turn's result, an error if the turn failed. The agent's other
messages are notifications. Control requests are requests whose method is the subtype, in both directions.
"""

from turnwire.protocol.dialects.base import Dialect
from turnwire.protocol.json_rpc.agent import JsonRpcAgent
from turnwire.protocol.json_rpc.host import JsonRpcHost

JSON_RPC = Dialect(
    "json_rpc",
    JsonRpcHost,
    JsonRpcAgent,
    untaken={"initialize": "answered here; hooks, MCP servers, prompts and agents in it are refused"},
)

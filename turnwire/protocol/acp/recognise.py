"""Tell lines of this protocol from those of the other JSON-RPC protocol that turnwire reads, by methods and results.

Claude over JSON-RPC (turnwire/protocol/json_rpc) has methods of one word. Here all but a few contain a slash. A program that
the agent has started may write JSON-RPC of its own between the agent's lines, as an MCP server does. So only the groups of
methods of this protocol count.
"""

from turnwire.protocol.json_values import Json

_GROUPS = ("session", "fs", "terminal", "auth", "mcp", "providers", "proxy", "document", "nes", "$")
"""What stands before the slash in methods of versions 1 and 2. Methods of one agent begin with an underscore."""

_ANSWERS = ("protocolVersion", "stopReason", "agentCapabilities", "authMethods")


def is_acp(value: Json) -> bool:
    """Return whether a JSON-RPC object, of either side, can only belong to this protocol."""
    if not isinstance(value, dict):
        return False
    method, params, result = value.get("method"), value.get("params"), value.get("result")
    if isinstance(method, str):
        if method in ("initialize", "authenticate"):
            return isinstance(params, dict) and ("protocolVersion" in params or "methodId" in params)
        group, slash, _ = method.partition("/")
        return bool(slash) and (group in _GROUPS or group.startswith("_"))
    if not isinstance(result, dict) or "type" in result:
        return False
    return any(name in result for name in _ANSWERS) or (
        isinstance(result.get("sessionId"), str) and "subtype" not in result
    )

"""Tell lines of this protocol from those of the other JSON-RPC protocol that turnwire reads, by methods and results.

Claude over JSON-RPC (turnwire/protocol/json_rpc) has methods of one word. Here all but a few contain a slash.
"""

from turnwire.protocol.json_values import Json

_ANSWERS = ("protocolVersion", "stopReason", "agentCapabilities", "authMethods")


def is_acp(value: Json) -> bool:
    """Return whether a JSON-RPC object, of either side, can only belong to this protocol."""
    if not isinstance(value, dict):
        return False
    method, params, result = value.get("method"), value.get("params"), value.get("result")
    if isinstance(method, str):
        if method in ("initialize", "authenticate"):
            return isinstance(params, dict) and ("protocolVersion" in params or "methodId" in params)
        return "/" in method
    if not isinstance(result, dict) or "type" in result:
        return False
    return any(name in result for name in _ANSWERS) or (
        isinstance(result.get("sessionId"), str) and "subtype" not in result
    )

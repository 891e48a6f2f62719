"""Is a line of JSON-RPC of this protocol, or of the other that turnwire reads? Told by methods, and by what answers hold.

Claude over JSON-RPC (turnwire/protocol/json_rpc) has methods of one word; here all but a few have a slash.
"""

from turnwire.protocol.json_values import Json

_ANSWERS = ("protocolVersion", "stopReason", "agentCapabilities", "authMethods")


def is_acp(value: Json) -> bool:
    """Tell whether a JSON-RPC object, whoever wrote it, can only be of this protocol."""
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

"""Read an agent's error, for humans and programs. Agents put JSON text into messages, and the reason into `data`."""

import re
from typing import NamedTuple

from turnwire.normalize.payloads.fields import fields, parsed, text, whole
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import Json

AUTHENTICATION_REQUIRED = -32000
CANCELLED = -32800

_CODES = {
    400: "invalid_request",
    401: "authentication_failed",
    402: "billing_error",
    403: "authentication_failed",
    429: "rate_limit",
}
_RPC_CODES = {
    AUTHENTICATION_REQUIRED: "authentication_failed",
    -32600: "invalid_request",
    -32602: "invalid_request",
}
_AUTHENTICATION = re.compile(r"(?i)authenticat|log ?in required|unauthori[sz]ed")
_GENERAL = re.compile(r"(?i)internal error:?\s*|agent error:?\s*")
_SAID = re.compile(r"(?i)(?:\b(?:HTTP|status(?: code)?|API error|error code)[ :]{1,3}|\()([45]\d\d)\b")
_LOOKED_AT = 2000
"""Characters of a message in which a status is looked for."""
_DEPTH = 12
"""Most levels of JSON text inside JSON text that are parsed."""
_LONGEST = 100_000
"""Characters of JSON text in a message that are read."""


class Problem(NamedTuple):
    """A failure."""

    message: str
    code: str | None = None
    status: int | None = None


def problem(error: RpcError) -> Problem:
    """Return the contents of an error."""
    status = _status(error.code)
    words, told = _opened(error.message, _DEPTH)
    data_words, data_told = _opened(error.data, _DEPTH)
    status = status or told or data_told
    told_in = f"{error.message[:_LOOKED_AT]}\n{data_words[:_LOOKED_AT]}"
    found = _SAID.search(told_in) if status is None else None
    status = int(found[1]) if found is not None else status
    if not words.strip() or (_GENERAL.fullmatch(words.strip()) and data_words):
        words = data_words or words
    elif data_words and data_words not in words and not isinstance(error.data, dict):
        words = f"{words}: {data_words}"
    data = fields(error.data)
    code = text(data, "errorKind", "error_kind")
    if code is None:
        code = _CODES.get(status or 0) or ("server_error" if status is not None and status >= 500 else None)
    if code is None and isinstance(error.code, int):
        code = _RPC_CODES.get(error.code)
    if error.code == AUTHENTICATION_REQUIRED and not _AUTHENTICATION.search(words[:1000]):
        code = (
            text(data, "errorKind") or None
        )  # the first of the codes that are an agent's own: not all mean a login
    return Problem(words.strip() or "The agent reports an error without a word.", code, status)


def _opened(value: Json, room: int) -> tuple[str, int | None]:
    """Return the words in a value, JSON text in it opened, and an HTTP status among them."""
    if room == 0:
        return "", None
    if isinstance(value, str):
        stripped = value.strip()
        start = min((at for at in (stripped.find("{"), stripped.find("[{")) if at >= 0), default=-1)
        if start >= 0 and stripped.endswith(("}", "]")) and len(stripped) <= _LONGEST:
            words, status = _opened(parsed(stripped[start:]), room - 1)
            return (words or stripped), status
        return stripped, None
    if isinstance(value, list):
        return _opened(value[0], room - 1) if value else ("", None)
    if not isinstance(value, dict):
        return "", None
    status = _status(whole(value, "status", "statusCode", "code", "httpStatusCode"))
    for name in ("error", "message", "details", "detail", "data"):
        words, told = _opened(value.get(name), room - 1)
        if words:
            return words, told or status
    return "", status


def _status(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600 else None

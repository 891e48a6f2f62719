"""Why the hub closes a WebSocket, as close codes of RFC 6455 and of the range for private use."""

from enum import IntEnum


class CloseCode(IntEnum):
    """What a frontend sees as `event.code`."""

    GOING_AWAY = 1001
    INTERNAL = 1011
    UNAUTHORIZED = 4401
    NO_HELLO = 4408
    TOO_MANY = 4429


CLOSE_CODES = {
    1001: "The sidecar stops. Come back later, with the cursor.",
    1002: "The frontend broke the WebSocket protocol.",
    1006: "(Seen by the frontend only:) the connection was cut, as after a silence of the frontend.",
    1007: "A text frame was not UTF-8.",
    1009: "A frame was larger than allowed.",
    1011: "The log of a session cannot be read; the sidecar's log says why.",
    4401: "The token is wrong, or none was shown.",
    4408: "No token was shown in time.",
    4429: "Too many wrong tokens from this address, or far too many commands on this connection.",
}
"""All codes, for docs/protocol.md."""

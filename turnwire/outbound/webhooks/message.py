"""A webhook's message and its signature, as Standard Webhooks 1.0 has them. Pure.

`webhook-id` is the same for every attempt, so a receiver can tell a repetition. The signature is an HMAC-SHA256 over
id, time and body, so none of them can belong to another message. With the time a receiver can refuse old messages.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping

from msgspec import Struct

from turnwire.normalize.events import from_json, to_json
from turnwire.normalize.events.envelope import Envelope
from turnwire.normalize.events.limits import cut
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.visible import ordered_json

FIELD_LIMIT = 4096
"""Bytes above which a string of an event is cut in a message: who wants all of it asks the hub."""

SECRET_PREFIX = "whsec_"
SHORTEST_SECRET = 16
"""Bytes of a secret."""


class BadSecret(TurnwireError, ValueError):
    """A secret that cannot be signed with."""


class Message(Struct, frozen=True):
    """What is sent, however often."""

    id: str
    body: bytes


def message_of(envelope: Envelope, kind: str, epoch: str) -> Message:
    """Return the message of an event; its strings hide and reorder nothing, since people read them."""
    event = ordered_json(json.loads(to_json(cut(from_json(envelope.event), FIELD_LIMIT))))
    body = {
        "type": kind,
        "timestamp": envelope.ts,
        "data": {"session": envelope.session, "seq": envelope.seq, "event": event},
    }
    name = f"{epoch}-{envelope.session}-{envelope.seq}"
    return Message(name, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())


def key_of(secret: str) -> bytes:
    """Return the bytes that a secret signs with: what `whsec_` stands before in base64, else the text itself; raises BadSecret."""
    try:
        if secret.startswith(SECRET_PREFIX):
            key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
        else:
            key = secret.encode()
    except (binascii.Error, ValueError):
        raise BadSecret(f"what follows {SECRET_PREFIX} must be base64") from None
    if len(key) < SHORTEST_SECRET:
        raise BadSecret(f"a secret must have at least {SHORTEST_SECRET} bytes")
    return key


def headers(message: Message, key: bytes, now: int) -> Mapping[str, str]:
    """Return the headers of an attempt at `now`, in seconds since 1970."""
    signed = f"{message.id}.{now}.".encode() + message.body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "content-type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": str(now),
        "webhook-signature": f"v1,{signature}",
    }

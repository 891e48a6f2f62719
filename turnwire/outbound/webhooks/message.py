"""Build the signed message of a webhook, as Standard Webhooks 1.0 defines it. Pure.

`webhook-id` is the same for every attempt, so that a receiver can detect duplicates. The signature is an HMAC-SHA256 of
id, time and body. The time lets a receiver refuse old messages.
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
"""Maximum bytes of a string in a message. Longer ones are cut; the hub has the whole text."""

SECRET_PREFIX = "whsec_"
SHORTEST_SECRET = 16
"""Minimum bytes of a secret."""


class BadSecret(TurnwireError, ValueError):
    """The secret cannot be used to sign."""


class Message(Struct, frozen=True):
    """The id and the body of a message. They are the same for every attempt."""

    id: str
    body: bytes


def message_of(envelope: Envelope, kind: str, epoch: str) -> Message:
    """Return the message of an event. Control and direction characters are made visible, since people read it."""
    event = ordered_json(json.loads(to_json(cut(from_json(envelope.event), FIELD_LIMIT))))
    body = {
        "type": kind,
        "timestamp": envelope.ts,
        "data": {"session": envelope.session, "seq": envelope.seq, "event": event},
    }
    name = f"{epoch}-{envelope.session}-{envelope.seq}"
    return Message(name, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())


def key_of(secret: str) -> bytes:
    """Return the signing key: the base64 text after `whsec_`, or else the secret itself. Raises BadSecret."""
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
    """Return the headers of an attempt. now: seconds since 1970."""
    signed = f"{message.id}.{now}.".encode() + message.body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "content-type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": str(now),
        "webhook-signature": f"v1,{signature}",
    }

"""Follow and steer turnwire sessions from Python: see README.md. The vocabulary is in events, payloads, frames, commands and codes."""

from turnwire_client.backoff import Backoff
from turnwire_client.client import Client, connect
from turnwire_client.errors import (
    AccessRefused,
    CommandFailed,
    ConnectionLost,
    ProtocolError,
    TimedOut,
    TurnwireError,
)
from turnwire_client.feed import BEGINNING, Cursor, Feed, Gap
from turnwire_client.following import Following, Received
from turnwire_client.frames import CaughtUp, EventFrame, Lag, SessionSummary, Welcome
from turnwire_client.requests import Answer, WholePayload

__all__ = [
    "BEGINNING",
    "AccessRefused",
    "Answer",
    "Backoff",
    "CaughtUp",
    "Client",
    "CommandFailed",
    "ConnectionLost",
    "Cursor",
    "EventFrame",
    "Feed",
    "Following",
    "Gap",
    "Lag",
    "ProtocolError",
    "Received",
    "SessionSummary",
    "TimedOut",
    "TurnwireError",
    "Welcome",
    "WholePayload",
    "connect",
]

"""Follow and steer turnwire sessions from Python: see README.md. The vocabulary is in events, payloads, frames, commands, results and codes."""

from .backoff import Backoff
from .client import Client, connect
from .errors import (
    AccessRefused,
    CommandFailed,
    ConnectionLost,
    ProtocolError,
    TimedOut,
    TurnwireError,
)
from .feed import BEGINNING, LATEST, Cursor, Feed, Gap
from .following import Following, Received
from .frames import CaughtUp, EventFrame, Lag, SessionSummary, Welcome
from .requests import Answer
from .results import EventsPage, WholePayload

__all__ = [
    "BEGINNING",
    "LATEST",
    "AccessRefused",
    "Answer",
    "Backoff",
    "CaughtUp",
    "Client",
    "CommandFailed",
    "ConnectionLost",
    "Cursor",
    "EventFrame",
    "EventsPage",
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

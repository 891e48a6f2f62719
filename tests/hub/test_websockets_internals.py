"""What the hub's listener takes of websockets beyond its documented interface: a new version that moves one of these fails here, by name."""

import inspect
import re
import tomllib

from websockets.asyncio.connection import Connection
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.protocol import Protocol
from websockets.server import ServerProtocol

from recordings import ROOT

OVERRIDDEN = (
    "connection_made",
    "connection_lost",
    "data_received",
    "eof_received",
    "pause_writing",
    "resume_writing",
    "process_event",
)
"""Methods of the connection that the listener extends."""

USED_OF_CONNECTION = ("drain", "paused", "request", "protocol", "loop", "transport")
USED_OF_PROTOCOL = ("extensions", "max_message_size", "state")


def test_the_version_of_websockets_has_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (bound,) = (one for one in project["dependencies"] if re.match(r"websockets\b", one))
    assert re.search(r",<\d+$", bound), bound


def test_websockets_has_the_methods_that_the_listener_extends() -> None:
    assert [name for name in OVERRIDDEN if not callable(getattr(ServerConnection, name, None))] == []


def test_websockets_has_the_attributes_that_the_listener_uses() -> None:
    connection = inspect.getsource(Connection) + inspect.getsource(ServerConnection)
    protocol = inspect.getsource(Protocol) + inspect.getsource(ServerProtocol)
    for names, source in ((USED_OF_CONNECTION, connection), (USED_OF_PROTOCOL, protocol)):
        for name in names:
            assert re.search(rf"self\.{name}\b[^=\n]*=|def {name}\(", source), name


def test_websockets_makes_a_connection_as_the_listener_does() -> None:
    assert "create_connection" in inspect.signature(serve).parameters
    assert list(inspect.signature(ServerConnection).parameters)[:2] == ["protocol", "server"]
    assert callable(Server.start_serving)

"""Two programs that want one port at one moment: one has it, the other is told, whichever event loop runs it."""

import asyncio
import errno
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import uvloop
from hub_harness import StubHost

from turnwire.hub import hub as hub_module
from turnwire.hub.config import HubConfig
from turnwire.hub.hub import Hub
from turnwire.hub.server.static_files import StaticFile
from turnwire.journal.memory import MemoryJournal


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_who_binds_in_time_and_listens_too_late_is_told(
    monkeypatch: pytest.MonkeyPatch, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        port: int = other.getsockname()[1]

        def load(_: Path | None) -> Mapping[str, StaticFile]:
            other.listen()  # between the hub's binding and its listening
            return {}

        monkeypatch.setattr(hub_module, "load", load)
        with asyncio.Runner(loop_factory=loop) as runner:
            hub = Hub(MemoryJournal(), StubHost(), HubConfig(port=port))
            with pytest.raises(OSError, match="in use") as refused:
                runner.run(hub.start())
    assert refused.value.errno == errno.EADDRINUSE

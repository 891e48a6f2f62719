"""A hub inside the caller's asyncio program: what `turnwire serve` serves, without a process of its own."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from turnwire._runtime.task_owner import TaskOwner
from turnwire.config.settings import load
from turnwire.config.state_directory import claimed
from turnwire.hub.hub import Hub as RunningHub
from turnwire.hub.principals import Principals
from turnwire.sessions.live_host import LiveHost
from turnwire.sidecar.serving.serve import serve


class Hub:
    """A hub that serves; `open_hub` starts it."""

    def __init__(self, hub: RunningHub) -> None:
        self._hub = hub

    @property
    def url(self) -> str:
        """The console's address with the token that may do everything; `turnwire.client.connect` takes it."""
        return self._hub.url(self._hub.tokens.control)

    @property
    def view_url(self) -> str:
        """The same with the token that may only watch."""
        return self._hub.url(self._hub.tokens.view)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._hub.port


@asynccontextmanager
async def open_hub(**settings: Any) -> AsyncIterator[Hub]:
    """Serve a hub while the context is open; leaving it ends its sessions and delivers their last events.

    Signals stay the caller's. A hub that fails by itself raises its error when the context is left.

    Args:
        settings: settings by name, as in the reference of settings, such as `agent="demo"` or `journal="memory"`. `port` is any
            free one unless given. `shell` is off unless given: an application may serve the hub elsewhere. TURNWIRE_ variables count beneath them; no configuration file is read.

    Raises:
        TurnwireError: a setting is wrong, the journal cannot be opened, or nothing can listen at the address.
    """
    async with hub_with(settings, None) as hub:
        yield hub


@asynccontextmanager
async def hub_with(settings: Mapping[str, Any], principals: Principals | None) -> AsyncIterator[Hub]:
    """Serve a hub as `open_hub` does. With `principals` these alone have tokens, besides the hub's two."""
    configured = load({"port": 0, "shell": "off", **settings}, Path(os.devnull))
    reached, over = asyncio.Event(), asyncio.Event()
    running: list[Hub] = []

    async def work(hub: RunningHub) -> None:
        running.append(Hub(hub))
        reached.set()
        await over.wait()

    with claimed(configured, Path.cwd()) as placed:
        async with TaskOwner() as tasks:
            grants = configured.state_dir / "grants.json"
            serving = tasks.begin(
                "hub",
                serve(
                    placed,
                    _nothing,
                    _unannounced,
                    grants=grants,
                    work=work,
                    signals=False,
                    principals=principals,
                ),
            )
            waiting = tasks.begin("start of the hub", reached.wait())
            await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
            try:
                if not running:
                    await serving  # raises why there is none
                yield running[0]
            finally:
                over.set()
                await serving


async def _nothing(_: LiveHost) -> None:
    """Begin no session: frontends do."""


async def _unannounced(_: RunningHub) -> None:
    """Print nothing: the caller has the URL."""

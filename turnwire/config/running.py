"""Find this user's running sidecars on this machine, by the files in their state directories."""

import socket
from collections.abc import Iterator
from pathlib import Path

from turnwire.config.settings import Settings
from turnwire.config.stored_access import StoredAccess


def running(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the address and the control token of each sidecar that listens."""
    token = None if settings.token is None else settings.token.get_secret_value()
    for file in [settings.state_dir / "access.json", *sorted(_workspaces(settings.state_dir))]:
        if not file.is_file():
            continue
        kept = StoredAccess(file.parent)
        port = kept.listening
        if port is not None and _listens(port):
            yield f"http://127.0.0.1:{port}/", token or kept.tokens.control


def _workspaces(state: Path) -> list[Path]:
    folder = state / "workspaces"
    return [*folder.glob("*/access.json"), *folder.glob("*/memory/access.json")]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0

"""Where the logs of a worker's sessions ended when it ended: a Redis that has less was put back from a backup, or lost events."""

import logging
import os
from pathlib import Path

import msgspec

from turnwire._runtime.private_files import read_private, write_private

log = logging.getLogger(__name__)


class LogEnds(msgspec.Struct, frozen=True):
    """The ends of logs in one epoch."""

    epoch: str = ""
    last: dict[str, int] = {}
    """The newest number of each session's log."""

    def keep(self, state_dir: Path) -> None:
        """Keep them for the worker's next life; a failure is logged, and costs that life the comparison."""
        try:
            write_private(_file(state_dir), msgspec.json.encode(self))
        except OSError as error:
            log.warning("the ends of the logs could not be kept", extra={"error": str(error)})

    @classmethod
    def of(cls, state_dir: Path) -> "LogEnds":
        """Return what the worker's last life has kept; nothing where that cannot be read."""
        try:
            text = read_private(_file(state_dir), owners={os.getuid()}, follows_links=False)
            return msgspec.json.decode(text.encode(), type=cls)
        except (OSError, msgspec.DecodeError):
            return cls()


def _file(state_dir: Path) -> Path:
    return state_dir / "log-ends.json"

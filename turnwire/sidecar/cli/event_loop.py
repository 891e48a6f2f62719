"""The event loop that a command works in, and how it fails there."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from turnwire.sidecar.cli.application import plain_errors

if TYPE_CHECKING:
    import asyncio


def serving(work: Coroutine[None, None, None]) -> None:
    """Run the sidecar's event loop. Errors that the user can fix become one sentence."""
    import asyncio

    from turnwire._runtime.task_owner import first_of
    from turnwire.config.settings import ConfigurationError
    from turnwire.fleet.errors import NameTaken
    from turnwire.hub.hub import CertificateError
    from turnwire.hub.server.access import AccessError
    from turnwire.journal.base import JournalError
    from turnwire.recordings.recorded import RecordingError
    from turnwire.sessions.launch import CANNOT_START
    from turnwire.sidecar.process import garbage
    from turnwire.sidecar.serving.listening import PortError
    from turnwire.sidecar.serving.qr import NoCode
    from turnwire.sidecar.serving.run import StartError
    from turnwire.tracing.export.wanted import TracingError

    mendable = (
        *CANNOT_START,
        AccessError,
        CertificateError,
        ConfigurationError,
        JournalError,
        NameTaken,
        NoCode,
        PortError,
        RecordingError,
        StartError,
        TracingError,
    )
    garbage.started()
    with plain_errors(*mendable):
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(work)
        except* mendable as group:
            raise first_of(group) from None


def _loop_factory() -> "Callable[[], asyncio.AbstractEventLoop] | None":
    """Return uvloop's event loop where it is installed (the extra `uvloop`); None for the standard library's."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop

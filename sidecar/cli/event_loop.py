"""The event loop that a command works in, and how it fails there."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from sidecar.cli.application import plain_errors

if TYPE_CHECKING:
    import asyncio


def serving(work: Coroutine[None, None, None]) -> None:
    """Run the sidecar's event loop; what the user can mend is one sentence."""
    import asyncio

    from fleet.errors import NameTaken
    from hub.hub import CertificateError
    from hub.server.access import AccessError
    from journal.base import JournalError
    from sidecar.config.settings import ConfigurationError
    from sidecar.process import garbage
    from sidecar.serving.listening import PortError
    from sidecar.serving.qr import NoCode
    from sidecar.serving.run import StartError
    from sidecar.sessions.launch import CANNOT_START
    from tracing.export.wanted import TracingError
    from tracing.recordings.recorded import RecordingError

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


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group of groups."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found

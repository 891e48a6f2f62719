"""Events of recorded lines, without an agent. Imports neither pydantic nor asyncio."""

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import recorded_core
from turnwire.recordings.output import OutputTranslator
from turnwire.recordings.reading import read
from turnwire.recordings.recorded import timed_happenings


def translate(source: str | PathLike[str] | bytes | Iterable[bytes]) -> Iterator[AgentEvent]:
    """Yield the events of a recording, or of an agent's output while it comes.

    Args:
        source: the path of a recording or of an agent's saved output; or its output: all of it as bytes, or pieces
            cut anywhere. A file that is opened in binary mode and the stdout of a process both give pieces. Lines end with a newline.

    Raises:
        TurnwireError: no line can be read; the message says why.
    """
    core = recorded_core()
    if isinstance(source, str | PathLike):
        for _, events in timed_happenings(core, read(Path(source))):
            yield from events
        return
    output = OutputTranslator(core)
    for chunk in [source] if isinstance(source, bytes | bytearray) else source:
        yield from output.feed(chunk)
    yield from output.close()
    if (error := output.unread("the given output")) is not None:
        raise error

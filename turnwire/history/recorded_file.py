"""Read a named file as a document: a recording of any shape, or a conversation of an agent, in any folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

from turnwire.history.history import Format, document
from turnwire.history.index import SHOWN, HistoryError, ListedConversation
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import recorded_core
from turnwire.recordings.filters.inspection import EPOCH_S, bill_session, inspect
from turnwire.recordings.reading import is_rows, read
from turnwire.recordings.recorded import Timed, timed_happenings
from turnwire.recordings.session_file import KeptFormat, format_of, read_session_file, survey_of
from turnwire.tracing.prices import Prices


def export_file(
    path: Path, prices: Callable[[], Prices], form: Format, *, redact: bool, leaf: str | None = None
) -> str:
    """Return a file, or a folder with a timeline, as a document; raises HistoryError, RecordingError and PricesError."""
    try:
        kept = format_of(path) if path.is_file() and not is_rows(path) else None
        if kept is None and leaf is not None:
            raise HistoryError(f"{path} is a recording, which has no branches; leave out --branch")
        return document(
            _heading(path, kept, prices, leaf), _events(_read(path, kept, leaf)), form, redact=redact
        )
    except OSError as error:
        raise HistoryError(f"{path} cannot be read: {error.strerror}") from error
    except KeyError:
        raise HistoryError(f"{path} has no message {leaf!r} to end with") from None


def _read(path: Path, kept: KeptFormat | None, leaf: str | None) -> Iterator[Timed]:
    return read(path) if kept is None else read_session_file(path, kept.files, leaf)


def _events(recording: Iterator[Timed]) -> Iterator[AgentEvent]:
    for _, events in timed_happenings(recorded_core(), recording):
        yield from events


def _heading(
    path: Path, kept: KeptFormat | None, prices: Callable[[], Prices], leaf: str | None
) -> ListedConversation:
    """Return what a list of conversations would show of the file."""
    times: list[float] = []

    def noted(recording: Iterator[Timed]) -> Iterator[Timed]:
        for timed in recording:
            if timed.at is not None and timed.at > EPOCH_S:
                times[1:] = [timed.at]  # the first stays, the last is the newest
            yield timed

    report = inspect(noted(_read(path, kept, leaf)), prices)
    outline = None if kept is None else survey_of(path, kept.files).outline()
    if outline is not None:
        bill_session(report, outline, prices)
    prompts = [prompt for turn in report.turns for prompt in turn.prompts]
    return ListedConversation(
        id=report.session_id or path.name,
        path=str(path),
        agent=report.agent or "",
        folder=outline.folder if outline else None,
        title=outline.title if outline else None,
        first_prompt=next((prompt[:SHOWN] for prompt in prompts), path.name),
        began=times[0] if times else None,
        ended=times[-1] if times else None,
        turns=len(report.turns),
        cost_usd=report.cost_usd,
        cost_is_whole=report.cost_is_whole,
        git_branch=outline.git_branch if outline else None,
        model=report.model,
        version=report.version,
        size=0,
        branches=len(outline.branches) if outline else 0,
        estimated_usd=report.estimated_usd,
    )

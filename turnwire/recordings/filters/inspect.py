"""`turnwire inspect`: a recording's report for a terminal, or as JSON."""

from collections.abc import Callable
from pathlib import Path

from msgspec import to_builtins

from turnwire.normalize.recordings.session_files import ConversationSummary
from turnwire.protocol.visible import to_json
from turnwire.recordings.filters.inspection import Report, bill_session, inspect
from turnwire.recordings.reading import is_rows, read
from turnwire.recordings.session_file import format_of, survey_of
from turnwire.tracing.prices import Prices


def run(
    file: Path,
    prices: Callable[[], Prices],
    *,
    as_json: bool,
    family: str | None = None,
    known_beside: Callable[[str, ConversationSummary], float] | None = None,
) -> None:
    """Print the report; raises RecordingError and UnknownFamily.

    `known_beside` marks the answers that another conversation counts, and returns what this one has cost that is not in its file.
    """
    report = inspect(read(file, family), prices, family)
    kept = format_of(file) if family is None and file.is_file() and not is_rows(file) else None
    if kept is not None:
        outline = survey_of(file, kept.files).outline()
        more = 0.0 if known_beside is None else known_beside(kept.session, outline)
        bill_session(report, outline, prices, more)
    if as_json:
        print(to_json(_plain(report), indent=2))  # noqa: T201 - the command's output
    else:
        from turnwire.recordings.filters.report import draw  # noqa: PLC0415 - rich is for what is drawn

        draw(report, file)


def _plain(report: Report) -> dict[str, object]:
    turns = []
    for turn in report.turns:
        plain = to_builtins(turn) | {"verdict": turn.verdict, "seconds": turn.seconds}
        del plain["calls"]
        plain["tools"] = [to_builtins(span) for span in turn.tools.values()]
        plain["asked"] = [to_builtins(span) for span in turn.asked.values()]
        turns.append(plain)
    return {**to_builtins(report), "turns": turns}

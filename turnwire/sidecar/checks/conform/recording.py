"""`turnwire conform recording`: check that turnwire reads a whole recording, and that its events are consistent."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from turnwire.frontends.conform.report import Finding
from turnwire.normalize import events as ev
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads import ModifyFilePayload
from turnwire.recordings.reading import read

MOST_NAMED = 5
"""Kinds of lines that are named, of each sort."""


def judge(source: Path, family: str | None = None) -> list[Finding]:
    """Return the findings. Raises RecordingError and UnknownFamily."""
    core = recorded_core(family)
    seen = _Seen()
    for timed in read(source, family):
        if isinstance(timed.input, Ended):
            seen.ended = timed.input
        for event in core.handle(timed.input):
            seen.add(event)
    stats = core.stats
    lines = stats.published + stats.counted + stats.control + stats.unknown + stats.malformed + stats.blank
    return list(_findings(seen, lines, stats.published, _files_after(source)))


class _Seen:
    def __init__(self) -> None:
        self.unknown: Counter[str] = Counter()
        self.malformed: Counter[str] = Counter()
        self.turns: dict[str, str | None] = {}
        """Outcome by turn; None while it is open."""
        self.calls: dict[str, str] = {}
        """Status by call."""
        self.asked: set[str] = set()
        self.files: set[str] = set()
        self.ended: Ended | None = None
        self.texts = 0
        self.tokens = 0

    def add(self, event: ev.AgentEvent) -> None:
        match event:
            case ev.Unknown(message_type=kind):
                self.unknown[kind] += 1
            case ev.Malformed(reason=reason):
                self.malformed[reason] += 1
            case ev.TurnStarted(operation_id=str(turn)):
                self.turns[turn] = None
            case ev.Complete(operation_id=str(turn), data=data):
                self.turns[turn] = data.outcome
                self.tokens += bool(data.input_tokens or data.output_tokens)
            case ev.MessageChunk():
                self.texts += 1
            case ev.ToolCall(tool_call_id=call, tool_status=status):
                self.calls[call] = status
            case ev.ToolUpdate(tool_call_id=call, tool_status=status):
                self.calls[call] = status
                match event.normalized:
                    case ModifyFilePayload(modify_file=modified) if (
                        modified.output and modified.output.applied
                    ):
                        self.files.add(modified.file_path)
                    case _:
                        pass
            case ev.PermissionRequest(pending_id=pending) | ev.QuestionRequest(pending_id=pending):
                self.asked.add(pending)
            case ev.PermissionResolved(pending_id=pending) | ev.PermissionCancelled(pending_id=pending):
                self.asked.discard(pending)
            case _:
                pass


def _findings(seen: _Seen, lines: int, published: int, files: str | None) -> Iterator[Finding]:
    yield _finding("something of it is told", published > 0, f"{published} of {lines} lines")
    yield _finding("every line is of a known type", not seen.unknown, _named(seen.unknown))
    yield _finding("every line is a message", not seen.malformed, _named(seen.malformed))
    outcomes = Counter(str(outcome) for outcome in seen.turns.values())
    yield _finding("every turn ends", None not in seen.turns.values(), _named(outcomes) or "there is no turn")
    running = [name for name, status in seen.calls.items() if status == "running"]
    statuses = Counter(seen.calls.values())
    yield _finding("every call has an end", not running, _named(statuses) or "there is no call")
    yield _finding(
        "every question has an end", not seen.asked, f"{len(seen.asked)} are open" if seen.asked else ""
    )
    ended = seen.ended
    how = (
        "" if ended is None else f"exit code {ended.exit_code}" if ended.signal is None else f"{ended.signal}"
    )
    is_told = ended is not None and (ended.exit_code is not None or ended.signal is not None)
    yield Finding(
        "it says how the process ended", "held" if is_told else "not tested", how if is_told else ""
    )
    yield Finding("tokens are told", "held" if seen.tokens else "not supported", f"of {seen.tokens} turns")
    if files is not None and seen.files:
        missing = sorted(path for path in seen.files if Path(path).name not in files)
        yield _finding("files that were edited have changed", not missing, ", ".join(missing[:MOST_NAMED]))


def _finding(check: str, holds: bool, detail: str) -> Finding:
    return Finding(check, "held" if holds else "broken", detail)


def _named(counted: Counter[str]) -> str:
    return ", ".join(f"{number} x {name}" for name, number in counted.most_common(MOST_NAMED))


def _files_after(source: Path) -> str | None:
    try:
        return (source / "files-after.txt").read_text("utf-8", "replace")
    except OSError:
        return None

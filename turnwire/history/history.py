"""The library of conversations for commands and frontends. It blocks, so event loops call it in a thread."""

import glob
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from turnwire._runtime.state_directory import state_directory
from turnwire.config.settings import Settings
from turnwire.history.conversation_text import folded
from turnwire.history.export import ExportHeading, as_html, as_markdown
from turnwire.history.folders import folders, running
from turnwire.history.following import Follower
from turnwire.history.index import HistoryError, Index, ListedConversation, ScanResult, Tell
from turnwire.history.journaled import unfiled
from turnwire.history.processes import RunningAgent, running_agents
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import new_core, recorded_core
from turnwire.normalize.recordings.session_files import ConversationSummary
from turnwire.protocol.visible import visible
from turnwire.recordings.recorded import Timed, timed_happenings
from turnwire.recordings.redaction.redaction import Redaction
from turnwire.recordings.session_file import KeptFormat, format_of, read_session_file, session_lines
from turnwire.tracing.prices import Prices, PricesError, prices

Format = Literal["markdown", "html"]

GIVEN_UP = "the export was given up, since nobody waits for it any more"

IsStopped: TypeAlias = Callable[[], bool]
"""Tells whether the requester of an export is gone."""


def _never() -> bool:
    return False


def index_file(settings: Settings) -> Path | None:
    """Return where the index is: one for all workspaces, unless the state directory is elsewhere; None for memory alone."""
    if not settings.journal_kind.durable:
        return None
    base = state_directory()
    return (base if settings.state_dir.is_relative_to(base) else settings.state_dir) / "library.sqlite3"


def known_beside(
    settings: Settings, identity: str, outline: ConversationSummary, known: Callable[[], Prices]
) -> float:
    """Mark the answers of an outline that an earlier conversation counts, and return what the file does not have.

    Returns dollars that turnwire's own log knows of; 0 where there is no index.
    """
    file = index_file(settings)
    if not settings.history or file is None or not file.exists():
        return 0.0
    try:
        index = Index(file, known())
        turns, copied = index.journaled(identity), index.copied(identity)
        index.close()
    except HistoryError:
        return 0.0
    outline.answers = [
        answer._replace(is_copy=True) if answer.cost_usd is None and answer.key in copied else answer
        for answer in outline.answers
    ]
    found = unfiled(turns, outline.answers, outline.other_cost_usd, known().estimate) if turns else None
    return 0.0 if found is None else found.cost_usd


def _is_in_group(pid: int, other: int) -> bool:
    try:
        return os.getpgid(pid) == os.getpgid(other)
    except OSError:
        return False


class History:
    """The conversations that the settings allow to be seen."""

    def __init__(
        self, settings: Settings, agents: Callable[[], Iterable[RunningAgent]] = running_agents
    ) -> None:
        """Open the index; raises HistoryError, also if the settings switch the library off.

        `agents` finds those that run in a terminal.
        """
        self._agents = agents
        if not settings.history:
            raise HistoryError(
                "the conversations of agents are not listed here, because the setting `history` is off"
            )
        self.folders = folders(settings)
        try:
            self.index = Index(index_file(settings), prices(settings.prices))
        except PricesError as error:
            raise HistoryError(str(error)) from error

    def close(self) -> None:
        """Let go of the index."""
        self.index.close()

    def look(self, newest: int | None = None, tell: Tell | None = None) -> ScanResult:
        """Read what is new, or only so many of the files that were changed last; raises HistoryError. `tell`: as for Index.look."""
        return self.index.look(self.folders, newest, tell)

    def running(self) -> set[str]:
        """Return the conversations that other CLIs have open, from their own notes or from their processes."""
        noted = {pid: session for folder in self.folders for pid, session in running(folder).items()}
        found = set(noted.values())
        for one in self._agents():
            if one.pid not in noted:
                found |= self._opened_by(one)
        return found

    def _opened_by(self, one: RunningAgent) -> set[str]:
        held = {listed.id for path in one.files if (listed := self.index.in_file(path)) is not None}
        if held:
            return held
        if one.resumed is not None and self.index.find(one.resumed) is not None:
            return {one.resumed}
        last = self.index.newest_in(one.agent, one.folder)
        return set() if last is None or last.ended is None or last.ended < one.began else {last.id}

    def opened_by(self, pid: int) -> ListedConversation | None:
        """Return the conversation that a process, or one of its group, has open; None if none is known. Looks for new ones first."""
        self.look()
        noted = {pid: session for folder in self.folders for pid, session in running(folder).items()}
        names = {noted[pid]} if pid in noted else set()
        for one in self._agents() if not names else ():
            if one.pid == pid or _is_in_group(one.pid, pid):
                names |= self._opened_by(one)
        found = [listed for name in names if (listed := self.index.find(name)) is not None]
        return found[0] if len(found) == 1 else None

    def find(self, name: str) -> ListedConversation:
        """Return a conversation by its id, or by how that begins; raises HistoryError."""
        found = self.index.find(name)
        if found is None:
            starting = self.index.starting_with(name) if len(name) >= 4 else []
            if len(starting) > 1:
                named = ", ".join(one.id for one in starting)
                raise HistoryError(f"several conversations begin with {name!r}: {named}; give more of the id")
            found = next(iter(starting), None)
        if found is None:
            raise HistoryError(f"there is no conversation {name!r}; `turnwire sessions` lists them")
        return found

    def full_id(self, name: str) -> str:
        """Return the id of the one conversation whose id begins so; the name itself where none does. Raises HistoryError."""
        if self.index.find(name) is None and self.index.starting_with(name):
            return self.find(name).id
        return name

    def _file(self, listed: ListedConversation) -> tuple[Path, KeptFormat]:
        """Return a conversation's file and its entry in the list; raises HistoryError and OSError."""
        path = Path(listed.path)
        if not any(path.is_relative_to(folder) for folder in self.folders):
            raise HistoryError(f"{path} is not in a folder that the settings allow; see `history_dirs`")
        found = format_of(path)
        if found is None:
            raise HistoryError(f"{path} is not a conversation any more; list them again")
        return path, found

    def follower(self, listed: ListedConversation, leaf: str | None = None) -> Follower:
        """Return a reader of a conversation's file, which follows it or stops at a message; raises HistoryError."""
        try:
            path, found = self._file(listed)
            return Follower(
                path, found.files, leaf, core=lambda turns: new_core(found.family, first_turn=turns + 1)
            )
        except OSError as error:
            raise HistoryError(f"{listed.path} cannot be read: {error.strerror}") from error

    def has_message(self, conversation: str, message: str) -> bool | None:
        """Tell whether a conversation's file names a message anywhere; None where there is no such file."""
        wanted = json.dumps(message).encode()
        listed = self.index.find(conversation)
        named = [] if listed is None else [Path(listed.path)]
        for folder in self.folders:
            # a file that was begun since the last look
            named += folder.glob(f"*/{glob.escape(conversation)}.jsonl")
        for path in named:
            try:
                return any(isinstance(line, bytes) and wanted in line for line in session_lines(path))
            except OSError:
                continue
        return None

    def read(self, listed: ListedConversation, leaf: str | None = None) -> Iterator[Timed]:
        """Read a conversation; raises HistoryError."""
        path = Path(listed.path)
        try:
            path, found = self._file(listed)
            yield from read_session_file(path, found.files, leaf)
        except OSError as error:
            raise HistoryError(f"{path} cannot be read: {error.strerror}") from error
        except KeyError:
            raise HistoryError(f"the conversation {listed.id} has no message {leaf!r} to end with") from None

    def events(self, listed: ListedConversation, leaf: str | None = None) -> Iterator[AgentEvent]:
        """Read a conversation as events; raises HistoryError."""
        for _, events in timed_happenings(recorded_core(), self.read(listed, leaf)):
            yield from events

    def export(
        self,
        listed: ListedConversation,
        form: Format,
        *,
        redact: bool,
        leaf: str | None = None,
        is_stopped: IsStopped = _never,
    ) -> str:
        """Return a conversation as a document; raises HistoryError, also once `is_stopped`."""
        return document(listed, self.events(listed, leaf), form, redact=redact, is_stopped=is_stopped)


def document(
    listed: ListedConversation,
    events: Iterator[AgentEvent],
    form: Format,
    *,
    redact: bool,
    is_stopped: IsStopped = _never,
) -> str:
    """Return events as a document; raises HistoryError once `is_stopped`, which is looked at for each event and text."""
    redaction = Redaction(secrets.token_bytes(32)) if redact else None

    def going_on() -> Iterator[AgentEvent]:
        for event in events:
            if is_stopped():
                raise HistoryError(GIVEN_UP)
            yield event

    def clean(text: str) -> str:
        if is_stopped():
            raise HistoryError(GIVEN_UP)
        return text if redaction is None else redaction.apply(text)

    facts = [
        ("Session", listed.id),
        ("Folder", listed.folder),
        ("Branch", listed.git_branch),
        ("Model", listed.model),
        ("Begun", moment(listed.began)),
        ("Ended", moment(listed.ended)),
        ("Turns", None if listed.turns is None else str(listed.turns)),
        ("Cost", _cost(listed)),
    ]
    heading = ExportHeading(shown_title(listed), [(name, value) for name, value in facts if value])
    write = as_html if form == "html" else as_markdown
    return write(heading, folded(going_on()), clean)


def _cost(listed: ListedConversation) -> str | None:
    if listed.cost_usd is None:
        return None
    least = "" if listed.cost_is_whole else "at least "
    return f"{least}${listed.cost_usd:.4f}{', estimated' if listed.estimated_usd else ''}"


def shown_title(listed: ListedConversation) -> str:
    """Return what a conversation is called: by a human, by its agent, or by its first prompt."""
    found = listed.title or listed.first_prompt or listed.id
    return visible(" ".join(found.split())) or listed.id


def moment(at: float | None) -> str | None:
    """Return a time as RFC 3339, UTC; None for none, and for one that no calendar has."""
    if at is None:
        return None
    try:
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None

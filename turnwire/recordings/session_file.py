"""The files that agents keep of their conversations themselves, read as recordings.

A file is read twice, so its size costs no memory: once to see which of its branches lives, once for the inputs. Beside it
a folder of its name may hold files of subagents, which are woven in by their times.
"""

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from turnwire.normalize.families import session_files_of_others, with_session_files
from turnwire.normalize.inputs import Ended
from turnwire.normalize.recordings.lines import tells_nothing
from turnwire.protocol.framing import DEFAULT_LIMIT, LineFramer, OversizeLine
from turnwire.protocol.parsing.glued import records_in
from turnwire.recordings.recorded import CHUNK, Timed, in_database, services
from turnwire.recordings.unpacked import opened

if TYPE_CHECKING:
    from turnwire.normalize.recordings.session_files import SearchableText, SessionFiles, Survey
    from turnwire.protocol.wrapped import Piece

MAIN = PurePath("main/wire.jsonl")
"""How a conversation's own file is called that lies beside folders of its subagents."""

LOOKED_AT = 50
"""Lines in which a session file must show that it is one."""

_PIECE = 1 << 14
"""Bytes that are read of a file at a time to find so many lines."""


_SESSION = re.compile(rb'"sessionId"\s*:\s*"([^"]+)"')


class _Meta(msgspec.Struct):
    call: str | None = msgspec.field(default=None, name="toolUseId")


_decode_meta = msgspec.json.Decoder(_Meta).decode


class AgentFile(NamedTuple):
    """A subagent's own file."""

    agent: str
    """The subagent's run."""
    path: Path


class KeptFormat(NamedTuple):
    """What a session file is."""

    family: str
    """Whose wire its lines become."""
    files: "SessionFiles"
    """How it is read."""
    session: str
    """The conversation's id."""


def format_of(path: Path) -> KeptFormat | None:
    """Return what a session file is, by its first lines; None for what is none."""
    if in_database(path):
        found = list(islice((line for line in session_lines(path) if isinstance(line, bytes)), LOOKED_AT))
        return _format_of(found, path)
    first_lines, found, size = FirstLines(), list[bytes](), 0
    with opened(path) as file:
        # one object may be the whole file
        while (
            len(found) < LOOKED_AT
            and size < (CHUNK if found else DEFAULT_LIMIT)
            and (piece := file.read(_PIECE))
        ):
            size += len(piece)
            found += first_lines.feed(piece)
    found = found or first_lines.close()
    return _format_of([piece for line in found[:LOOKED_AT] for piece in records_in(line)], path)


class FirstLines:
    """Finds the first lines of a stream: those of the first service, without blank and oversized ones."""

    def __init__(self) -> None:
        from turnwire.protocol.wrapped import Unwrapper  # noqa: PLC0415 - who runs agents reads no logs

        self._framer, self._unwrapper = LineFramer(), Unwrapper()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes."""
        return self._bytes(self._unwrapper.feed(self._framer.feed(chunk)))

    def close(self) -> list[bytes]:
        """Return what is left at the end: one line alone, which may still be written, or the end of an object."""
        last = self._framer.close()
        rest = self._unwrapper.feed([] if last is None else [last])
        return self._bytes([*rest, *self._unwrapper.close()])

    def _bytes(self, pieces: "Iterable[Piece]") -> list[bytes]:
        lines = (line for piece in pieces if not piece.source for line in piece.lines)
        return [line for line in lines if isinstance(line, bytes) and line.strip()]


def is_session_line(lines: Sequence[bytes]) -> bool:
    """Tell whether lines are those of a session file."""
    return _format_of([piece for line in lines[:LOOKED_AT] for piece in records_in(line)], Path()) is not None


def _format_of(found: Sequence[bytes], path: Path) -> KeptFormat | None:
    """Return what lines are of: turnwire's own families are asked first, others about lines that say nothing to these."""
    for name, files in with_session_files():
        if any(files.recognises(line) for line in found):
            return _kept(name, files, found, path)
    first = next((line for line in found if line.startswith(b"{")), None)
    if first is None or not tells_nothing(first):
        return None
    for name, files in session_files_of_others():
        if any(files.recognises(line) for line in found):
            return _kept(name, files, found, path)
    return None


def _kept(name: str, files: "SessionFiles", found: Sequence[bytes], path: Path) -> KeptFormat:
    told = next((told for line in found if (told := files.session_of(line))), None)
    return KeptFormat(name, files, told or files.named(path))


def is_session_file(path: Path) -> bool:
    """Tell a session file from other recordings by its lines."""
    return is_readable(path) and format_of(path) is not None


def is_readable(path: Path) -> bool:
    """Tell whether there is a file, or a conversation in a database."""
    return path.is_file() or in_database(path)


def session_lines(path: Path) -> Iterator[bytes | OversizeLine]:
    """Yield the lines of a file, or of a conversation in a database; raises OSError."""
    if not in_database(path):
        return (line for piece in services(path) if not piece.source for line in piece.lines)
    from turnwire.recordings.database import database_lines  # noqa: PLC0415 - most conversations are files of lines

    return database_lines(path)


def notes_beside(path: Path, files: "SessionFiles") -> list[bytes]:
    """Return what files beside say of the conversation, each as a line; those that are links, damaged or too long are left out."""
    found = []
    for beside in files.beside(path):
        file = Path(beside)
        try:
            if _is_plain(file) and file.stat().st_size <= CHUNK:
                found.append(msgspec.json.format(file.read_bytes(), indent=-1))
        except (OSError, msgspec.MsgspecError, RecursionError):
            continue
    return found


def agent_files(path: Path, named: Collection[str] = ()) -> list[AgentFile]:
    """Return the files of subagents: in a folder of the session's name; in older versions beside it, as far as they are
    `named` or name the session.
    """
    folder = path.with_suffix("") / "subagents"
    inside = [] if _leads_away(folder) or not folder.is_dir() else sorted(folder.glob("**/agent-*.jsonl"))
    found = {one.stem.removeprefix("agent-"): one for one in inside if _is_plain(one)}
    if path.name == MAIN.name and path.parent.name == MAIN.parent.name:
        others = sorted(path.parent.parent.glob(f"*/{MAIN.name}"))
        found |= {
            one.parent.name: one for one in others if one != path and _is_plain(one) and not _leads_away(one)
        }
    for agent in {**dict.fromkeys(named), **dict.fromkeys(_agents_beside(path))}:
        beside = path.with_name(f"agent-{agent}.jsonl")
        if agent.isalnum() and agent not in found and _is_plain(beside):
            found[agent] = beside
    return [AgentFile(agent, file) for agent, file in found.items()]


def _agents_beside(path: Path) -> list[str]:
    """Return the subagents whose files beside a session's say that they are of it: nothing else names those that warm up."""
    try:
        changed = path.parent.stat().st_mtime_ns
    except OSError:
        return []
    return _agents_in(path.parent, changed).get(path.stem, [])


@lru_cache(maxsize=16)
def _agents_in(folder: Path, _changed: int) -> dict[str, list[str]]:
    """Return the subagents with files in a folder, by session. `_changed`: when a file was last added to it."""
    found: dict[str, list[str]] = {}
    for file in sorted(folder.glob("agent-*.jsonl")):
        if not _is_plain(file):
            continue
        try:
            with file.open("rb") as opened:
                session = _SESSION.search(opened.read(_PIECE))
        except OSError:
            continue
        if session is not None:
            found.setdefault(session[1].decode(errors="replace"), []).append(file.stem.removeprefix("agent-"))
    return found


def _leads_away(folder: Path) -> bool:
    return folder.is_symlink() or folder.parent.is_symlink()


def _is_plain(file: Path) -> bool:
    """Tell a file from links, which may lead anywhere, and from pipes, which never end."""
    return not file.is_symlink() and file.is_file()


def survey_of(
    path: Path, files: "SessionFiles", tell: "Callable[[Sequence[SearchableText]], None] | None" = None
) -> "Survey":
    """Look over a session file and its subagents'; raises OSError. `tell` gets what can be searched for."""
    from turnwire.tracing.prices import prices  # noqa: PLC0415 - most recordings are no session files

    survey = files.survey(prices().estimate)
    agents = agent_files(path)
    for agent in agents:
        if (call := call_of(agent.path)) is not None:
            survey.calls(agent.agent, call)
    for note in notes_beside(path, files):
        survey.handle(note)
    _look_over(survey, path, None, tell)
    named = survey.agents()
    for agent in agent_files(path, named) if named else agents:
        _look_over(survey, agent.path, agent.agent, tell)
    return survey


def _look_over(
    survey: "Survey", path: Path, agent: str | None, tell: "Callable[[Sequence[SearchableText]], None] | None"
) -> None:
    for piece in _pieces(path):
        kept = [line for line in piece if isinstance(line, bytes)]
        for _ in range(len(piece) - len(kept)):
            survey.skip()
        said = survey.look_over(kept, agent)
        if tell is not None:
            tell(said)


def _pieces(path: Path) -> Iterator[Sequence[bytes | OversizeLine]]:
    """Yield the lines of a conversation, some at a time."""
    if not in_database(path):
        yield from (piece.lines for piece in services(path) if not piece.source)
        return
    found = session_lines(path)
    while piece := list(islice(found, LOOKED_AT)):
        yield piece


def read_session_file(path: Path, files: "SessionFiles", leaf: str | None = None) -> Iterator[Timed]:
    """Read the branch that lives, or the one that ends with a message (KeyError for none), as timed inputs; raises OSError."""
    survey = survey_of(path, files)
    reader = survey.reader(leaf)
    streams = [_timed(path, None, files)]
    streams += [_timed(one.path, one.agent, files) for one in agent_files(path, survey.agents())]
    last: float | None = None
    for note in notes_beside(path, files):
        for at, happened in reader.read(note):
            last = later(last, at)
            yield Timed(last, happened)
    for _, agent, line in heapq.merge(*streams, key=lambda one: one.at):
        for at, happened in reader.read(line, agent):
            last = later(last, at)
            yield Timed(last, happened)
    for at, happened in reader.close():
        last = later(last, at)
        yield Timed(last, happened)
    yield Timed(last, Ended("end_of_input"))


def later(last: float | None, at: float | None) -> float | None:
    """Return the later of two times; a line may tell one of what was before it."""
    if last is None or at is None:
        return at if last is None else last
    return max(last, at)


class _Line(NamedTuple):
    at: float
    agent: str | None
    line: bytes


def _timed(path: Path, agent: str | None, files: "SessionFiles") -> Iterator[_Line]:
    """Give each line a time that is never before the one ahead of it in its file."""
    latest = 0.0
    for line in session_lines(path):
        for raw in records_in(line) if isinstance(line, bytes) else [line.head]:
            latest = max(latest, files.moment(raw) or 0.0)
            yield _Line(latest, agent, raw)


def call_of(path: Path) -> str | None:
    """Return the call that started a subagent, by what the CLI notes beside its file, or the run of a workflow by its folder.

    None where neither tells.
    """
    from turnwire.protocol.claude.session_lines import WORKFLOW  # noqa: PLC0415 - most conversations have no subagent

    try:
        call = _decode_meta(path.with_suffix(".meta.json").read_bytes()).call
    except (OSError, msgspec.MsgspecError, RecursionError):
        call = None
    return call or next((name for name in reversed(path.parts[:-1]) if name.startswith(WORKFLOW)), None)

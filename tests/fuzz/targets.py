"""What is fed with wrong inputs, and what must hold of it: each target reads seeds of its own and runs one input."""

import asyncio
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recordings import FIXTURES
from tests.fuzz import callers, frontends, redis_keys
from tests.fuzz.rows import (
    Features,
    acp_sessions,
    claude_sessions,
    lines_of,
    rows_of,
    small,
    spoken_in,
)
from turnwire.journal.base import Entry, JournalError
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize.core import Core
from turnwire.normalize.events import AgentEvent, MessageChunk, to_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.families import ACP, FAMILIES, recorded_core
from turnwire.normalize.inputs import Ended, Received, Sent
from turnwire.normalize.recordings.lines import LineReader
from turnwire.normalize.recordings.session_files import SessionFiles
from turnwire.protocol.acp.decode import decode as decode_acp
from turnwire.protocol.claude.decode import decode as decode_claude
from turnwire.protocol.dialects import AUTOMATIC, CLAUDE, JSON_RPC, MIRIAD, Dialect
from turnwire.protocol.framing import LineFramer, OversizeLine
from turnwire.recordings.redaction.redaction import Redaction
from turnwire.runner.runner_lines import read_request
from turnwire.testing.events import EVENTS_A_BYTE, balanced, conserved, over, readable, words


@dataclass(frozen=True)
class Target:
    """One thing to be fed."""

    name: str
    seeds: Callable[[], list[bytes]]
    """Right inputs to begin with."""
    run: Callable[[bytes], Features]
    """Feed it with one input; raises AssertionError, or whatever it should not have raised."""
    program: str | None = None
    """What has to be installed for it."""


Decode = Callable[[bytes, bool], Sequence[Received | Sent]]
"""What a line is, and whether it was sent."""


def decoder(family: str) -> Decode:
    """Make the way in of one session of a family."""
    if family == AUTOMATIC.name:
        lines = LineReader()
        return lambda line, sent: lines.sent(line) if sent else lines.received(line)
    spoken: dict[str, Dialect] = {MIRIAD.name: MIRIAD, JSON_RPC.name: JSON_RPC}
    if family in spoken:
        host, agent = spoken[family].host(), spoken[family].agent()
        return lambda line, sent: (
            [Sent(line, message) for message in agent.read(line).messages]
            if sent
            else [Received(line, message) for message in host.read(line).messages]
        )
    decode = decode_acp if family == ACP else decode_claude
    return lambda line, sent: [Sent(line, decode(line)) if sent else Received(line, decode(line))]


def new_core(family: str) -> Core:
    """Make a core of a family."""
    return recorded_core() if family == AUTOMATIC.name else FAMILIES[family].core()


def session(data: bytes, family: str) -> tuple[list[AgentEvent], Features]:
    """Run the lines of one session, see that all holds that must, and return its events."""
    core, decode = new_core(family), decoder(family)
    events: list[AgentEvent] = []
    features: Features = set()
    received, before = 0, ""
    for direction, line in rows_of(data):
        inputs = decode(line, direction == b">")
        for each in inputs:
            given = core.handle(each)
            kinds = ",".join(event.type for event in given[:4])
            features.add((type(each.message).__name__, before, kinds))
            before = kinds or before
            events += given
        received += len(inputs) if direction != b">" else 0
    events += core.handle(Ended("end_of_input"))
    conserved(core, received)
    over(core)
    balanced(events, side_by_side=family in (ACP, AUTOMATIC.name))
    readable(events)
    assert len(events) <= EVENTS_A_BYTE * len(data) + 8, f"{len(events)} events of {len(data)} bytes"
    return events, features


def _core(family: str) -> Callable[[bytes], Features]:
    def run(data: bytes) -> Features:
        return session(data, family)[1]

    return run


def _twice(data: bytes) -> Features:
    """The same lines give the same events, though the core is another."""
    first, features = session(data, AUTOMATIC.name)
    assert session(data, AUTOMATIC.name)[0] == first
    return features


JUNK = (
    b"",
    b"{",
    b"\xff\xfe",
    b'{"type":"of_tomorrow","x":[1]}',
    b"[]",
    b"null",
    b'{"no":"type"}',
    b"Warning: deprecated",
)


def _junk_between(data: bytes) -> Features:
    """Lines that say nothing, put between those of a whole session, change no word and no call of it."""
    order = random.Random(len(data))
    whole = list(rows_of(data))
    mixed = [
        piece
        for row in whole
        for piece in ([(b"<", order.choice(JUNK)), row] if order.random() < 0.3 else [row])
    ]
    plain, _ = session(data, CLAUDE.name)
    events, features = session(b"\n".join(direction + line for direction, line in mixed), CLAUDE.name)
    assert words(events) == words(plain), "junk between the lines changes what was said"
    kinds = {"tool_call", "tool_update", "turn_started", "complete", "user_message"}
    got = [event for event in events if event.type in kinds]
    assert [type(event) for event in got] == [type(event) for event in plain if event.type in kinds]
    return features


# Framing.


def _framing(data: bytes) -> Features:
    cuts = random.Random(len(data) * 31 + sum(data[:64]))
    limit = cuts.choice((8, 64, 4096))
    whole = LineFramer(limit)
    at_once: list[bytes | OversizeLine | None] = [*whole.feed(data), whole.close()]
    pieces = LineFramer(limit)
    one_by_one: list[bytes | OversizeLine | None] = []
    start = 0
    while start < len(data):
        size = cuts.choice((1, 1, 2, 7, 100, 5000))
        one_by_one += pieces.feed(data[start : start + size])
        start += size
    one_by_one.append(pieces.close())
    assert one_by_one == at_once, "the chunks decide about the lines"
    ends = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    assert sum(line is not None for line in at_once) == ends
    expected = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    for line, wanted in zip(at_once, expected, strict=False):
        if isinstance(line, bytes):
            assert line == wanted
        elif line is not None:
            assert line.size >= limit
            assert wanted.startswith(line.head[:8])
    return {(type(line).__name__, limit) for line in at_once}


# The runner.


def _runner(data: bytes) -> Features:
    features: Features = set()
    for line in data.split(b"\n"):
        request = read_request(line)
        features.add((type(request).__name__, getattr(request, "reason", "")[:20]))
    return features


def runner_lines() -> list[bytes]:
    """Lines of the runner protocol, as a client writes them."""
    run = {
        "prompt": "hi",
        "cwd": "/tmp",
        "mcp_servers": {"a": {"command": "x", "args": ["y"]}},
        "max_wait": 5,
    }
    return [
        json.dumps(line).encode()
        for line in (
            {"type": "run", "id": "1", "params": run},
            {
                "type": "run",
                "id": "2",
                "params": {"message": {"type": "user", "message": {"role": "user", "content": "hi"}}},
            },
            {"type": "cancel", "id": "1"},
        )
    ]


# Files on disk.


def _session_file(data: bytes) -> Features:
    (files,) = FAMILIES[CLAUDE.name].files
    return _kept(data, files, CLAUDE.name)


def _kept_file(data: bytes) -> Features:
    features: Features = set()
    for files in FAMILIES[ACP].files:
        features |= {(files.agent, one) for one in _kept(data, files, ACP)}
    return features


def _kept(data: bytes, files: SessionFiles, family: str) -> Features:
    lines = data.split(b"\n")
    survey = files.survey()
    for line in lines:
        survey.handle(line)
        files.recognises(line)
        files.moment(line)
    outline = survey.outline()
    assert outline.unreadable <= outline.lines <= len(data) + 1, "a line may hold several records and damage"
    features: Features = {
        (outline.turns, len(outline.branches), outline.cost_is_whole, outline.unreadable > 0)
    }
    for leaf in (None, *(branch.leaf for branch in outline.branches[:3])):
        reader, core = survey.reader(leaf), new_core(family)
        events: list[AgentEvent] = []
        for line in lines:
            for dated in reader.read(line):
                events += core.handle(dated.input)
        for dated in reader.close():
            events += core.handle(dated.input)
        events += core.handle(Ended("end_of_input"))
        over(core)
        balanced(events)
        readable(events)
        features |= {event.type for event in events}
    return features


def session_files() -> list[bytes]:
    """Files that the CLI has kept."""
    return small(path.read_bytes() for path in sorted((FIXTURES / "sessions").glob("**/*.jsonl")))


def kept_files() -> list[bytes]:
    """Files that other agents have kept."""
    return small(path.read_bytes() for path in sorted((FIXTURES / "kept").glob("**/*.jsonl")))


LOGS = {"one": 40, "two": 7}
"""Events of each session in the journal that is damaged."""


@cache
def _journal() -> bytes:
    async def made(path: Path) -> None:
        journal = await SqliteJournal.open(path)
        for log, count in LOGS.items():
            for number in range(count):
                await journal.append(
                    log, [Entry(to_json(MessageChunk(text=f"{log} {number} " + "x" * (number * 37))))]
                )
        await journal.close()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.sqlite3"
        asyncio.run(made(path))
        return path.read_bytes()


def _damaged_journal(data: bytes) -> Features:
    """The input says where the file is changed: what is read is what was written, or a gap, or an error that says so."""
    whole = bytearray(_journal())
    for start in range(0, len(data) - 4, 5):
        place = int.from_bytes(data[start : start + 4], "big") % len(whole)
        whole[place] ^= data[start + 4] or 1
    features: Features = set()

    async def read(path: Path) -> None:
        journal = await SqliteJournal.open(path)
        try:
            for log, count in LOGS.items():
                cursor, got = Cursor(journal.epoch, 0), list[int]()
                while True:
                    page = await journal.read_after(log, cursor)
                    for envelope in page.envelopes:
                        assert 1 <= envelope.seq <= count, envelope.seq
                        text = json.loads(envelope.event)["text"]
                        features.add(("changed", text.startswith(f"{log} {envelope.seq - 1} ")))
                    got += [envelope.seq for envelope in page.envelopes]
                    if page.cursor == cursor or page.cursor.seq >= page.last:
                        break
                    cursor = page.cursor
                assert got == sorted(set(got)), "numbers come twice or out of order"
                features.add((log, len(got) == count))
        finally:
            await journal.close()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.sqlite3"
        path.write_bytes(whole)
        try:
            asyncio.run(read(path))
        except JournalError as error:
            features.add((type(error).__name__, str(path) in str(error)))
    assert ("JournalUnavailable", False) not in features, "an error that does not say which journal"
    return features


def damages() -> list[bytes]:
    """A few places in the file, and how their bits are changed."""
    order = random.Random(1)
    return [order.randbytes(5 * count) for count in (1, 2, 8, 40, 300)]


# Secrets.

REDACTION = Redaction(b"a key of the tests")


def _redaction(data: bytes) -> Features:
    text = data.decode("utf-8", "replace")
    redacted = REDACTION.apply(text)
    assert len(redacted) == len(text)
    assert redacted.count("\n") == text.count("\n")
    return {redacted == text}


TARGETS = {
    target.name: target
    for target in (
        Target("framing", claude_sessions, _framing),
        Target("claude-line", lines_of(claude_sessions), _core(CLAUDE.name)),
        Target("claude", claude_sessions, _core(CLAUDE.name)),
        Target("claude-junk", claude_sessions, _junk_between),
        Target("acp-line", lines_of(acp_sessions), _core(ACP)),
        Target("acp", acp_sessions, _core(ACP)),
        Target("miriad", spoken_in(MIRIAD), _core(MIRIAD.name)),
        Target("json-rpc", spoken_in(JSON_RPC), _core(JSON_RPC.name)),
        Target("auto", lambda: [*claude_sessions(), *acp_sessions()], _twice),
        Target("frames", frontends.commands, frontends.frame),
        Target("http-head", frontends.heads, frontends.http_head),
        Target("conversation", frontends.talks, frontends.conversation),
        Target("runner", runner_lines, _runner),
        Target("stdio", callers.calls, callers.bridged),
        Target("session-file", session_files, _session_file),
        Target("kept-file", kept_files, _kept_file),
        Target("journal", damages, _damaged_journal),
        Target("journal-redis", redis_keys.dumps, redis_keys.read, redis_keys.PROGRAM),
        Target("redaction", lines_of(claude_sessions), _redaction),
    )
}
"""All of them, by name."""

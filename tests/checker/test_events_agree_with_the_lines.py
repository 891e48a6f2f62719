"""The independent checker over every recording: what is published agrees with what the CLI wrote."""

from msgspec.structs import asdict

from cases import for_each
from recordings import Recording, recordings
from tests.checker.checks import violations
from tests.checker.raw import Facts
from tests.normalize.translating import as_json, of_session, of_stdout


@for_each("recording", recordings(), by=lambda recording: recording.version)
def test_the_events_of_stdout_alone_agree_with_its_lines(recording: Recording) -> None:
    assert violations(Facts(recording.received()), as_json(of_stdout(recording))) == []


@for_each("recording", recordings(), by=lambda recording: recording.version)
def test_the_events_of_a_whole_session_agree_with_its_lines(recording: Recording) -> None:
    events, _ = of_session(recording)
    received = recording.received()
    heard = [received[row.line] for row in recording.timeline() if row.dir == "recv" and row.line is not None]
    assert violations(Facts(heard), as_json(events)) == []


@for_each("recording", recordings(), by=lambda recording: recording.version)
def test_no_line_is_lost(recording: Recording) -> None:
    events, stats = of_session(recording)
    heard = sum(row.dir == "recv" and row.line is not None for row in recording.timeline())
    assert sum(asdict(stats).values()) == heard
    assert stats.malformed == stats.unknown == 0
    assert stats.published <= len(events)

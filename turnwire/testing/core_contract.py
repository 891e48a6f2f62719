"""What the core of every family does, whatever its agents say: subclass `CoreContract` with recordings of yours.

class TestMyCore(CoreContract):
def new_core(self, *, resumed: bool = False, first_turn: int = 1) -> Core:
return MyCore(resumed=resumed, first_turn=first_turn)

def decoder(self) -> Decode:
return lambda line, sent: [Sent(line, decode(line)) if sent else Received(line, decode(line))]

def recordings(self) -> Iterable[Recording]:
yield [(True, b'{"prompt": "hi"}'), (False, b'{"text": "Hello."}')]
"""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from turnwire.normalize import events as ev
from turnwire.normalize.core import Core
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Decision, Ended, Received, Sent
from turnwire.testing.events import balanced, conserved, over, readable

Recording = Sequence[tuple[bool, bytes]]
"""The lines of one session in the order of time: whether turnwire sent it, and the line without its end."""
Decode = Callable[[bytes, bool], Sequence[Received | Sent]]
"""What a line is, and whether it was sent."""

CUTS = 40
"""Places in a recording after which it is made to end, at most."""
SPOILT = 8
"""Variants of a recording that are tried, of each kind."""
END = Ended("end_of_input")


class CoreContract:
    """One state machine a session: the same inputs give the same events, and nothing is left open at an end."""

    side_by_side: ClassVar[bool] = False
    """The agent may have several conversations at once, each with a turn of its own."""

    def new_core(self, *, resumed: bool = False, first_turn: int = 1) -> Core:
        """Make the core of one session."""
        raise NotImplementedError("new_core: return a core of the family")

    def decoder(self) -> Decode:
        """Make the way in of one session: its decoding, with what that must know of earlier lines."""
        raise NotImplementedError("decoder: return what makes a line an input")

    def recordings(self) -> Iterable[Recording]:
        """Give sessions to try; a few that have turns, calls, requests and answers."""
        raise NotImplementedError("recordings: give at least one session")

    def test_the_same_lines_give_the_same_events(self) -> None:
        for lines in self.recordings():
            assert self._run(lines) == self._run(lines)

    def test_a_session_says_something(self) -> None:
        recordings = list(self.recordings())
        assert recordings, "recordings() gives none"
        assert any(self._run(lines) for lines in recordings), "no recording gives any event"

    def test_it_is_busy_and_waits_as_its_events_say(self) -> None:
        for lines in self.recordings():
            core, decode = self.new_core(), self.decoder()
            turns: set[str | None] = set()
            waiting: set[str] = set()
            for item in [each for sent, line in lines for each in decode(line, sent)]:
                for event in core.handle(item):
                    match event:
                        case ev.TurnStarted():
                            turns.add(event.operation_id)
                        case ev.Complete():
                            turns.discard(event.operation_id)
                        case ev.PermissionRequest() | ev.QuestionRequest():
                            waiting.add(event.pending_id)
                        case ev.PermissionResolved() | ev.PermissionCancelled():
                            waiting.discard(event.pending_id)
                        case _:
                            pass
                assert core.busy == bool(turns), f"busy is {core.busy}, open are {turns}, after {item}"
                assert set(core.pending) == waiting, (
                    f"pending is {core.pending}, {waiting} wait, after {item}"
                )

    def test_a_decision_opens_and_ends_no_turn(self) -> None:
        for lines in self.recordings():
            core, decode = self.new_core(), self.decoder()
            for item in [each for sent, line in lines for each in decode(line, sent)]:
                core.handle(item)
                turn = (core.turns, core.busy)
                for name in core.pending:
                    core.handle(Decision(name, "deny" if len(name) % 2 else "allow", "somebody", 0))
                assert (core.turns, core.busy) == turn

    def test_turns_are_counted_on_from_where_an_earlier_process_was(self) -> None:
        for lines in self.recordings():
            first, later = self.new_core(), self.new_core(first_turn=8)
            started = [
                sum(isinstance(event, ev.TurnStarted) for event in self._run(lines, core))
                for core in (first, later)
            ]
            assert (first.turns, later.turns - 7) == (started[0], started[1])

    def test_a_session_may_end_after_any_line(self) -> None:
        for lines in self.recordings():
            for cut in range(0, len(lines), max(1, len(lines) // CUTS)):
                self._run(lines[:cut])

    def test_what_has_ended_ends_nothing_again(self) -> None:
        for lines in self.recordings():
            core = self.new_core()
            self._run(lines, core)
            again = {event.type for event in core.handle(END)}
            assert again <= {"process_status"}, f"a second end publishes {again}"

    def test_lines_may_be_lost_repeated_and_moved(self) -> None:
        for lines in self.recordings():
            for seed in range(SPOILT):
                self._run(_disordered(lines, random.Random(seed)))

    def test_a_spoilt_line_is_a_value_and_no_error(self) -> None:
        for lines in self.recordings():
            for seed in range(SPOILT):
                self._run(_spoilt(lines, random.Random(seed)))

    def _run(self, lines: Recording, core: Core | None = None) -> list[AgentEvent]:
        """Run a session to its end, see that what must hold does, and return its events."""
        core, decode = core or self.new_core(), self.decoder()
        events: list[AgentEvent] = []
        received = 0
        for sent, line in lines:
            inputs = decode(line, sent)
            received += 0 if sent else len(inputs)
            for item in inputs:
                events += core.handle(item)
        events += core.handle(END)
        conserved(core, received)
        over(core)
        balanced(events, side_by_side=self.side_by_side)
        readable(events)
        return events


def _disordered(lines: Recording, by: random.Random) -> Recording:
    """Return them with some lost, repeated or moved."""
    changed = list(lines)
    for _ in range(min(6, len(changed) - 1)):
        at, to = by.randrange(len(changed)), by.randrange(len(changed))
        match by.choice(("lose", "repeat", "swap")):
            case "lose" if len(changed) > 1:
                del changed[at]
            case "repeat":
                changed.insert(to, changed[at])
            case _:
                changed[at], changed[to] = changed[to], changed[at]
    return changed


def _spoilt(lines: Recording, by: random.Random) -> Recording:
    """Return them with a few bytes of some lines gone or another, and junk between."""
    changed: list[tuple[bool, bytes]] = []
    for sent, line in lines:
        chance = by.random()
        if chance < 0.1 and line:
            at = by.randrange(len(line))
            line = line[:at] + by.randbytes(by.randrange(3)) + line[at + by.randrange(4) :]  # noqa: PLW2901
        elif chance < 0.2:
            changed.append(
                (False, by.choice((b"", b"{", b"\xff", b"[]", b"null", b'{"type":"of_tomorrow"}')))
            )
        changed.append((sent, line))
    return changed

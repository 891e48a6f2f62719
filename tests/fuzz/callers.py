"""What `turnwire stdio` hears from both sides: `>` before a line of its caller, `<` before one of the CLI underneath."""

import json
from collections import Counter

from tests.fuzz.rows import Features, claude_sessions, rows_of, small
from turnwire.normalize.families import FAMILIES
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.protocol.claude.control import ControlRequest, success
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import User, UserBody
from turnwire.protocol.claude.requests import GetStatus, Initialize, Interrupt
from turnwire.protocol.dialects import CLAUDE, JSON_RPC, MIRIAD, Dialect
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing.depth import TOO_DEEP
from turnwire.sidecar.streams.stdio.bridge import BridgeOutput, StdioBridge
from turnwire.testing.events import balanced, over, readable

CALLERS = (CLAUDE, MIRIAD, JSON_RPC)


def bridged(data: bytes) -> Features:
    """Run one call; the length of the input says what the caller speaks."""
    caller = CALLERS[len(data) % len(CALLERS)]
    bridge = StdioBridge(caller, CLAUDE)
    rows = list(rows_of(data))
    done = [
        (direction, (bridge.on_caller_line if direction == b">" else bridge.on_cli_line)(line))
        for direction, line in rows
    ]
    done += [(b"", bridge.on_close()), (b"", bridge.on_exit(Ended("exited", 0)))]
    for _, output in done:
        for line in (*output.to_caller, *output.to_cli):
            assert line.endswith(b"\n"), line[-80:]
            assert line.count(b"\n") == 1, "two lines in one"
    sizes = sum(len(line) for _, output in done for line in (*output.to_caller, *output.to_cli))
    assert sizes <= 40 * len(data) + 20_000, f"{sizes} bytes of {len(data)}"
    if caller is CLAUDE:
        _passed_on(rows, done[:-2])
    else:
        _each_prompt_once(caller, rows, [output for _, output in done])
    return {(caller.name, *_published([each for _, output in done for each in output.seen]))}


def _passed_on(rows: list[tuple[bytes, bytes]], done: list[tuple[bytes, BridgeOutput]]) -> None:
    """A caller of the CLI's own words: every line goes on byte for byte, in its order, but for what the CLI would die of."""
    for (direction, line), (_, output) in zip(rows, done, strict=True):
        message = decode(line)
        if direction != b">":
            if not isinstance(message, Malformed) or message.reason != TOO_DEEP:
                assert output.to_caller == [line + b"\n"], (
                    "the caller hears something else than the CLI has said"
                )
        elif not isinstance(message, Malformed) and getattr(message, "raw", {}).get("type") != "control":
            assert output.to_cli == [line + b"\n"], "the CLI hears something else than its caller has said"
        elif isinstance(message, Malformed):
            assert output.to_cli == [], "what is no message kills a CLI"


def _each_prompt_once(caller: Dialect, rows: list[tuple[bytes, bytes]], done: list[BridgeOutput]) -> None:
    """Of a caller that has a queue here: each prompt is said to the CLI at most once, whole, and in the order it came."""
    given: Counter[str] = Counter()
    for direction, line in rows:
        if direction == b">":
            for message in caller.agent().read(line).messages:
                if isinstance(message, User):
                    given.update(_texts(message))
    said: Counter[str] = Counter()
    for output in done:
        for line in output.to_cli:
            message = decode(line.rstrip(b"\n"))
            assert not isinstance(message, Malformed), "the CLI is told what it cannot read"
            json.loads(line)
            if isinstance(message, User):
                said.update(_texts(message))
    assert said <= given, said - given


def _texts(message: User) -> list[str]:
    """The lines of a prompt: prompts that waited are joined by a blank one."""
    return [line for block in message.blocks for line in getattr(block, "text", "").split("\n") if line]


def _published(seen: list[SessionInput]) -> list[str]:
    """See that what went on makes a session that balances, and return of what."""
    core = FAMILIES[CLAUDE.name].core()
    events = [event for each in seen for event in core.handle(each)]
    over(core)
    balanced(events)
    readable(events)
    return sorted({event.type for event in events})


def calls() -> list[bytes]:
    """Recorded sessions, with prompts and requests of each caller between, some in another's words."""
    found = []
    for caller in CALLERS:
        host = caller.host()
        asked = [
            b">" + line.rstrip(b"\n")
            for message in (
                _prompt("one"),
                _prompt("two\n\nthree"),
                ControlRequest("c1", GetStatus()),
                ControlRequest("c2", Initialize()),
                _prompt("four"),
                ControlRequest("c3", Interrupt()),
                success("asked by nobody", {}),
            )
            for line in host.write(message).lines
        ]
        asked.append(b'>{"type":"control","action":"status","request_id":"c4"}')
        for session in claude_sessions():
            rows = [b"".join(row) for row in rows_of(session)]
            middle = len(rows) // 2
            found.append(b"\n".join([asked[0], *rows[:middle], *asked, *rows[middle:]]))
    return small(found)


def _prompt(text: str) -> User:
    return User(message=UserBody(content=text))

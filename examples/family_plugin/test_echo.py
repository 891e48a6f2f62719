"""The family keeps the contract of every core."""

from collections.abc import Iterable

from turnwire.normalize.core import Core
from turnwire.normalize.families import named
from turnwire.normalize.recordings.lines import LineReader
from turnwire.testing.core_contract import CoreContract, Decode, Recording

TURN = (
    (False, b'{"echo": "hello", "session": "echo-1", "version": "1.0"}'),
    (True, b'{"prompt": "run ls", "id": "p"}'),
    (False, b'{"echo": "ask", "session": "echo-1", "number": 1, "command": "ls"}'),
    (True, b'{"answer": "call-1", "allow": true}'),
    (False, b'{"echo": "ran", "session": "echo-1", "number": 1, "output": "a\\n", "code": 0}'),
    (False, b'{"echo": "say", "session": "echo-1", "text": "run ls"}'),
    (False, b'{"echo": "done", "session": "echo-1"}'),
)


class TestEcho(CoreContract):
    """The suite, over these lines."""

    def new_core(self, *, resumed: bool = False, first_turn: int = 1) -> Core:
        return named("echo").core(resumed=resumed, first_turn=first_turn)

    def decoder(self) -> Decode:
        reader = LineReader("echo")
        return lambda line, sent: reader.sent(line) if sent else reader.received(line)

    def recordings(self) -> Iterable[Recording]:
        yield TURN
        yield [*TURN, (False, b'{"echo": "sing", "session": "echo-1"}'), (False, b"oops")]

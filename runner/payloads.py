"""What the `event` of an event line is: the CLI's own line, or our AgentEvents."""

from typing import Protocol

from normalize.events import to_json
from normalize.families import new_core
from normalize.inputs import Ended, Received, Sent
from protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from protocol.claude.messages import Message
from protocol.claude.system import Init
from protocol.malformed import Malformed


class Payloads(Protocol):
    """Makes the payloads of one run."""

    def sent(self, message: Message) -> list[bytes]:
        """Return the payloads that a message of ours makes."""
        ...

    def received(self, received: Received) -> list[bytes]:
        """Return the payloads that a line of the CLI makes."""
        ...

    def waits(self) -> None:
        """The turn stops here, and another CLI goes on with it."""
        ...

    def ended(self, ended: Ended) -> list[bytes]:
        """Return the payloads that the end of the CLI makes."""
        ...


class Verbatim:
    """Lines as they come, byte for byte. The control protocol is between the runner and the CLI, as in the SDK."""

    def sent(self, message: Message) -> list[bytes]:  # noqa: ARG002 - the caller knows what it said
        """Return nothing."""
        return []

    def received(self, received: Received) -> list[bytes]:
        """Return the line, unless it belongs to the control protocol or is no JSON that could be embedded."""
        match received.message:
            case ControlRequest() | ControlResponse() | ControlCancelRequest() | Malformed():
                return []
            case _:
                return [received.line]

    def waits(self) -> None:
        """Nothing changes."""

    def ended(self, ended: Ended) -> list[bytes]:  # noqa: ARG002 - the end line tells it
        """Return nothing."""
        return []


class Normalized:
    """AgentEvents, from one core for the whole run, so that a wait for a limit does not end the turn."""

    def __init__(self) -> None:
        self._core = new_core()
        self._goes_on = False

    def sent(self, message: Message) -> list[bytes]:
        """Return the events of the prompt."""
        return [to_json(event) for event in self._core.handle(Sent(b"", message))]

    def received(self, received: Received) -> list[bytes]:
        """Return the events of a line."""
        if self._goes_on and isinstance(received.message, Init):
            self._goes_on = False  # an init would begin a turn; this one only introduces the next CLI
            return []
        return [to_json(event) for event in self._core.handle(received)]

    def waits(self) -> None:
        """Keep the turn open."""
        self._goes_on = True

    def ended(self, ended: Ended) -> list[bytes]:
        """Return the events of the end: an open turn is completed."""
        return [to_json(event) for event in self._core.handle(ended)]

"""What the lines of an echo agent tell, and those that it is told."""

from collections.abc import Sequence

from turnwire.normalize.events.control_events import PermissionOption
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads.fields import text, whole
from turnwire.normalize.streams.observations import (
    Answered,
    Observation,
    PermissionAsked,
    Prompt,
    SessionStarted,
    TextPiece,
    ToolCalled,
    ToolEnded,
    TurnEnded,
)
from turnwire.protocol.json_values import JsonObject

OPTIONS = (
    PermissionOption(option_id="yes", name="Run it", kind="allow_once"),
    PermissionOption(option_id="no", name="Do not run it", kind="reject_once"),
)


class EchoReader:
    """Reads one process."""

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return what a line of the agent tells."""
        call_id = f"call-{whole(value, 'number') or 0}"
        match value.get("echo"):
            case "hello":
                return [SessionStarted(id=text(value, "session"), version=text(value, "version"))]
            case "say":
                return [TextPiece(text(value, "text") or "")]
            case "ask":
                arguments = {"command": text(value, "command") or ""}
                call = ToolCalled(id=call_id, name="shell", kind="execute", arguments=arguments)
                return [PermissionAsked(id=call_id, call=call, options=OPTIONS)]
            case "ran":
                return [ToolEnded(id=call_id, output=text(value, "output"), exit_code=whole(value, "code"))]
            case "refused":
                return [ToolEnded(id=call_id, status="denied")]
            case "done":
                return [TurnEnded(outcome="interrupted" if value.get("stopped") is True else "completed")]
            case _:
                return None

    def sent(self, value: JsonObject) -> Sequence[Observation]:
        """Return what a line tells that the agent was told."""
        match value:
            case {"prompt": str(words), "id": str(prompt_id)}:
                return [Prompt(words, prompt_id)]
            case {"answer": str(request), "allow": bool(allow)}:
                return [Answered(id=request, behavior="allow" if allow else "deny")]
            case _:
                return []

    def ended(self, end: Ended) -> Sequence[Observation]:  # noqa: ARG002 - a turn without `done` was broken off
        """Return nothing."""
        return []

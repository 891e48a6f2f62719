"""How turns, calls and processes end, in words that all families share."""

from typing import Literal

from turnwire.normalize.events import (
    AgentEvent,
    CompleteData,
    MessageChunk,
    Outcome,
    ProcessStatus,
    Reasoning,
    ToolCall,
)
from turnwire.normalize.inputs import Ended

Origin = Literal["user", "queued", "background", "autonomous"]
"""What started a turn."""

LostReason = Literal["interrupted", "process_exited", "no_result"]
"""Why a call never had a result."""

LOST_CALLS = {
    "interrupted": "The turn was interrupted before the tool answered.",
    "process_exited": "The agent's process ended before the tool answered.",
    "no_result": "The turn ended without a result for this call.",
}

NO_REASON = "The turn failed without a reason given by the agent."

FAILED_TURNS: dict[Outcome, str] = {
    "error": NO_REASON,
    "max_turns": "The turn reached its maximum number of rounds.",
    "max_tokens": "The answer was cut off: it reached the maximum number of tokens.",
    "refusal": "The agent refused to go on.",
    "budget": "The turn reached its budget.",
}
"""Outcomes that are errors by themselves, in a sentence each."""

EXIT_REASONS = {
    "exited": "the process ended by itself",
    "stopped": "stop requested",
    "end_of_input": "end of the recording",
    "hung": "given up: it did not react",
}


def is_output(event: AgentEvent) -> bool:
    """Tell whether the model wrote this, and not the CLI in its name."""
    if isinstance(event, MessageChunk):
        return event.source not in ("synthetic", "local_command")
    return isinstance(event, Reasoning | ToolCall)


def asked_model(data: CompleteData, *, has_output: bool) -> bool:
    """Tell whether a turn asked a model, by its figures and its output. A start that fails, and many a command, asks none."""
    took = data.all_tokens or data
    return has_output or bool(took.input_tokens or took.output_tokens or data.cost_usd)


def lost_reason(outcome: Outcome) -> LostReason:
    """Return why a call that was open at the end of a turn has no result."""
    match outcome:
        case "interrupted":
            return "interrupted"
        case "process_exited" | "hung":
            return "process_exited"
        case _:
            return "no_result"


def exit_sentence(end: Ended) -> str:
    """Return why a turn that was open ended with its process."""
    match end.reason:
        case "end_of_input":
            return "The stream ended before the turn did."
        case "hung":
            return "The agent did not react and was given up."
        case _:
            how = f" by {end.signal}" if end.signal else ""
            how = how or (f" with code {end.exit_code}" if end.exit_code is not None else "")
            return f"The agent's process ended{how} before the turn did."


def exited(session_id: str | None, end: Ended) -> ProcessStatus:
    """Return the event of the end of a process."""
    return ProcessStatus(
        session_id=session_id,
        state="exited",
        exit_code=end.exit_code,
        signal=end.signal,
        stderr_tail=end.stderr_tail or None,
        reason=EXIT_REASONS[end.reason],
    )

"""Read a result: how the turn ended, whether it failed, and the best text for it."""

from turnwire.normalize.claude.turns import Failure
from turnwire.normalize.common.endings import FAILED_TURNS, NO_REASON
from turnwire.normalize.events import Outcome
from turnwire.normalize.payloads.fields import fields, text
from turnwire.protocol.claude.results import Result

_BY_SUBTYPE: dict[str, Outcome] = {
    "error_max_turns": "max_turns",
    "error_max_budget_usd": "budget",
    "cancelled": "interrupted",
}


def outcome_of(message: Result, *, interrupted: bool) -> Outcome:
    """Return how the turn ended; 1.0 and 2.0 tell an interruption only by a user line before the result."""
    if message.subtype in _BY_SUBTYPE:
        return _BY_SUBTYPE[message.subtype]
    if (message.terminal_reason or "").startswith("aborted"):
        return "interrupted"
    if message.subtype.startswith("error"):
        return "interrupted" if interrupted else "error"
    return "error" if message.is_error else "completed"


def is_error(message: Result, outcome: Outcome) -> bool:
    """Tell whether the turn failed; 1.0 and 2.0.14 say false on error_*, and 2.1 says true of an interrupted turn."""
    return outcome != "interrupted" and (
        bool(message.is_error) or outcome in ("error", "max_turns", "budget")
    )


def errors(message: Result, outcome: Outcome, failure: Failure | None) -> list[str]:
    """Return the errors, without repetition: the CLI's list, else the result's text, else the text of the model's line."""
    if human := message.human_errors:
        return human
    if message.text:
        return [message.text]
    if failure is not None:
        return [failure.message]
    words = text({"error": message.error, **fields(message.error)}, "error", "message")
    if words:
        return [words]
    told = list(dict.fromkeys(error for error in message.errors if error))
    return told or [FAILED_TURNS.get(outcome, NO_REASON)]


def code(message: Result, failure: Failure | None) -> str | None:
    """Return the kind of error, for programs."""
    if failure is not None and failure.code is not None:
        return failure.code
    return message.subtype if message.subtype.startswith("error_") else message.api_error_type

"""Turn observations of JSON wires (normalize/streams/observations.py) into steps of a conversation.

Some agents store their conversations in the format of their JSON output, so one reader serves both.
"""

from collections.abc import Iterable, Sequence

from turnwire.normalize.acp.session_files.steps import (
    Answered,
    ConversationNamed,
    Prompted,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnFailed,
)
from turnwire.normalize.payloads.fields import fields, text
from turnwire.normalize.streams import observations as seen


def steps(observations: Iterable[seen.Observation]) -> Sequence[Step]:
    """Return the steps of the main conversation. Subagent output inside a call is left out."""
    return [step for one in observations if (step := _step(one)) is not None]


def _step(one: seen.Observation) -> Step | None:
    match one:
        case seen.SessionStarted():
            return ConversationNamed(one.id, one.cwd, one.version, one.model)
        case seen.Prompt(text=words, synthetic=False) if words.strip():
            return Prompted(words)
        case seen.TextWhole(text=words, parent=None) if words:
            return Thought(words) if one.is_thought else Answered(words)
        case seen.ToolCalled(parent=None):
            return called(one)
        case seen.ToolEnded():
            return _returned(one)
        case seen.Failure():
            return TurnFailed(one.message, one.status)
        case seen.TurnEnded(outcome="interrupted"):
            return TurnEnded("cancelled")
        case seen.TurnEnded():
            return TurnEnded()
        case _:
            return None


def called(one: seen.ToolCalled) -> ToolCalled:
    """Return a tool call as a step."""
    arguments = fields(one.arguments)
    about = text(arguments, "command", "file_path", "filePath", "path", "pattern", "query", "url")
    return ToolCalled(one.id, one.name, one.kind or "other", about or one.name, arguments)


def _returned(one: seen.ToolEnded) -> ToolReturned:
    raw = {**fields(one.output)}
    words = one.output if isinstance(one.output, str) else text(raw, "output") or ""
    # the arguments contain the whole text of a new file
    diffs = [change.diff for change in one.changes if change.diff is not None and change.kind != "create"]
    if len(diffs) == 1:
        raw["diff"] = diffs[0]
    failed = one.status != "complete"
    return ToolReturned(one.id, (one.error or words) if failed else words, failed, one.exit_code, raw=raw)

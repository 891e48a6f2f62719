"""Why a turn starts, as far as that is known before its end."""

from turnwire.normalize.claude.state import ClaudeState
from turnwire.normalize.claude.turns import Turn
from turnwire.normalize.common.endings import Origin
from turnwire.normalize.events import TurnStarted


def start(state: ClaudeState) -> tuple[Turn, TurnStarted]:
    """Open a turn for the waiting prompts, or for the CLI's own reason."""
    uuids, waited = state.prompts.serve()
    origin: Origin = "user"
    if waited:
        origin = "queued"
    elif uuids:
        origin = "user"
    elif state.task_woke:
        origin = "background"
    elif state.prompts.sees_input:
        origin = "autonomous"
    state.task_woke = False
    return state.turns.start(origin, uuids)

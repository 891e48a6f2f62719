"""Why a turn begins, as far as one can know before its end."""

from turnwire.normalize.claude.state import State
from turnwire.normalize.claude.turns import Turn
from turnwire.normalize.common.endings import Origin
from turnwire.normalize.events import TurnStarted


def start(state: State) -> tuple[Turn, TurnStarted]:
    """Open a turn for the prompts that wait, or for whatever made the CLI begin."""
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

"""Grok Build: it gives no name, counts in `_meta`, and uses many methods of its own, which begin with `_x.ai/`."""

from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.normalize.acp.own_requests import Form, OwnRequest, Plan
from turnwire.normalize.acp.subagents import Subagent
from turnwire.normalize.events import AgentEvent, ApiRetry
from turnwire.normalize.payloads.fields import fields, text, whole
from turnwire.protocol.acp.messages import Notification
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.state import State

OWN = "_x.ai/"
"""Prefix of its own methods."""


class Grok(Quirks, frozen=True, kw_only=True):
    """Its one difference in turns."""

    def was_refused(self, result: JsonObject) -> bool:
        """Tell whether a refusal has ended the turn."""
        return fields(result.get("_meta")).get("cancellationCategory") == "PermissionRejected"


def info(initialized: JsonObject) -> JsonObject:
    """Return its name and version, from an answer to `initialize` without `agentInfo`. Empty for another agent."""
    told = fields(initialized.get("_meta"))
    if told.get("grokShell") is not True:
        return {}
    return {"name": "grok", "title": "Grok", "version": text(told, "agentVersion")}


def heard(state: "State", message: Notification) -> list[AgentEvent]:
    """Handle its own notifications: retries, the model, a subagent's session. Others are only counted."""
    params = fields(message.params)
    update = fields(params.get("update"))
    session = state.sessions.get(text(params, "sessionId") or "")
    if session is None:
        return []
    match text(update, "sessionUpdate"):
        case "retry_state" if (attempt := whole(update, "attempt")) is not None:
            return [
                ApiRetry(
                    **session.place.here,
                    attempt=attempt,
                    max_retries=whole(update, "max_retries"),
                    status=None,
                    error=text(update, "reason", "message"),
                )
            ]
        case "model_changed":
            return session.info(model=text(update, "model_id"), agent=state.agent)
        case "subagent_spawned":
            words = text(update, "description")
            call = session.calls.newest("spawn_subagent", words)
            state.subagents.put(
                text(update, "child_session_id") or "",
                Subagent(session.id, None if call is None else call.id),
            )
            return []
        case _:
            return []


def _answers(content: JsonObject) -> JsonObject:
    said: JsonObject = {
        question: ", ".join(map(str, answer)) if isinstance(answer, list) else answer
        for question, answer in content.items()
    }
    return {"outcome": "accepted", "answers": said, "annotations": {}}


REQUESTS: dict[str, OwnRequest] = {
    "_x.ai/ask_user_question": Form(
        answers=_answers, declined={"outcome": "skip_interview"}, cancelled={"outcome": "cancelled"}
    ),
    "_x.ai/exit_plan_mode": Plan(
        name="exit_plan_mode", plan="planContent", yes={"outcome": "approved"}, no={"outcome": "abandoned"}
    ),
}
"""Method -> how it asks a human."""

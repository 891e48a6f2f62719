"""Codex's hooks and the account's limits, as `codex app-server` reports them."""

from typing import Literal

from turnwire.normalize.common.event_context import EventFields
from turnwire.normalize.events import AgentEvent, HookActivity, RateLimit
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.normalize.streams.observations import Event
from turnwire.protocol.json_values import JsonObject

_OUTCOMES = {"completed": "success", "failed": "error", "blocked": "block", "stopped": "cancelled"}
_NEAR = 90
"""Per cent of a window from which its limit counts as near."""
_WINDOWS = {300: "five_hour", 10080: "seven_day"}
"""Minutes of a window -> its name."""


def hook(told: JsonObject, phase: Literal["started", "finished"], *, parent: str | None) -> Event:
    """Return the run of a hook that the user has configured.

    Its id ends in the call's id where it concerns a call: `pre-tool-use:0:/home/me/.codex/hooks.json:call_1`.
    """
    run = fields(told.get("run"))
    name, kind = text(run, "id"), text(run, "eventName") or ""
    _, _, call = (name or "").partition(f":{text(run, 'sourcePath')}:")
    said = "\n".join(filter(None, (text(entry, "text") for entry in objects(run, "entries"))))

    def activity(here: EventFields) -> AgentEvent:
        return HookActivity(
            **here,
            parent_tool_call_id=parent,
            phase=phase,
            hook_event=kind[:1].upper() + kind[1:] or None,
            hook_id=name,
            hook_name=text(run, "statusMessage"),
            tool_call_id=call or None,
            outcome=_OUTCOMES.get(text(run, "status") or "") if phase == "finished" else None,
            output=said or None,
        )

    return Event(activity)


class Limits:
    """The account's limits. Each one that is near or reached is reported once, until it has reset."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, int | None]] = {}

    def updated(self, told: JsonObject) -> list[Event]:
        """Return what is new in a report, which comes after each call of the model."""
        limits = fields(told.get("rateLimits"))
        reached = text(limits, "rateLimitReachedType")
        windows = {place: fields(limits.get(place)) for place in ("primary", "secondary")}
        used = {place: whole(window, "usedPercent") or 0 for place, window in windows.items()}
        full = max(used, key=lambda place: used[place])
        found: list[Event] = []
        for place, window in windows.items():
            status = "rejected" if reached and place == full else "allowed_warning"
            news = status, whole(window, "resetsAt")
            if (used[place] < _NEAR and status != "rejected") or self._told.get(place) == news:
                continue
            self._told[place] = news
            minutes = whole(window, "windowDurationMins")
            name = _WINDOWS.get(minutes or 0) or (f"{minutes} minutes" if minutes else reached or "limit")
            found.append(_limit(name, *news, used[place] if window else None))
        return found


def _limit(name: str, status: str, resets: int | None, used: int | None) -> Event:
    words = (
        f"Rate limited by API ({name})"
        if status == "rejected"
        else f"Close to the rate limit ({name}): {used}% used"
    )
    return Event(
        lambda here: RateLimit(
            **here,
            rate_limit_message=words,
            status=status,
            resets_at=resets,
            rate_limit_type=name,
            utilization=None if used is None else used / 100,
        )
    )

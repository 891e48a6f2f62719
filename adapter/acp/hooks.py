"""Hooks of the configuration about leave: PreToolUse, before anybody is asked; turn_hooks.py has those about turns.

An agent of this family runs no hooks itself, so only calls that it asks about are seen. All hooks whose matcher fits run; the
strictest answer counts: one that denies, then one that asks, then one that allows. A rule that denies counts before any hook.
"""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from adapter.hooks.settings import HookSetting, callback_id
from adapter.permissions.requests import HookOutput, HookRequest, ToolRequest
from protocol.json_values import JsonObject, text_at

EVENT = "PreToolUse"

_STRICTEST: tuple[Literal["deny", "ask", "allow"], ...] = ("deny", "ask", "allow")


class _Judging(Struct):
    waiting: set[str]
    """The hooks that have not answered, by their requests' ids."""
    verdicts: dict[str, str] = field(default_factory=dict)
    """What each hook has decided, by its name."""


class HookVerdict(Struct, frozen=True):
    """What the hooks make of a request; it is asked now, and answered by a hook where one has decided."""

    request: ToolRequest
    verdict: Literal["allow", "deny", "ask"] = "ask"
    """What the hooks decide; `ask` leaves it to policies and humans."""
    by: str = ""
    """Which hook."""


class PermissionHooks:
    """The hooks of one session, and the requests that wait for them."""

    def __init__(self, hooks: Sequence[HookSetting], workspace: str) -> None:
        self._hooks = [
            (callback_id(number), hook) for number, hook in enumerate(hooks) if hook.event == EVENT
        ]
        self._workspace = workspace
        self._judging: dict[str, _Judging] = {}
        """By the id of the request that they look at."""

    def before(self, request: ToolRequest) -> Sequence[HookRequest]:
        """Return the hooks to run before a request is asked; none when it can be asked at once."""
        return [
            HookRequest(
                request_id=f"{request.request_id}/hook-{number}",
                callback=callback,
                event=EVENT,
                call=request.call,
                payload=self._payload(request),
                about=request,
                message=request.message,
            )
            for number, (callback, hook) in enumerate(self._hooks, 1)
            if fits(hook.matcher, request.call.tool)
        ]

    def expect(self, request: ToolRequest) -> None:
        """Have the answers of a request's hooks come."""
        if request.request_id not in self._judging:
            waiting = {hook.request_id for hook in self.before(request)}
            self._judging[request.request_id] = _Judging(waiting)

    def on_answer(self, hook: HookRequest, output: HookOutput) -> HookVerdict | None:
        """Take a hook's answer; return what all of them come to, once the last one has answered."""
        request = hook.about
        judging = None if request is None else self._judging.get(request.request_id)
        if request is None or judging is None or hook.request_id not in judging.waiting:
            return None
        judging.waiting.remove(hook.request_id)
        name = next(
            (f"hook:{one.name}" for callback, one in self._hooks if callback == hook.callback), "hook"
        )
        judging.verdicts.setdefault(_decision(output.output), name)
        if judging.waiting:
            return None
        del self._judging[request.request_id]
        for verdict in _STRICTEST:
            if verdict in judging.verdicts:
                return HookVerdict(request, verdict, judging.verdicts[verdict])
        return HookVerdict(request)

    def _payload(self, request: ToolRequest) -> JsonObject:
        return {
            "hook_event_name": EVENT,
            "cwd": self._workspace,
            "tool_name": request.call.tool,
            "tool_input": request.call.arguments,
        }


def _decision(output: JsonObject) -> str:
    if output.get("decision") == "block" or output.get("continue") is False:
        return "deny"
    return text_at(output.get("hookSpecificOutput"), "permissionDecision")


def fits(matcher: str | None, tool: str) -> bool:
    """Tell whether a hook's matcher is about a tool, or whatever else its event is about."""
    if matcher in (None, "", "*"):
        return True
    try:
        return re.fullmatch(matcher or "", tool) is not None
    except re.error:
        return matcher == tool

"""Hooks of the configuration about leave: PreToolUse, before anybody is asked; turn_hooks.py has those about turns.

An agent of this family runs no hooks itself, so only calls that it asks about are seen. All hooks whose matcher fits run; the
strictest answer counts: one that denies, then one that asks, then one that allows. Of several calls that are asked about at once, each
must be allowed. A rule that denies counts before any hook.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from turnwire.adapter.hooks.settings import HookSetting, callback_id
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.requests import HookOutput, HookRequest, ToolRequest
from turnwire.protocol.json_values import JsonObject, text_at

EVENT = "PreToolUse"


class _Judging(Struct):
    calls: dict[str, int]
    """Which call each hook looks at that has not answered, by its request's id."""
    verdicts: list[dict[str, str]]
    """Of each call, which hook has decided what first, by what it decided."""


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
        return [hook for _, hook in self._before(request)]

    def _before(self, request: ToolRequest) -> Iterator[tuple[int, HookRequest]]:
        """Return the hooks to run, each with the number of the call that it looks at."""
        for index, call in enumerate(request.calls):
            for number, (callback, hook) in enumerate(self._hooks, 1 + index * len(self._hooks)):
                if fits(hook.matcher, call.tool):
                    yield (
                        index,
                        HookRequest(
                            request_id=f"{request.request_id}/hook-{number}",
                            callback=callback,
                            event=EVENT,
                            call=call,
                            payload=self._payload(call),
                            about=request,
                            message=request.message,
                        ),
                    )

    def expect(self, request: ToolRequest) -> None:
        """Have the answers of a request's hooks come."""
        if request.request_id not in self._judging:
            calls = {hook.request_id: index for index, hook in self._before(request)}
            self._judging[request.request_id] = _Judging(calls, [{} for _ in request.calls])

    def on_answer(self, hook: HookRequest, output: HookOutput) -> HookVerdict | None:
        """Take a hook's answer; return what all of them come to, once the last one has answered."""
        request = hook.about
        judging = None if request is None else self._judging.get(request.request_id)
        if request is None or judging is None or hook.request_id not in judging.calls:
            return None
        call = judging.calls.pop(hook.request_id)
        name = next(
            (f"hook:{one.name}" for callback, one in self._hooks if callback == hook.callback), "hook"
        )
        judging.verdicts[call].setdefault(_decision(output.output), name)
        if judging.calls:
            return None
        del self._judging[request.request_id]
        for verdict in ("deny", "ask"):
            for said in judging.verdicts:
                if verdict in said:
                    return HookVerdict(request, verdict, said[verdict])
        if all("allow" in said for said in judging.verdicts):
            return HookVerdict(request, "allow", judging.verdicts[0]["allow"])
        return HookVerdict(request)

    def _payload(self, call: ToolCall) -> JsonObject:
        return {
            "hook_event_name": EVENT,
            "cwd": self._workspace,
            "tool_name": call.tool,
            "tool_input": call.arguments,
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

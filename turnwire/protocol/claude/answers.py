"""The contents of answers to permission requests and hook callbacks.

An allow must have `updatedInput`: 1.0.120 to 2.1.101 take an allow without it for a denial. A deny must have `message`:
without it every version reports an error. So answers without them are refused here. "Always" is an allow with
`updatedPermissions`, made from the request's `permission_suggestions`.
"""

from typing import TypeAlias

from msgspec import Struct, field

from turnwire.protocol.claude.control import ControlResponse, success
from turnwire.protocol.claude.encode import EncodeError, to_json
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.parsing import lenient


class Allow(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="behavior", tag="allow"):
    """The tool may run."""

    updated_input: JsonObject | None = field(name="updatedInput", default=None)
    """The arguments to run it with; never None in our answers."""
    updated_permissions: list[JsonObject] | None = field(name="updatedPermissions", default=None)
    """Rules to add, each with a destination: session, localSettings, projectSettings or userSettings."""


class Deny(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="behavior", tag="deny"):
    """The tool must not run."""

    message: str = ""
    """The message to the model."""
    interrupt: bool | None = None
    """True to stop the turn as well."""


Answer: TypeAlias = Allow | Deny


class HookOutput(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="camel"):
    """A hook's answer. The event decides which fields count."""

    go_on: bool | None = field(name="continue", default=None)
    """False to end the turn."""
    stop_reason: str | None = None
    """Why it ends, for people."""
    decision: str | None = None
    """block, or approve; of Stop, PostToolUse and UserPromptSubmit."""
    reason: str | None = None
    """Why."""
    system_message: str | None = None
    """A note for the user."""
    suppress_output: bool | None = None
    """True to keep the hook out of the transcript."""
    hook_specific_output: JsonObject | None = None
    """Of PreToolUse: {hookEventName, permissionDecision: allow|deny|ask, permissionDecisionReason, updatedInput}."""


def answer_permission(request_id: Json, answer: Answer) -> ControlResponse:
    """Return the control response for a permission request; EncodeError for an allow without `updated_input`."""
    if isinstance(answer, Allow) and answer.updated_input is None:
        raise EncodeError("an allow needs updatedInput, because older CLIs treat one without it as a denial")
    return success(request_id, to_json(answer))


def answer_hook(request_id: Json, output: HookOutput) -> ControlResponse:
    """Return the control response for a hook callback."""
    return success(request_id, to_json(output))


def read_permission(response: ControlResponse) -> Answer | None:
    """Return the answer to a permission request in a control response; None if it neither allows nor denies."""
    payload = response.payload
    if not isinstance(payload, dict):
        return None
    match payload.get("behavior"):
        case "allow":
            return lenient.build(Allow, payload)
        case "deny":
            return lenient.build(Deny, payload)
        case _:
            return None


def read_hook(response: ControlResponse) -> HookOutput:
    """Return the answer to a hook callback in a control response; empty if there is none."""
    payload = response.payload
    return lenient.build(HookOutput, payload) if isinstance(payload, dict) else HookOutput()

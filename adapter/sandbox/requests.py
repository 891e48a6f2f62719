"""A host that the sandbox does not know as a permission request; pure.

Rules and always-answers know it as a call of the tool `Network` with `host`, `port` and `url`.
"""

from typing import Literal

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import HostAsked
from turnwire.adapter.permissions.grants import HOST, Grant
from turnwire.adapter.permissions.requests import Allow, Offer, Reply, ToolRequest
from turnwire.adapter.sandbox.gate import HostAnswer
from turnwire.adapter.sandbox.hosts import Target
from turnwire.normalize.common.option_effects import Granted, always, quoted
from turnwire.normalize.events import PermissionOption, PermissionRequest, RememberedRule
from turnwire.protocol.json_values import JsonObject

NETWORK = "Network"
"""The tool's name in rules."""

Kind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


def host_asked(
    request_id: str, target: Target, *, tool_call_id: str | None, tool_name: str | None
) -> HostAsked:
    """Return the request for a host, of the tool call that wants it where that is known."""
    scheme = "http" if target.port == 80 else "https"
    arguments: JsonObject = {
        "host": target.host,
        "port": target.port,
        "url": f"{scheme}://{str(target).removesuffix(':443' if scheme == 'https' else ':80')}/",
    }
    grant = Grant(NETWORK, f"{HOST}{target}")
    what = f"connections to {quoted(str(target))}"
    offers = [
        _offer(
            "allow_once", "Allow until this turn ends", "allow_once", f"Allows {what} until this turn ends."
        ),
        _offer("allow_session", "Allow for this session", "allow_always", what, (grant, "session")),
        _offer(
            "allow_always", "Always allow in this workspace", "allow_always", what, (grant, "localSettings")
        ),
        _offer("reject_once", "Refuse", "reject_once", f"Refuses {what} this time."),
        _offer(
            "reject_session",
            "Refuse for this session",
            "reject_always",
            f"Refuses {what} until this session ends.",
        ),
    ]
    return HostAsked(
        ToolRequest(
            request_id=request_id,
            call=ToolCall(NETWORK, arguments, "fetch"),
            offers=offers,
            is_editable=False,
            is_host=True,
            said={**arguments, "tool_call_id": tool_call_id},
        ),
        PermissionRequest(
            pending_id=request_id,
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            permission_title=f"{tool_name or 'The agent'} wants to reach {target}",
            permission_options=[offer.option for offer in offers],
            action_type="network",
            action_details=arguments,
            reason="The sandbox of this session does not know this host.",
        ),
    )


def _offer(option_id: str, name: str, kind: Kind, words: str, *grants: tuple[Grant, str]) -> Offer:
    """Return an answer. `words`: its effect, or what its grants allow."""
    remembers = [
        RememberedRule(rule=f"{grant.tool}({grant.content})", destination=place) for grant, place in grants
    ]
    option = PermissionOption(
        option_id=option_id,
        name=name,
        kind=kind,
        effect=always([Granted(words, place) for _, place in grants]) if grants else words,
        destination=grants[0][1] if grants else None,
        remembers=remembers or None,
    )
    return Offer(option, grants)


def host_answer(target: Target, reply: Reply) -> HostAnswer:
    """Return what a reply means for the sandbox."""
    option = getattr(reply, "option_id", None)
    if isinstance(reply, Allow):
        return HostAnswer(allowed=True, scope="once" if option == "allow_once" else "session")
    said = getattr(reply, "message", "") or "nobody allowed it"
    reason = f'{target} is not allowed: {said.rstrip(".")}. The operator can open it by sandbox_hosts = ["{target}"]'
    return HostAnswer(allowed=False, scope="session" if option == "reject_session" else "once", reason=reason)

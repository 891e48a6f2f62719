"""What an answer allows is told in the same words at every door."""

import json
from collections.abc import Callable, Mapping

import msgspec
import pytest
from acp_recordings import acp_recordings

import turnwire
from turnwire.client import events
from turnwire.frontends.acp.dialogs import PermissionDialog
from turnwire.frontends.acp.tool_calls import ToolCalls
from turnwire.frontends.agui.question_answers import interrupt_of
from turnwire.frontends.ai_sdk.encoder import Turn
from turnwire.frontends.mcp.turns import request_of
from turnwire.frontends.terminal.showing import option_words
from turnwire.normalize.claude.requests.options import options
from turnwire.normalize.common.option_effects import described
from turnwire.normalize.events import PermissionOption, PermissionRequest, from_json, to_json

EDIT = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
RULE = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "git log *"}],
        "behavior": "allow",
        "destination": "userSettings",
    }
]
HOSTILE = [{**RULE[0], "rules": [{"toolName": "Bash", "ruleContent": "ls\u202e\x1b[2J”\n" + "x" * 100_000}]}]

Words = Mapping[str, str]


def asked(suggestions: list[dict[str, object]]) -> events.PermissionRequest:
    request = PermissionRequest(
        pending_id="p",
        tool_call_id="t",
        permission_title="Edit a.py",
        permission_options=options(suggestions),
        action_type="file_write",
    )
    return msgspec.json.decode(to_json(request), type=events.PermissionRequest)


def acp(request: events.PermissionRequest) -> Words:
    _, params = PermissionDialog(request, ToolCalls()).request()
    return {one["optionId"]: one["name"] for one in params["options"]}


def agui(request: events.PermissionRequest) -> Words:
    schema = interrupt_of(request).response_schema or {}
    return {one["const"]: one["title"] for one in schema["properties"]["option_id"]["oneOf"]}


def use_chat(request: events.PermissionRequest) -> Words:
    [data] = [one["data"] for one in Turn("m").handle(request) if one["type"] == "data-permission"]
    return {one["option_id"]: one["effect"] for one in data["permission_options"]}


def mcp(request: events.PermissionRequest) -> Words:
    return {one["id"]: one["name"] for one in request_of(request)["options"]}


def terminal(request: events.PermissionRequest) -> Words:
    return {one.option_id: option_words(one) for one in request.permission_options}


def webhook(request: events.PermissionRequest) -> Words:
    told = json.loads(msgspec.json.encode(request))
    return {one["option_id"]: one["effect"] for one in told["permission_options"]}


DOORS = [acp, agui, use_chat, mcp, terminal, webhook]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("suggestions", [EDIT, RULE, HOSTILE], ids=["edit", "rule", "hostile"])
def test_an_answer_that_lasts_is_told_in_the_same_words_at_every_door(
    door: Callable[[events.PermissionRequest], Words], suggestions: list[dict[str, object]]
) -> None:
    request = asked(suggestions)
    told = door(request)
    lasting = [one for one in request.permission_options if one.kind == "allow_always"]
    assert lasting
    assert [told[one.option_id] for one in lasting] == [one.effect for one in lasting]
    assert len(set(told.values())) == len(request.permission_options)
    assert all(len(text) < 2000 and text.isprintable() for text in told.values())


def recorded_orders() -> list[list[dict[str, str]]]:
    """The options of permission requests as agents sent them, each order once."""
    found: dict[str, list[dict[str, str]]] = {}
    for recording in acp_recordings(with_corpus=False):
        for side, line in recording.rows():
            if side == "recv" and b'"session/request_permission"' in line:
                offered = json.loads(line)["params"]["options"]
                found[json.dumps(offered)] = offered
    return [*found.values()]


def test_a_request_names_the_option_that_allows_this_call_alone_in_whatever_order_an_agent_offers_them() -> (
    None
):
    orders = recorded_orders()
    assert any(order[0]["kind"] == "allow_always" for order in orders)
    for order in orders:
        raw = [
            PermissionOption(option_id=one["optionId"], name=one["name"], kind=one["kind"])  # type: ignore[arg-type]
            for one in order
        ]
        kinds = {one.option_id: one.kind for one in raw}
        for made in (raw, described(raw)):
            own = PermissionRequest(
                pending_id="p", permission_title="", permission_options=made, action_type="other"
            )
            of_client = msgspec.json.decode(to_json(own), type=events.PermissionRequest)
            for request in (own, of_client, from_json(to_json(own))):
                assert isinstance(request, PermissionRequest | events.PermissionRequest)
                assert kinds[request.allow_once()] == "allow_once"
                assert kinds[request.deny()] == "reject_once"
        assert [one.option_id for one in described(raw)] == [one.option_id for one in raw]


def test_a_request_without_such_an_option_says_what_it_has() -> None:
    lasting = [
        PermissionOption(option_id="ever", name="Always", kind="allow_always"),
        PermissionOption(option_id="never", name="Never", kind="reject_always"),
    ]
    request = PermissionRequest(
        pending_id="p", permission_title="", permission_options=lasting, action_type="other"
    )
    with pytest.raises(
        LookupError, match=r"Request p has no option of the kind allow_once.*ever \(allow_always\), never"
    ):
        request.allow_once()
    assert request.deny() == "never"
    nothing = msgspec.structs.replace(request, permission_options=[])
    with pytest.raises(LookupError, match="its options: none"):
        nothing.deny()


def lasting(agent: str) -> dict[tuple[str, str], str]:
    """Tool and option -> effect, of all requests in the recordings of an agent."""
    found: dict[tuple[str, str], str] = {}
    for recording in acp_recordings(with_corpus=False):
        if recording.folder.parent.name.startswith(agent):
            for event in turnwire.translate(recording.folder):
                if isinstance(event, PermissionRequest):
                    for option in event.permission_options:
                        if option.kind == "allow_always":
                            found[str(event.action_type), option.option_id] = str(option.effect)
    return found


def test_gemini_says_that_allowing_an_edit_for_the_session_allows_all_edits() -> None:
    told = lasting("gemini-acp")
    always = "Allows without asking again until this session ends: "
    assert told["file_write", "proceed_always"] == f"{always}every edit of a file."
    assert told["command", "proceed_always"] == f"{always}commands that begin with the same programs."
    assert told["mcp_tool", "proceed_always_server"] == f"{always}every tool of this MCP server."
    assert told["mcp_tool", "proceed_always_tool"] == f"{always}every call of this tool of this MCP server."


def test_of_other_agents_the_words_quote_what_they_say() -> None:
    told = lasting("copilot-acp")
    assert [*set(told.values())] == [
        "Allows this call, and later ones without asking. Which calls, where and until when: the agent says only “Always allow”."
    ]

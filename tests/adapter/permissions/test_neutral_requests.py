"""The permission machine with an agent of no family: no hook before a call, options of its own, no arguments to edit."""

from pathlib import Path
from typing import get_args

import pytest

from turnwire.adapter.hooks.settings import HookSetting, callback_id
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import (
    Answered,
    Asked,
    Decide,
    Effect,
    PermissionAnswer,
    Refuse,
    Respond,
    Stopping,
)
from turnwire.adapter.permissions.machine import State, step
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.requests import (
    Allow,
    Deny,
    Failure,
    HookRequest,
    Offer,
    OtherRequest,
    Reply,
    ToolRequest,
)
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.session.loop import permission_settings
from turnwire.normalize.events.control_events import PermissionOption
from turnwire.normalize.vocabulary import Policy, ToolKind

OFFERS = [
    Offer(PermissionOption(option_id="yes", name="Yes", kind="allow_once")),
    Offer(PermissionOption(option_id="ever", name="Always", kind="allow_always")),
    Offer(PermissionOption(option_id="no", name="No", kind="reject_once")),
]


def asks(kind: ToolKind, *paths: str, wants_human: bool = False) -> ToolRequest:
    return ToolRequest(
        request_id="r",
        call=ToolCall("", {}, kind, paths),
        offers=OFFERS,
        is_editable=False,
        wants_human=wants_human,
    )


def reply_to(request: ToolRequest, **settings: object) -> Reply | None:
    """What is said at once; None when a human is waited for."""
    _, effects = step(State(PermissionSettings(judges_requests=True, **settings)), Asked(request), 0)  # type: ignore[arg-type]
    return next((effect.reply for effect in effects if isinstance(effect, Respond)), None)


@pytest.mark.parametrize(
    ("policy", "kind", "is_allowed"),
    [
        ("supervised", "read", True),
        ("supervised", "search", True),
        ("supervised", "edit", False),
        ("supervised", "execute", False),
        ("supervised", "other", False),
        ("plan", "execute", True),
        ("plan", "plan", False),
        ("autonomous", "execute", True),
        ("autonomous", "question", False),
        (None, "read", False),
    ],
)
def test_without_a_hook_the_policy_is_judged_when_leave_is_asked_for(
    policy: Policy | None, kind: ToolKind, *, is_allowed: bool
) -> None:
    reply = reply_to(asks(kind), policy=policy)
    assert reply == (Allow({}) if is_allowed else None)


@pytest.mark.parametrize("policy", [None, "supervised", "autonomous", "plan"])
def test_where_a_caller_decides_no_policy_allows_anything(policy: Policy | None) -> None:
    options = SessionOptions(workspace=Path("/w"), policy=policy, caller_decides=True)
    machine = State(permission_settings(options, judges_requests=True))
    for kind in get_args(ToolKind):
        _, effects = step(machine, Asked(asks(kind)), 0)
        assert not [effect for effect in effects if isinstance(effect, Respond)], kind


def test_no_policy_answers_what_wants_a_human() -> None:
    assert reply_to(asks("read", wants_human=True), policy="autonomous") is None


def test_a_rule_about_paths_counts_for_all_that_a_call_touches() -> None:
    deny = read_rules([{"action": "deny", "input": {"path": "/etc/*"}}])
    allow = read_rules([{"action": "allow", "input": {"file_path": "/here/*"}}])
    assert isinstance(reply_to(asks("edit", "/here/a", "/etc/b"), rules=deny), Deny)
    assert reply_to(asks("edit", "/here/a"), rules=deny) is None
    assert isinstance(reply_to(asks("edit", "/here/a", "/here/b"), rules=allow), Allow)
    assert reply_to(asks("edit", "/here/a", "/etc/b"), rules=allow) is None
    assert reply_to(asks("edit"), rules=allow) is None


def answered(answer: PermissionAnswer) -> list[Effect]:
    state, _ = step(State(PermissionSettings()), Asked(asks("execute")), 0)
    return step(state, Answered("r", answer, "ada"), 1)[1]


def test_the_option_that_was_chosen_travels_with_the_reply() -> None:
    decided, responded, *_ = answered(PermissionAnswer("ever"))
    assert isinstance(decided, Decide)
    assert (decided.decision.behavior, decided.decision.option_id) == ("allow", "ever")
    assert isinstance(responded, Respond)
    assert responded.reply == Allow({}, "ever")
    assert responded.request.request_id == "r"
    [_, responded, *_] = answered(PermissionAnswer("no", message="Not that one.", interrupt=True))
    assert isinstance(responded, Respond)
    assert responded.reply == Deny("Not that one.", interrupt=True, option_id="no")


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        (PermissionAnswer("allow_once"), "option_id"),
        (PermissionAnswer("yes", updated_input={"command": "ls"}), "updated_input"),
        (PermissionAnswer("ever", destination="session"), "destination"),
        (PermissionAnswer("yes", mode="plan"), "mode"),
    ],
)
def test_what_the_agent_cannot_do_is_refused_by_name_and_the_request_waits_on(
    answer: PermissionAnswer, field: str
) -> None:
    [refused] = answered(answer)
    assert isinstance(refused, Refuse)
    assert (refused.code, refused.field) == ("invalid_answer", field)


def test_what_nobody_knows_is_a_failure() -> None:
    settings = PermissionSettings(hooks=(HookSetting(event="Stop", command=("x",)),))
    _, [effect] = step(State(settings), Asked(OtherRequest(request_id="r", name="fly")), 0)
    assert isinstance(effect, Respond)
    assert effect.reply == Failure("turnwire does not answer fly")


def test_an_option_is_found_by_the_first_kind_that_is_offered() -> None:
    request = asks("edit")
    assert request.option_of("reject_always", "reject_once") == "no"
    assert request.option_of("allow_always", "allow_once") == "ever"
    assert request.option_of("reject_always") is None


def test_a_hook_that_runs_is_waited_for_while_the_session_stops() -> None:
    settings = PermissionSettings(hooks=[HookSetting(event="PreToolUse", command=("judge",))])
    hook = HookRequest(request_id="h", callback=callback_id(0), event="PreToolUse")
    state, _ = step(State(settings), Asked(hook), 0)
    state, effects = step(state, Stopping(), 1)
    assert (list(state.pending), effects) == (["h"], [])

"""An answer that lasts settles the requests that wait beside it: those that it covers, and no others."""

from typing import Any

import pytest
from claude_asking import asked, response_of, waiting_for_humans

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import Answered, Asked, Decide, Effect, PermissionAnswer, Respond
from turnwire.adapter.permissions.machine import State, step
from turnwire.adapter.permissions.policies import APPROVES, PermissionSettings
from turnwire.adapter.permissions.protected import ProtectedPlaces
from turnwire.adapter.permissions.requests import Allow, Offer, ToolRequest
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.sandbox.hosts import Target
from turnwire.adapter.sandbox.requests import host_asked
from turnwire.adapter.streams.wire import tool_request
from turnwire.normalize.codex import approvals
from turnwire.normalize.events import PermissionOption
from turnwire.normalize.streams.observations import PermissionAsked
from turnwire.protocol.claude.requests import CanUseTool
from turnwire.protocol.json_values import JsonObject

MODE: JsonObject = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
EDITS = "allow_always:mode:acceptEdits"
SUPERVISED = PermissionSettings(
    policy="supervised", workspace="/w", protected=ProtectedPlaces(own=("/state",), secret=("/home/.ssh",))
)


class Session:
    """The state machine of one session, with what it was asked and what it answered."""

    def __init__(self, settings: PermissionSettings | None = None) -> None:
        self.state = State(settings or PermissionSettings())
        self.effects: list[Effect] = []

    def ask(self, name: str, request: CanUseTool | ToolRequest, **real_paths: str) -> None:
        made = asked(name, request).request if isinstance(request, CanUseTool) else request
        real = {"/w": "/w", **{path.replace("__", "/"): led for path, led in real_paths.items()}}
        if isinstance(made, ToolRequest) and "file_path" in made.call.arguments:
            path = str(made.call.arguments["file_path"])
            real.setdefault(path, path)
        self.state, _ = step(self.state, Asked(made, real), 1.0)
        assert name in waiting_for_humans(self.state)

    def answer(self, name: str, option: str) -> list[str]:
        """Answer a request; returns those that were settled beside it, in order."""
        answered = Answered(name, PermissionAnswer(option), "ada")
        self.state, self.effects = step(self.state, answered, 3.0)
        decisions = [effect.decision for effect in self.effects if isinstance(effect, Decide)]
        assert decisions[0].pending_id == name
        for one in decisions[1:]:
            assert (one.behavior, one.by, one.waited_ms) == ("allow", "remembered", 2000)
        return [one.pending_id for one in decisions[1:]]


def edit(path: str, suggestions: list[JsonObject] | None = None, **more: Any) -> CanUseTool:
    return CanUseTool(
        tool_name="Edit", input={"file_path": path}, permission_suggestions=suggestions or [MODE], **more
    )


def bash(command: str, rule: str | None = None, **more: Any) -> CanUseTool:
    suggestion: JsonObject = {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": rule or command}],
        "behavior": "allow",
        "destination": "localSettings",
    }
    return CanUseTool(
        tool_name="Bash", input={"command": command}, permission_suggestions=[suggestion], **more
    )


def test_a_rule_settles_the_same_command_also_of_a_subagent_and_leaves_others() -> None:
    session = Session()
    session.ask("a", bash("npm test"))
    session.ask("b", bash("npm test", agent_id="sub-1"))
    session.ask("c", bash("npm publish"))
    assert session.answer("a", "allow_always:session") == ["b"]
    assert waiting_for_humans(session.state) == ("c",)
    [_, settled] = [response_of(effect) for effect in session.effects if isinstance(effect, Respond)]
    assert settled.request_id == "b"
    assert settled.payload == {"behavior": "allow", "updatedInput": {"command": "npm test"}}


def test_a_rule_settles_what_it_begins_or_suggests() -> None:
    session = Session()
    session.ask("a", bash("git log", "git log:*"))
    session.ask("b", bash("git log --oneline", "git log:*"))
    session.ask("c", bash("touch x y", "touch x *"))
    session.ask("d", bash("touch x z", "touch x *"))
    assert session.answer("a", "allow_always:localSettings") == ["b"]
    assert session.answer("c", "allow_always:localSettings") == ["d"]


def test_answers_that_hold_once_settle_nothing_beside_them() -> None:
    for option in ("allow_once", "reject_once"):
        session = Session()
        session.ask("a", bash("npm test"))
        session.ask("b", bash("npm test"))
        assert session.answer("a", option) == []
        assert waiting_for_humans(session.state) == ("b",)


@pytest.mark.parametrize("policy", [None, "supervised"])
def test_accepting_all_edits_settles_the_edits_that_wait(policy: str | None) -> None:
    session = Session(SUPERVISED if policy else None)
    own: dict[str, Any] = {"decision_reason_type": "hook", "decision_reason": APPROVES} if policy else {}
    session.ask("a", edit("/w/a.py", **own))
    session.ask("b", edit("/w/b.py", **own))
    session.ask("c", bash("make", **own))
    assert session.answer("a", EDITS) == ["b"]
    assert waiting_for_humans(session.state) == ("c",)


def test_accepting_all_edits_settles_no_edit_that_is_asked_for_another_reason() -> None:
    reasons = {"rule": "x", "safetyCheck": "x", "hook": "the project's own hook"}
    for settings in (None, SUPERVISED):
        session = Session(settings)
        session.ask("a", edit("/w/a.py"))
        for kind, reason in reasons.items():
            session.ask(kind, edit("/w/b.py", decision_reason_type=kind, decision_reason=reason))
        assert session.answer("a", EDITS) == []


def test_accepting_all_edits_settles_no_edit_of_another_folder() -> None:
    outside = {"type": "addDirectories", "directories": ["/elsewhere"], "destination": "session"}
    session = Session()
    session.ask("a", edit("/w/a.py"))
    session.ask("b", edit("/elsewhere/b.py", [outside, MODE]))
    assert session.answer("a", EDITS) == []
    assert session.answer("b", EDITS) == []
    supervised = Session(SUPERVISED)
    supervised.ask("a", edit("/w/a.py"))
    supervised.ask("out", edit("/elsewhere/b.py"))
    supervised.ask("link", edit("/w/link/b.py"), **{"__w__link__b.py": "/elsewhere/b.py"})
    supervised.ask("env", edit("/w/.env"))
    supervised.ask("in", edit("/w/c.py"))
    assert supervised.answer("a", EDITS) == ["in"]


def test_rules_of_the_operator_and_what_a_person_must_answer_go_on_waiting() -> None:
    ask = read_rules([{"action": "ask", "tool": "Bash"}])
    session = Session(PermissionSettings(rules=ask))
    session.ask("a", bash("npm test"))
    session.ask("b", bash("npm test"))
    assert session.answer("a", "allow_always:session") == []
    session = Session()
    session.ask("a", bash("npm test"))
    session.ask("b", CanUseTool(tool_name="ExitPlanMode", input={}, requires_user_interaction=True))
    session.ask("q", CanUseTool(tool_name="AskUserQuestion", input={"questions": []}))
    assert session.answer("a", "allow_always:session") == []


def test_a_request_for_several_calls_is_settled_when_all_are_covered() -> None:
    npm, make = (
        ToolCall("Bash", {"command": "npm test"}, "execute"),
        ToolCall("Bash", {"command": "make"}, "execute"),
    )
    once = Offer(PermissionOption(option_id="once", name="Once", kind="allow_once"))
    session = Session()
    session.ask("a", bash("npm test"))
    session.ask("both", ToolRequest(request_id="both", call=npm, also=[make], offers=[once]))
    session.ask("same", ToolRequest(request_id="same", call=npm, also=[npm], offers=[once]))
    assert session.answer("a", "allow_always:session") == ["same"]


def test_a_host_that_is_allowed_is_allowed_to_all_that_wait_for_it() -> None:
    session = Session()
    for name, host in (("a", "example.org"), ("b", "example.org"), ("c", "example.com")):
        request = host_asked(name, Target(host, 443), tool_call_id=None, tool_name=None).request
        session.ask(name, request)
    assert session.answer("a", "allow_session") == ["b"]


def codex(name: str, command: str, prefix: list[str], cwd: str = "/w") -> ToolRequest:
    told = {
        "itemId": name,
        "command": command,
        "cwd": cwd,
        "proposedExecpolicyAmendment": prefix,
        "availableDecisions": ["accept", {"acceptWithExecpolicyAmendment": {}}, "cancel"],
    }
    read = approvals.request(
        name, "item/commandExecution/requestApproval", told, mcp_call=None, changes=(), parent=None
    )
    assert isinstance(read, PermissionAsked)
    return tool_request(name, read)


def test_codex_commands_that_begin_as_the_allowed_one_go_on_by_an_answer_that_holds_once() -> None:
    session = Session(PermissionSettings(policy="supervised", judges_requests=True))
    session.ask("a", codex("a", "touch a.txt", ["touch"]))
    session.ask("b", codex("b", "touch b.txt", ["touch"]))
    session.ask("c", codex("c", "make", ["make"]))
    assert session.answer("a", "acceptWithExecpolicyAmendment") == ["b"]
    replies = [effect.reply for effect in session.effects if isinstance(effect, Respond)]
    assert isinstance(replies[1], Allow)
    assert replies[1].option_id is None


def test_codex_allows_for_the_session_this_command_in_this_folder() -> None:
    session = Session()
    session.ask("a", codex("a", "make", ["make"]))
    session.ask("b", codex("b", "make", ["make"]))
    session.ask("c", codex("c", "make", ["make"], cwd="/other"))
    assert session.answer("a", "acceptForSession") == ["b"]


def test_what_an_agent_does_not_describe_covers_nothing() -> None:
    always = Offer(PermissionOption(option_id="always", name="Always", kind="allow_always"))
    call = ToolCall("Bash", {"command": "make"}, "execute")
    session = Session()
    for name in ("a", "b"):
        session.ask(name, ToolRequest(request_id=name, call=call, offers=[always]))
    assert session.answer("a", "always") == []


def test_the_workspace_may_be_a_link() -> None:
    settings = PermissionSettings(policy="supervised", workspace="/link")
    session = Session(settings)
    session.ask("a", edit("/link/a.py"), **{"__link": "/w", "__link__a.py": "/w/a.py"})
    session.ask("b", edit("/link/b.py"), **{"__link": "/w", "__link__b.py": "/w/b.py"})
    assert session.answer("a", EDITS) == ["b"]


def test_a_rule_gives_no_answer_that_lasts_and_nobody_is_needed_under_autonomous() -> None:
    rules = read_rules([{"action": "allow", "tool": "Bash"}])
    call = ToolCall("Bash", {"command": "make"}, "execute")
    always = Offer(PermissionOption(option_id="always", name="Always", kind="allow_always"))
    only_lasting = ToolRequest(request_id="a", call=call, offers=[always])
    session = Session(PermissionSettings(rules=rules))
    session.ask("a", only_lasting)
    autonomous = State(PermissionSettings(rules=rules, policy="autonomous"))
    _, effects = step(autonomous, Asked(only_lasting), 1.0)
    assert [effect.decision.behavior for effect in effects if isinstance(effect, Decide)] == ["allow"]
    beside = Session()
    beside.ask("a", bash("make"))
    beside.ask("b", ToolRequest(request_id="b", call=call, offers=[always]))
    assert beside.answer("a", "allow_always:session") == []

"""Pass an agent's permission requests to the caller as `can_use_tool`, and its answers back. A pure table of open requests.

turnwire implements Claude Code's permission modes here. `bypassPermissions` allows everything. `acceptEdits` allows edits
below the workspace. `dontAsk` denies. `allowedTools` are allowed, by Claude Code's names. Where nobody is asked, reading
below the workspace is allowed, but for files with secrets. No policy of turnwire allows anything in addition.
"""

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from uuid import uuid4

from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from turnwire.adapter.permissions.protected import ProtectedPlaces, Reach, Touched, is_secret
from turnwire.adapter.session.agent import AgentSession, AnswerRefused
from turnwire.normalize import events as ev
from turnwire.normalize.payloads.work import AskUser
from turnwire.normalize.vocabulary import ALWAYS_MODE
from turnwire.protocol.claude.answers import Allow, Deny, read_permission
from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from turnwire.protocol.claude.requests import CanUseTool, Elicitation
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.sidecar.streams.sdk.calls import EDITS, READS, Call, questions_of
from turnwire.sidecar.streams.sdk.options import OWN_MODES, Wanted
from turnwire.sidecar.streams.stdio.bridge import CALLER_GONE

BY = "stdio"
"""Value of `by` in `permission_resolved`."""

NOBODY = "Nobody can be asked: the program answers no permission questions."
NOT_ASKED = "Denied by the permission mode dontAsk."
OTHER_ARGUMENTS = (
    "The agent runs a call with the arguments that it asked about, and with no others; so it was denied."
)
UNREADABLE = "The program's answer says neither allow nor deny."

SESSION_RULE = "session"

NO_PLACES = ProtectedPlaces()


class _Asked:
    """An open request."""

    def __init__(
        self, session: AgentSession, event: ev.PermissionRequest | ev.QuestionRequest, call: Call | None
    ) -> None:
        self.session = session
        self.event = event
        self.call = call


class Permissions:
    """The open requests of one session."""

    def __init__(
        self,
        wanted: Wanted,
        workspace: Path,
        say: Callable[[ControlRequest | ControlCancelRequest], None],
        secret: ProtectedPlaces = NO_PLACES,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self.mode = wanted.mode
        """The permission mode: Claude Code's or the agent's own."""
        self._asks = wanted.asks
        self._allowed = set(wanted.allowed)
        self._workspace = workspace
        self._say = say
        self._secret = secret
        self._new_id = new_id
        self._open: dict[str, _Asked] = {}
        self._is_gone = False

    def ask(self, session: AgentSession, event: ev.PermissionRequest, call: Call) -> None:
        """Decide by the permission mode, or ask the caller."""
        asked = _Asked(session, event, call)
        if self._is_allowed(call):
            self._allow(asked)
        elif self._is_gone or not self._asks:
            self._deny(asked, CALLER_GONE if self._is_gone else NOBODY)
        elif self.mode == "dontAsk":
            self._deny(asked, NOT_ASKED)
        else:
            self._put(
                asked,
                CanUseTool(
                    tool_name=call.name,
                    input=call.arguments,
                    tool_use_id=event.tool_call_id,
                    title=event.permission_title,
                    permission_suggestions=[one for one, _ in suggestions(event, call)],
                    blocked_path=event.blocked_path,
                    decision_reason=event.reason,
                    display_name=event.tool_name,
                    agent_id=event.agent_id,
                ),
            )

    def question(self, session: AgentSession, event: ev.QuestionRequest) -> None:
        """Ask the caller a question of the agent or of an MCP server."""
        asked = _Asked(session, event, None)
        if self._is_gone or not self._asks or event.kind == "dialog":
            self._decline(asked)
        elif event.kind == "ask_user":
            questions: JsonObject = {"questions": questions_of(AskUser(questions=event.questions or []))}
            self._put(
                asked,
                CanUseTool(tool_name="AskUserQuestion", input=questions, tool_use_id=event.tool_call_id),
            )
        else:
            schema = event.requested_schema
            self._put(
                asked,
                Elicitation(
                    mcp_server_name=event.mcp_server or "",
                    message=event.message or "",
                    mode=event.mode,
                    requested_schema=schema if isinstance(schema, dict) else None,
                    url=event.url,
                ),
            )

    def answered(self, response: ControlResponse) -> None:
        """Handle an answer of the caller. An answer without an open request is ignored."""
        asked = self._open.pop(response.request_id, None)
        if asked is None:
            return
        if isinstance(asked.event, ev.QuestionRequest):
            self._answer_question(asked, response)
            return
        match read_permission(response):
            case Deny(message, interrupt):
                self._deny(asked, message, interrupt=bool(interrupt))
            case Allow() as allow:
                self._allow_as(asked, allow)
            case None:
                self._deny(asked, response.error or UNREADABLE)

    def over(self, pending_id: str) -> None:
        """Withdraw a request that no longer needs an answer."""
        for request_id, asked in list(self._open.items()):
            if asked.event.pending_id == pending_id:
                del self._open[request_id]
                self._say(ControlCancelRequest(request_id))

    def caller_gone(self) -> None:
        """Deny the open requests and all future ones."""
        self._is_gone = True
        opened, self._open = list(self._open.values()), {}
        for asked in opened:
            if isinstance(asked.event, ev.QuestionRequest):
                self._decline(asked)
            else:
                self._deny(asked, CALLER_GONE)

    def _put(self, asked: _Asked, request: CanUseTool | Elicitation) -> None:
        request_id = self._new_id()
        self._open[request_id] = asked
        self._say(ControlRequest(request_id, request))

    def _is_allowed(self, call: Call) -> bool:
        if call.name in ("AskUserQuestion", "ExitPlanMode"):
            return False
        if self.mode == "bypassPermissions" or any(fnmatchcase(call.name, name) for name in self._allowed):
            return True
        if self.mode == "acceptEdits" and call.name in EDITS:
            named = call.arguments.get("file_path", call.arguments.get("notebook_path"))
            return self._below(named) is not None
        if call.name in READS and (self.mode == "dontAsk" or not self._asks):
            return self._is_readable(call)
        return False

    def _is_readable(self, call: Call) -> bool:
        """Return whether a call reads or searches below the workspace alone, and gets at no secrets."""
        given, pattern = call.arguments, call.arguments.get("pattern") if call.name == "Glob" else ""
        reach: Reach = "contents" if call.name == "Grep" else "this"
        path = self._below(given.get("file_path") if call.name == "Read" else given.get("path", "."))
        if path is None or not isinstance(pattern, str) or self._below(f"{path}/{pattern}") is None:
            return False
        is_rooted = pattern.startswith(("/", "~"))
        touched = Touched(path, reach, str(given.get("glob", "")))
        return not is_rooted and is_secret(self._secret, [touched], {}) is None

    def _below(self, given: Json) -> str | None:
        """Return a path without links; None if it is not below the workspace."""
        if not isinstance(given, str) or given.startswith("~"):
            return None
        path = (self._workspace / given).resolve()
        return str(path) if path.is_relative_to(self._workspace.resolve()) else None

    def _allow_as(self, asked: _Asked, allow: Allow) -> None:
        event, call = asked.event, asked.call
        assert isinstance(event, ev.PermissionRequest)
        assert call is not None
        if allow.updated_input not in (None, call.arguments):
            self._deny(asked, OTHER_ARGUMENTS)
            return
        remembered = allow.updated_permissions or []
        offered = suggestions(event, call)
        for one in remembered:
            if one not in [update for update, _ in offered]:
                self._remember(one)
        self._allow(asked, next((option for update, option in offered if update in remembered), ""))

    def _remember(self, update: JsonObject) -> None:
        """Store for this session a permission that the agent cannot store itself."""
        match update:
            case {"type": "addRules", "behavior": "allow", "rules": list(rules)}:
                self._allowed.update(
                    rule["toolName"]
                    for rule in rules
                    if isinstance(rule, dict)
                    and isinstance(rule.get("toolName"), str)
                    and not rule.get("ruleContent")
                )
            case {"type": "setMode", "mode": str(mode)} if mode in OWN_MODES:
                self.mode = mode
            case _:
                pass

    def _allow(self, asked: _Asked, option: str = "") -> None:
        """Answer with the option of this id, or by default with the one that allows the call once."""
        event = asked.event
        assert isinstance(event, ev.PermissionRequest)
        ids = [one.option_id for one in event.permission_options]
        if option not in ids:
            option = next((one.option_id for one in event.permission_options if one.kind == "allow_once"), "")
        if not option:
            self._deny(asked, "The agent offers no way to allow this once.")
            return
        try:
            asked.session.answer(event.pending_id, PermissionAnswer(option_id=option), BY)
        except AnswerRefused as refused:
            if refused.code == "invalid_answer":
                self._deny(asked, str(refused))

    def _deny(self, asked: _Asked, message: str, *, interrupt: bool = False) -> None:
        event = asked.event
        assert isinstance(event, ev.PermissionRequest)
        kinds = ("reject_once", "reject_always")
        option = next((one.option_id for one in event.permission_options if one.kind in kinds), "reject")
        answer = PermissionAnswer(option_id=option, message=message or None, interrupt=interrupt)
        try:
            asked.session.answer(event.pending_id, answer, BY)
        except AnswerRefused:
            pass  # already decided: by a rule, a timeout, or the end of the turn

    def _decline(self, asked: _Asked, message: str | None = None) -> None:
        self._reply(asked, QuestionAnswer(action="decline", message=message))

    def _answer_question(self, asked: _Asked, response: ControlResponse) -> None:
        event, said = asked.event, response.payload
        assert isinstance(event, ev.QuestionRequest)
        if event.kind == "elicitation":
            match said:
                case {"action": "accept", **rest}:
                    self._reply(asked, QuestionAnswer(action="accept", content=rest.get("content")))
                case {"action": "decline"}:
                    self._decline(asked)
                case _:
                    self._reply(asked, QuestionAnswer(action="cancel"))
            return
        match read_permission(response):
            case Allow(updated_input={"answers": dict(answers)}):
                self._reply(asked, QuestionAnswer(answers=answers))
            case Deny(message):
                self._decline(asked, message or None)
            case _:
                self._decline(asked)

    def _reply(self, asked: _Asked, answer: QuestionAnswer) -> None:
        try:
            asked.session.answer(asked.event.pending_id, answer, BY)
        except AnswerRefused as refused:
            if refused.code == "invalid_answer" and answer.action == "accept":
                self._reply(asked, QuestionAnswer(action="cancel"))


def suggestions(event: ev.PermissionRequest, call: Call) -> list[tuple[JsonObject, str]]:
    """Return the permission updates to suggest to a caller, each with the matching option of the agent."""
    found: list[tuple[JsonObject, str]] = []
    for option in event.permission_options:
        if option.kind != "allow_always":
            continue
        update: JsonObject
        if option.option_id.startswith(ALWAYS_MODE):
            mode = option.option_id.removeprefix(ALWAYS_MODE)
            update = {"type": "setMode", "mode": mode, "destination": SESSION_RULE}
        else:
            # The agent describes in its own words what it will remember, which may be less than the whole tool.
            rule = {"toolName": call.name, "ruleContent": option.name}
            destination = option.destination or SESSION_RULE
            update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": destination}
        found.append((update, option.option_id))
    return found

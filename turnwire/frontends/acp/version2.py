"""ACP 2 for editors that ask for it: what version 1 would say becomes what version 2 says. Pure.

A prompt is answered once it is part of the conversation; `state_update` tells when work begins, waits and ends. A call has no
first message of its own. Modes are config options. Commands show in terminals of the agent's, changes as patches, and what
is neither said nor done as notices. A past is told by `session/resume` with `replayFrom`.
"""

import base64
from collections.abc import Callable, Iterable

from turnwire.client import events as ev
from turnwire.client.payloads import ModifyFile, Mutation
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.acp.json_rpc import INTERNAL_ERROR
from turnwire.frontends.acp.turns import turn_result

TERMINALS = frozenset({"terminal_info", "terminal_output", "terminal_exit"})
"""What `_meta` of a call tells of its terminal in version 1."""

SEVERE = {"error": "error", "process_status": "error", "sandbox_denied": "warning", "rate_limit": "warning"}
"""Events that are more than an information, by their type."""

OPERATIONS = {"create": "add", "delete": "delete"}
"""What a mutation does to a file; any other modifies it."""


class Activity:
    """What the session does, as `state_update`."""

    def __init__(self) -> None:
        self._turn: str | None = None
        self._waiting: set[str] = set()
        self._is_cancelled = False
        """The editor has asked for the end of the turn that runs."""

    def cancel(self) -> None:
        """Note that the editor has asked for the end of the turn that runs, if one does."""
        self._is_cancelled = self._turn is not None

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs, and nothing waits for an answer."""
        return self._turn is None and not self._waiting

    def handle(self, event: ev.AgentEvent) -> list[JsonObject]:
        """Return the update that an event causes."""
        match event:
            case ev.TurnStarted():
                self._turn = event.operation_id
            case ev.PermissionRequest() | ev.QuestionRequest():
                self._waiting.add(event.pending_id)
            case ev.PermissionResolved() | ev.PermissionCancelled():
                if event.pending_id not in self._waiting:
                    return []
                self._waiting.discard(event.pending_id)
            case ev.Complete():
                self._turn = None
                return [self._idle(event)]
            case _:
                return []
        return [self.now()]

    def now(self) -> JsonObject:
        """Return the update that says how things are."""
        state = "requires_action" if self._waiting else "idle" if self._turn is None else "running"
        return {"sessionUpdate": "state_update", "state": state}

    def _idle(self, event: ev.Complete) -> JsonObject:
        result = turn_result(event)
        if self._is_cancelled:
            self._is_cancelled = False
            result = result.as_cancelled()
        idle: JsonObject = {"sessionUpdate": "state_update", "state": "idle"}
        if result.error is None:
            idle["stopReason"] = result.stop_reason
        else:
            outcome: JsonObject = {"data": {"outcome": result.outcome}} if result.outcome else {}
            idle["stopReason"] = "error"
            idle["error"] = {"code": INTERNAL_ERROR, "message": result.error, **outcome}
        return {**idle, "usage": result.usage} if result.usage else idle


class Updates:
    """Makes updates of version 2 of those of version 1."""

    def __init__(self) -> None:
        self._numbers = 0
        self._open: tuple[str, str] | None = None
        """Kind and id of the message that pieces without an id add to."""

    def of(self, updates: Iterable[JsonObject], *, past: bool = False) -> list[JsonObject]:
        """Return what to send; `past`: it tells of what was, so that nothing of it is news."""
        told: list[JsonObject] = []
        for update in updates:
            for one in self._of(update, past=past):
                before = told[-1] if told else {}
                if one["sessionUpdate"] == before.get("sessionUpdate") == "user_message" and (
                    one["messageId"] == before["messageId"]
                ):
                    told[-1] = {**before, "content": [*before["content"], *one["content"]]}
                else:
                    told.append(one)
        return told

    def _of(self, update: JsonObject, *, past: bool) -> list[JsonObject]:
        match update["sessionUpdate"]:
            case "agent_message_chunk" | "agent_thought_chunk":
                return self._chunk(update, past=past)
            case "user_message_chunk":
                whole = {**update, "sessionUpdate": "user_message", "content": [update["content"]]}
                return [{**whole, "messageId": self._id("user", update.get("messageId"))}]
            case "tool_call" | "tool_call_update":
                self._open = None
                return _call(update)
            case "plan":
                plan = {"type": "items", "planId": "plan", "entries": update["entries"]}
                return [{"sessionUpdate": "plan_update", "plan": plan}]
            case "available_commands_update":
                return [
                    {**update, "availableCommands": [_command(each) for each in update["availableCommands"]]}
                ]
            case "config_option_update":
                return [{**update, "configOptions": config_options(update["configOptions"])}]
            case "current_mode_update":
                return []  # its config option says so
            case _:
                return [update]

    def _chunk(self, update: JsonObject, *, past: bool) -> list[JsonObject]:
        kind = update["sessionUpdate"]
        ours = update.get("_meta", {}).get("turnwire", {})
        event = ours.get("event")
        if event == "compact_boundary":
            self._numbers += 1
            compaction = {"compactionId": f"compaction-{self._numbers}", "status": "completed"}
            return [{"sessionUpdate": "compaction_update", **compaction, "_meta": update["_meta"]}]
        if event is not None and not past:
            words = update["content"]["text"].strip().strip("*")
            severity = SEVERE.get(event, ours.get("level", "info"))
            return [
                {"sessionUpdate": "notice", "severity": severity, "title": words, "_meta": update["_meta"]}
            ]
        named = update.get("messageId")
        # a thought and a text may have the same message, and each is a message of its own here
        message = self._id(kind, f"{named}/thought" if named and kind == "agent_thought_chunk" else named)
        if ours.get("replaces"):
            return [
                {
                    **update,
                    "sessionUpdate": kind.removesuffix("_chunk"),
                    "messageId": message,
                    "content": [update["content"]],
                }
            ]
        return [{**update, "messageId": message}]

    def _id(self, kind: str, named: str | None) -> str:
        if named is not None:
            self._open = None
            return named
        if self._open is None or self._open[0] != kind:
            self._numbers += 1
            self._open = kind, f"message-{self._numbers}"
        return self._open[1]


def config_options(options: Iterable[JsonObject]) -> list[JsonObject]:
    """Return config options of version 1 as those of version 2."""
    return [
        {"configId": each["id"], **{name: value for name, value in each.items() if name != "id"}}
        for each in options
    ]


def permission(params: JsonObject) -> JsonObject:
    """Return the parameters of a permission request; one that asks a question is about no call."""
    call = params["toolCall"]
    asked = {"title": call["title"], "options": params["options"]}
    if call.get("_meta") is None:
        words = "\n".join(each["content"]["text"] for each in call.get("content", ()))
        return {**asked, "description": words} if words else asked
    (told,) = _call({**call, "sessionUpdate": ""})
    del told["sessionUpdate"]
    return {**asked, "subject": {"type": "tool_call", "toolCall": told}}


def hello(version: str) -> JsonObject:
    """Return the answer to `initialize`."""
    return {
        "protocolVersion": 2,
        "info": {"name": "turnwire", "title": "turnwire", "version": version},
        "capabilities": {
            "session": {
                "prompt": {"image": {}, "embeddedContext": {}},
                "mcp": {"stdio": {}, "http": {}},
                "delete": {},
                "fork": {},
                "additionalDirectories": {},
            }
        },
        "authMethods": [],
    }


def patches(body: ModifyFile, absolute: Callable[[str], str]) -> list[JsonObject]:
    """Return the changes of a call, one content for each file."""
    files: dict[str, list[Mutation]] = {}
    for mutation in body.mutations:
        files.setdefault(absolute(mutation.file_path or body.file_path), []).append(mutation)
    return [_file(path, mutations) for path, mutations in files.items()]


def _file(path: str, mutations: list[Mutation]) -> JsonObject:
    operation = OPERATIONS.get(mutations[0].type, "modify")
    shown: JsonObject = {"type": "diff", "changes": [{"operation": operation, "path": path}]}
    hunks = "".join(map(_hunks, mutations))
    if not hunks:
        return shown
    old = "/dev/null" if operation == "add" else path
    new = "/dev/null" if operation == "delete" else path
    text = f"diff --git {path} {path}\n--- {old}\n+++ {new}\n{hunks}"
    return {**shown, "patch": {"format": "git_patch", "text": text}}


def _hunks(mutation: Mutation) -> str:
    if mutation.diff is not None:
        _, mark, hunks = f"\n{mutation.diff}".partition("\n@@")
        return f"@@{hunks}" if mark else ""
    match mutation.type:
        case "create" | "overwrite" | "insert":
            return _hunk(mutation.old_content, mutation.content)
        case "delete":
            return _hunk(mutation.old_content or mutation.content, None)
        case _:
            return _hunk(mutation.old_content, mutation.new_content)


def _hunk(old: str | None, new: str | None) -> str:
    """Return one hunk that takes all of one text for all of another; "" where neither is known."""
    if not old and not new:
        return ""
    return f"@@ -{_side(old)} +{_side(new)} @@\n{_marked('-', old)}{_marked('+', new)}"


def _side(text: str | None) -> str:
    lines = _lines(text)
    return f"1,{len(lines)}" if lines else "0,0"


def _marked(mark: str, text: str | None) -> str:
    marked = "".join(f"{mark}{line}\n" for line in _lines(text))
    is_open = text and not text.endswith("\n")
    return f"{marked}\\ No newline at end of file\n" if is_open else marked


def _lines(text: str | None) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _call(update: JsonObject) -> list[JsonObject]:
    """Return news of a call, after those of its terminal."""
    meta: JsonObject = update.get("_meta", {})
    kept = {name: value for name, value in meta.items() if name not in TERMINALS}
    tool = kept.get("turnwire", {}).get("toolName")
    call = {**update, "sessionUpdate": "tool_call_update", **({"name": tool} if tool else {})}
    if meta:
        call["_meta"] = kept
    terminal = _terminal(update, meta)
    return [call] if terminal is None else [terminal, call]


def _terminal(update: JsonObject, meta: JsonObject) -> JsonObject | None:
    fields: JsonObject = {}
    if (begun := meta.get("terminal_info")) is not None:
        arguments: JsonValue = update.get("rawInput")
        command = arguments.get("command") if isinstance(arguments, dict) else None
        known = {"command": command, "cwd": begun.get("cwd")}
        fields |= {name: value for name, value in known.items() if isinstance(value, str)}
    elif (output := meta.get("terminal_output")) is None:
        return None
    else:
        data = base64.b64encode(output["data"].encode("utf-8", "surrogatepass")).decode()
        ended = meta.get("terminal_exit", {})
        fields |= {
            "output": {"data": data},
            "exitStatus": {"exitCode": ended.get("exit_code"), "signal": ended.get("signal")},
        }
    return {"sessionUpdate": "terminal_update", "terminalId": update["toolCallId"], **fields}


def _command(command: JsonObject) -> JsonObject:
    hint = {"input": {"type": "text", **command["input"]}} if "input" in command else {}
    return {"type": "command", **command, **hint}

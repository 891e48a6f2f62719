"""An account of its own of a conversation in the Agent Client Protocol: from the lines, with nothing but json.

It shares no code with the translator. `Facts` says what the lines of a recording tell, session by session; `violations`
holds the published events against it, and returns a sentence for each that disagrees.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]
Item = tuple[str, str]

OUTCOMES = {
    "end_turn": "completed",
    "cancelled": "interrupted",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_turns",
    "refusal": "refusal",
}


@dataclass
class Call:
    """Everything that was told of a call."""

    id: str
    kind: str | None = None
    status: str | None = None
    title: str = ""
    diffs: list[JsonObject] = field(default_factory=list)
    raw_input: Any = None
    raw_output: Any = None
    meta: list[JsonObject] = field(default_factory=list)
    asked: str | None = None
    """The kind of the option that was chosen, `cancelled` or `error`."""


@dataclass
class Turn:
    """A prompt and its answer."""

    session: str
    request: Any
    text: str
    outcome: str | None = None
    error: JsonObject | None = None
    usage: JsonObject | None = None
    joined: bool = False
    last_words: str = ""
    """What was said last."""
    did_something: bool = False
    status: str = ""
    """That of the thread, of agents that tell it."""


@dataclass
class Facts:
    """What the lines tell."""

    said: dict[str, list[Item]] = field(default_factory=dict)
    past: dict[str, list[Item]] = field(default_factory=dict)
    calls: dict[tuple[str, str], Call] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    asked: list[JsonObject] = field(default_factory=list)
    answers: dict[int, JsonObject] = field(default_factory=dict)
    plans: list[list[str]] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    commands: dict[str, list[str]] = field(default_factory=dict)
    agent: JsonObject = field(default_factory=dict)
    sessions: list[str] = field(default_factory=list)
    subagents: dict[str, str] = field(default_factory=dict)
    """The session that a subagent's session works for."""
    lines: int = 0


def facts_of(rows: list[tuple[str, bytes]]) -> Facts:
    """Read lines in their order: ("recv" or "send", line)."""
    facts = Facts()
    ours: dict[Any, JsonObject] = {}
    theirs: dict[Any, int] = {}
    past: set[str] = set()
    open_turns: list[Turn] = []
    for direction, line in rows:
        facts.lines += direction == "recv"
        try:
            value = json.loads(line)
        except ValueError:
            continue
        params = value.get("params") or {}
        method = value.get("method")
        if direction == "send":
            if method is not None and "id" in value:
                ours[value["id"]] = value
            if method == "session/load":
                past.add(params["sessionId"])
            elif method == "session/prompt":
                past.discard(params["sessionId"])
                words = "\n\n".join(b["text"] for b in params["prompt"] if b["type"] == "text")
                turn = Turn(params["sessionId"], value["id"], words)
                facts.turns.append(turn)
                open_turns.append(turn)
            elif method is None and value.get("id") in theirs:
                facts.answers[theirs.pop(value["id"])] = value
                _note_answer(facts, facts.asked[max(facts.answers)] if facts.asked else {}, value)
            continue
        if method == "session/update":
            _update(facts, params, past, open_turns)
        elif method == "_x.ai/session_notification" and "child_session_id" in params["update"]:
            facts.subagents[params["update"]["child_session_id"]] = params["sessionId"]
        elif method == "_x.ai/exit_plan_mode":
            options = [
                {"optionId": "approve", "name": "Approve the plan", "kind": "allow_once"},
                {"optionId": "reject", "name": "Reject the plan", "kind": "reject_once"},
            ]
            plan = {"sessionId": params["sessionId"], "toolCall": {"toolCallId": params["toolCallId"]}}
            theirs[value["id"]] = len(facts.asked)
            facts.asked.append({**value, "params": {**plan, "options": options}})
        elif method == "session/request_permission":
            theirs[value["id"]] = len(facts.asked)
            facts.asked.append(value)
            subject = params.get("toolCall") or params["subject"]["toolCall"]
            same = _same(facts, params["sessionId"], subject)
            if same is not None:
                subject = params["toolCall"] = {**subject, "toolCallId": same.id}
            _call(facts, params["sessionId"], subject, past)
        elif method is None:
            _answer(facts, value, ours.pop(value.get("id"), None), open_turns)
    return facts


def _same(facts: Facts, session: str, subject: JsonObject) -> Call | None:
    """Return the running call that a request is about which names none that is known: of the same kind, command and file."""
    if (session, subject["toolCallId"]) in facts.calls:
        return None
    given = subject.get("rawInput") or {}
    path = next((block["path"] for block in subject.get("content") or [] if block["type"] == "diff"), "")
    for (place, _), call in facts.calls.items():
        named = f"{call.title}\n".endswith((f": {given.get('command')}\n", f": {path}\n"))
        if place == session and call.status is None and call.asked is None and named:
            return call if call.kind == subject.get("kind") else None
    return None


def _note_answer(facts: Facts, asked: JsonObject, answer: JsonObject) -> None:
    params = asked["params"]
    subject = params.get("toolCall") or params["subject"]["toolCall"]
    call = facts.calls[params["sessionId"], subject["toolCallId"]]
    outcome = answer.get("result", {}).get("outcome", {})
    kinds = {option["optionId"]: option["kind"] for option in params["options"]}
    call.asked = "error" if "error" in answer else kinds.get(outcome.get("optionId"), "cancelled")


def _answer(facts: Facts, value: JsonObject, asked: JsonObject | None, open_turns: list[Turn]) -> None:
    result: Any = value.get("result")
    if isinstance(result, dict):
        info = result.get("agentInfo") or result.get("info")
        facts.agent = info or facts.agent
        if "sessionId" in result:
            facts.sessions.append(result["sessionId"])
        mode = (result.get("modes") or {}).get("currentModeId")
        if mode:
            facts.modes.append(mode)
    if asked is None or asked["method"] != "session/prompt":
        return
    turn = next(turn for turn in open_turns if turn.request == value["id"])
    if "error" in value:
        turn.outcome, turn.error = "error", value["error"]
    elif "stopReason" in result:
        meta = result.get("_meta") or {}
        turn.outcome, turn.usage = OUTCOMES[result["stopReason"]], result.get("usage") or meta.get("usage")
        if meta.get("cancellationCategory") == "PermissionRejected":
            turn.outcome = "completed"
        said_nothing = facts.agent.get("name") == "pi-acp" and not turn.last_words and not turn.did_something
        if said_nothing or (not turn.usage and turn.last_words.startswith("HTTP 4")):
            turn.outcome, turn.error = "error", {}
    else:
        return
    open_turns.remove(turn)


def _update(facts: Facts, params: JsonObject, past: set[str], open_turns: list[Turn]) -> None:
    session, update = params["sessionId"], params["update"]
    kind = update["sessionUpdate"]
    if session in facts.subagents:
        session = facts.subagents[session]
        if kind not in ("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"):
            return
    said = (facts.past if session in past else facts.said).setdefault(session, [])
    if kind in ("agent_message_chunk", "agent_thought_chunk"):
        content = update["content"]
        if content["type"] == "text" and content["text"]:
            _say(said, "text" if kind == "agent_message_chunk" else "thinking", content["text"])
            for turn in open_turns[:1]:
                turn.last_words = content["text"]
    elif kind == "user_message_chunk" and session in past:
        said.append(("user", update["content"]["text"]))
    elif kind in ("tool_call", "tool_call_update"):
        for turn in open_turns[:1]:
            turn.did_something = True
        _call(facts, session, update, past)
    elif kind in ("plan", "plan_update"):
        entries = update.get("entries") or update["plan"]["entries"]
        facts.plans.append([entry["content"] for entry in entries])
    elif kind == "current_mode_update":
        facts.modes.append(update["currentModeId"])
    elif kind == "available_commands_update":
        facts.commands[session] = [command["name"] for command in update["availableCommands"]]
    elif kind == "session_info_update" and "threadStatus" in update.get("_meta", {}).get("codex", {}):
        for turn in open_turns[:1]:
            turn.status = update["_meta"]["codex"]["threadStatus"]["type"]
    elif kind == "state_update" and update.get("stopReason"):
        turn = next(turn for turn in open_turns if turn.session == session)
        turn.outcome, turn.usage = OUTCOMES[update["stopReason"]], update.get("usage")
        open_turns.remove(turn)


def _say(said: list[Item], kind: str, words: str) -> None:
    if said and said[-1][0] == kind:
        said[-1] = (kind, said[-1][1] + words)
    else:
        said.append((kind, words))


def _call(facts: Facts, session: str, update: JsonObject, past: set[str]) -> None:
    key = session, update["toolCallId"]
    call = facts.calls.get(key)
    if call is None:
        call = facts.calls[key] = Call(update["toolCallId"])
        said = (facts.past if session in past else facts.said).setdefault(session, [])
        said.append(("tool", call.id))
    call.kind = update.get("kind") or call.kind
    call.title = update.get("title") or call.title
    call.raw_input = update.get("rawInput") or call.raw_input
    call.raw_output = update.get("rawOutput", call.raw_output)
    status = update.get("status")
    if status in ("completed", "failed"):
        call.status = status
    call.diffs = [block for block in update.get("content") or [] if block["type"] == "diff"] or call.diffs
    if update.get("_meta"):
        call.meta.append(update["_meta"])


# The events.


def violations(facts: Facts, events: list[JsonObject], *, whole: bool) -> list[str]:
    """Return what the events say that the lines do not; `whole`: what was sent was heard, too."""
    checks = [texts_and_calls, calls_balance, turns_balance, diffs_hold, plans_and_modes, commands]
    if whole:
        checks += [turns_agree, permissions, statuses, prompts]
    return [f"{check.__name__}: {fault}" for check in checks for fault in check(facts, events)]


def shown(events: list[JsonObject], session: str, *, past: bool | None) -> list[Item]:
    """Return what a frontend shows of a session, in order; of the past, of the present, or of both."""
    items: list[Item] = []
    for event in events:
        if event.get("session_id") != session or (past is not None and bool(event.get("history")) != past):
            continue
        if event["type"] == "message_chunk" and event["text"]:
            _say(items, "text", event["text"])
        elif event["type"] == "reasoning":
            _say(items, "thinking", event["reasoning_text"])
        elif event["type"] == "tool_call":
            items.append(("tool", event["tool_call_id"]))
        elif event["type"] == "user_message" and event.get("history"):
            items.append(("user", event["text"]))
    return items


def texts_and_calls(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """Text, thoughts and the beginnings of calls, each once and in order, the past marked as such."""
    for session in facts.said.keys() | facts.past.keys():
        before, now = facts.past.get(session, []), facts.said.get(session, [])
        if before and not any(
            event["type"] == "user_message" and not event.get("history") for event in events
        ):
            got = shown(events, session, past=None)
            wanted = [*before]
            for kind, value in now:
                if kind in ("text", "thinking"):
                    _say(wanted, kind, value)
                else:
                    wanted.append((kind, value))
            if [item for item in got if item[0] != "user"] != [item for item in wanted if item[0] != "user"]:
                yield f"{session}: the lines say {wanted!r:.600}, the events {got!r:.600}"
            continue
        for past, wanted in ((True, before), (False, now)):
            got = shown(events, session, past=past)
            if got != wanted:
                yield f"{session}, past {past}: the lines say {wanted!r:.600}, the events {got!r:.600}"


def calls_balance(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """One beginning and one end a call, the end behind it; nothing of it after that."""
    begun, ended = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for event in events:
        if event["type"] not in ("tool_call", "tool_update"):
            continue
        key = event["session_id"], event["tool_call_id"]
        if ended[key]:
            yield f"{key} is spoken of after its end"
        if event["type"] == "tool_call":
            begun[key] += 1
        elif not begun[key]:
            yield f"{key} is spoken of before it begins"
        elif event["tool_status"] != "running":
            ended[key] += 1
    for key in facts.calls.keys() | begun.keys():
        if (begun[key], ended[key]) != (1, 1):
            yield f"{key}: {begun[key]} beginnings, {ended[key]} ends"


def turns_balance(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """One complete for each turn that starts; what happens in a turn happens within it."""
    del facts
    started, completed = set[str](), set[str]()
    for event in events:
        turn: str = event.get("operation_id") or ""
        if event["type"] == "turn_started":
            if turn in started:
                yield f"{turn} starts twice"
            started.add(turn)
        elif event["type"] == "complete":
            if turn not in started or turn in completed:
                yield f"{turn} completes {'twice' if turn in completed else 'without a start'}"
            completed.add(turn)
        elif turn and (turn not in started or (turn in completed and event["type"] != "error")):
            yield f"{event['type']} of {turn} outside of it"
        elif turn and event.get("history"):
            yield f"{event['type']} of the past in {turn}"
    if started != completed:
        yield f"without an end: {started - completed}"


def turns_agree(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """Each prompt has a turn of its session that ends as its answer says; one that nobody answered ends with the process."""
    completes = [event for event in events if event["type"] == "complete"]
    if len(completes) != len(facts.turns):
        yield f"{len(facts.turns)} prompts, {len(completes)} turns"
        return
    for turn in facts.turns:
        mine = [event for event in completes if event["session_id"] == turn.session]
        place = [other for other in facts.turns if other.session == turn.session].index(turn)
        data = mine[place]["data"] if place < len(mine) else {}
        wanted = turn.outcome or "process_exited"
        if turn.outcome == "completed" and turn.status == "systemError":
            wanted = "error"
        spoken = (
            "Copilot" in str(facts.agent.get("name"))
            and (turn.usage is None or turn.last_words.startswith("Error: "))
            and data.get("outcome") == "error"
        )
        if data.get("outcome") != wanted and not spoken:
            yield f"{turn.text!r} ends {wanted}, the events say {data.get('outcome')}"
        if wanted == "error" and not data.get("errors"):
            yield f"{turn.text!r} fails without a word"
        if turn.usage and data.get("output_tokens") is None:
            yield f"{turn.text!r} has a usage that is not told"


def prompts(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """What was said to the agent, once and in order."""
    got = [event["text"] for event in events if event["type"] == "user_message" and not event.get("history")]
    if got != [turn.text for turn in facts.turns]:
        yield f"said {[turn.text for turn in facts.turns]}, shown {got}"


def permissions(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """Each request with its options, each ended once, as it was answered."""
    requests = [event for event in events if event["type"] == "permission_request"]
    if len(requests) != len(facts.asked):
        yield f"{len(facts.asked)} requests, {len(requests)} shown"
        return
    for number, (asked, event) in enumerate(zip(facts.asked, requests, strict=True)):
        options = [
            (option["optionId"], option["name"], option["kind"]) for option in asked["params"]["options"]
        ]
        got = [
            (option["option_id"], option["name"], option["kind"]) for option in event["permission_options"]
        ]
        if options != got:
            yield f"request {number}: options {got}"
        ends = [
            end
            for end in events
            if end["type"] in ("permission_resolved", "permission_cancelled")
            and end["pending_id"] == event["pending_id"]
        ]
        if len(ends) != 1:
            yield f"request {number}: {len(ends)} ends"
            continue
        answer = facts.answers.get(number, {})
        chosen = answer.get("result", {}).get("outcome", {}).get("optionId")
        if chosen is None and "error" not in answer:
            if ends[0]["type"] != "permission_cancelled":
                yield f"request {number}: nobody answered, the events say {ends[0]}"
        else:
            kind = {option["optionId"]: option["kind"] for option in asked["params"]["options"]}.get(
                chosen, "reject"
            )
            if ends[0].get("behavior") != ("allow" if kind.startswith("allow") else "deny"):
                yield f"request {number}: {kind}, the events say {ends[0]}"


def statuses(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """A call ends as it is told, but for what cannot be: refused, stopped, or with an exit code."""
    for event in events:
        if event["type"] != "tool_update" or event["tool_status"] == "running":
            continue
        call = facts.calls[event["session_id"], event["tool_call_id"]]
        code = exit_code(call)
        refused = call.asked is not None and not call.asked.startswith("allow")
        wanted = "error" if call.status != "completed" or refused or code not in (None, 0) else "complete"
        if call.status is None and not refused:
            continue
        if event["tool_status"] != wanted:
            yield f"{call.id} is {call.status}, {code}, {call.asked}; the events say {event['tool_status']}"
        if refused and event.get("reason") not in ("denied", "interrupted"):
            yield f"{call.id} was refused; the events say {event.get('reason')}"
        body = (event.get("normalized") or {}).get("shell_exec", {})
        if call.kind == "execute" and body and not refused and code is not None:
            got = body.get("output", {}).get("exit_code")
            if got != code:
                yield f"{call.id} exits with {code}; the events say {got}"


def exit_code(call: Call) -> int | None:
    """Look for an exit code in all the places where agents put one."""
    for meta in call.meta:
        code = meta.get("terminal_exit", {}).get("exit_code")
        if code is not None:
            return int(code)
    output = call.raw_output
    if isinstance(output, dict):
        for place in (output, output.get("metadata") or {}):
            for name in ("exit_code", "exitCode", "exit"):
                if isinstance(place.get(name), int):
                    return int(place[name])
        for item in output.get("contents") or []:
            if "exitCode" in item:
                return int(item["exitCode"])
    found = re.match(r"Exit code (\d+)", output) if isinstance(output, str) else None
    return int(found[1]) if found else None


def diffs_hold(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """A published diff, put to the text that was there, gives the text that is there now."""
    for event in events:
        if event["type"] != "tool_update" or event["tool_status"] != "complete":
            continue
        call = facts.calls[event["session_id"], event["tool_call_id"]]
        made = (event.get("normalized") or {}).get("modify_file", {}).get("mutations", [])
        told = [diff for diff in call.diffs if "newText" in diff]
        if told and len(made) != len(told):
            yield f"{call.id}: {len(told)} diffs, {len(made)} changes"
            continue
        for diff, mutation in zip(told, made, strict=False):
            old, new = diff.get("oldText") or "", diff.get("newText") or ""
            original: JsonObject = next(
                (m for meta in call.meta if (m := meta.get("claudeCode", {}).get("toolResponse"))), {}
            )
            if original.get("originalFile") and not mutation.get("relative"):
                before = original["originalFile"]
                after = before.replace(original["oldString"], original["newString"], 1)
            elif isinstance(call.raw_output, dict) and "detailedContent" in call.raw_output:
                if "-" + old.split("\n")[0] not in mutation["diff"].split("\n"):
                    yield f"{call.id}: {mutation['diff']!r} does not take {old!r} away"
                continue
            else:
                before, after = old, new
            try:
                got = apply(before, mutation.get("diff") or "")
            except ValueError as error:
                yield f"{call.id}: {error}: {mutation.get('diff')!r}"
                continue
            if got.rstrip("\n") != after.rstrip("\n"):
                yield f"{call.id}: {mutation.get('diff')!r} gives {got!r}, not {after!r}"


def apply(before: str, diff: str) -> str:
    """Put a unified diff to a text, by its line numbers; ValueError where the text is another."""
    if not diff:
        return before
    lines = before.split("\n")
    if lines[-1] == "":
        lines.pop()
    out: list[str] = []
    at = 0
    body = diff.split("\n")
    if body.pop() != "" or not body[0].startswith("--- ") or not body[1].startswith("+++ "):
        raise ValueError("no diff")
    for line in body[2:]:
        if line.startswith("@@"):
            found = re.match(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", line)
            if found is None:
                raise ValueError(f"no hunk: {line}")
            start = int(found[1]) - (int(found[2]) != 0)
            out += lines[at:start]
            at = start
        elif line.startswith("+"):
            out.append(line[1:])
        elif line.startswith(("-", " ")):
            if at >= len(lines) or lines[at] != line[1:]:
                raise ValueError(f"line {at + 1} is not {line[1:]!r}")
            out += [line[1:]] if line.startswith(" ") else []
            at += 1
        elif not line.startswith("\\"):
            raise ValueError(f"no line of a diff: {line!r}")
    return "\n".join([*out, *lines[at:]])


def plans_and_modes(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """Plans with their entries; the modes, each change told once."""
    got = [
        [item["description"] for item in event["items"]] for event in events if event["type"] == "agent_plan"
    ]
    if got != facts.plans:
        yield f"plans {facts.plans}, shown {got}"
    modes = [event["current_mode_id"] for event in events if event["type"] == "session_mode"]
    for mode in facts.modes:
        if mode not in modes:
            yield f"the mode {mode} is not told"


def commands(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """The commands that were listed last."""
    for session, names in facts.commands.items():
        listed = [e for e in events if e["type"] == "available_commands" and e["session_id"] == session]
        got = [command["name"] for command in listed[-1]["available_commands"]] if listed else []
        if got != names:
            yield f"{session}: {len(names)} commands, {len(got)} shown"

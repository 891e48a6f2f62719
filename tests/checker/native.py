"""An account of its own of agents' own JSON output: from the lines, with nothing but json.

It shares no code with the readers. `facts_of` says what the lines of one process tell; `violations` holds the published events against
it, and returns a sentence for each that disagrees.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]


@dataclass
class Call:
    """What the lines tell of a call."""

    command: str | None = None
    path: str | None = None
    exit_code: int | None = None
    output: str | None = None
    """A part of its output, where the lines tell it alone."""
    failed: bool | None = None
    error: str | None = None
    """A part of why it failed."""
    is_open: bool = True
    """No line tells its end."""


@dataclass
class Facts:
    """What the lines of one process tell."""

    text: str = ""
    thoughts: str = ""
    messages: dict[str, str] = field(default_factory=dict)
    """Texts by their ids, of wires that tell pieces and wholes."""
    calls: dict[str, Call] = field(default_factory=dict)
    received: int | None = None
    """Tokens that the model wrote, where the last turn tells them."""
    sent: int | None = None
    """Tokens that it read, those of its cache as well."""
    thread_received: int | None = None
    """Tokens that the model wrote in the conversation so far."""
    outcome: str | None = None
    """How the last turn ends; None where no line says so."""
    errors: list[tuple[str, int | None]] = field(default_factory=list)
    """Why turns failed: a part of the words, and the HTTP status."""
    retries: int = 0
    """Calls of the model that failed and were made again."""
    asked: int = 0
    """Permissions and answers that a human was asked for."""
    prompts: set[str] = field(default_factory=set)
    """Messages of the human, which are no text of the agent."""

    def call(self, name: str) -> Call:
        """Return a call by its id."""
        return self.calls.setdefault(name, Call())


def _gemini(facts: Facts, line: JsonObject) -> None:
    match line["type"]:
        case "message" if line["role"] == "assistant":
            facts.text += line["content"]
        case "tool_use":
            call = facts.call(line["tool_id"])
            call.command, call.path = line["parameters"].get("command"), line["parameters"].get("file_path")
        case "tool_result":
            call = facts.call(line["tool_id"])
            call.failed, call.is_open = line["status"] == "error", False
            call.output, call.error = line.get("output"), (line.get("error") or {}).get("message")
        case "result":
            facts.outcome = "error" if line["status"] == "error" else "completed"
            if line["status"] == "error":
                told = line["error"]["message"]
                inside = re.search(r'"code":(\d+),"message":"([^"]+)"', told)
                facts.errors.append(
                    (inside[2], int(inside[1]))
                    if inside
                    else (told.removeprefix("[API Error: ").rstrip("]"), None)
                )
            facts.sent, facts.received = line["stats"]["input_tokens"], line["stats"]["output_tokens"]
        case _:
            pass


def _droid(facts: Facts, line: JsonObject) -> None:
    match line["type"]:
        case "message" if line["role"] == "assistant":
            facts.text += line["text"]
        case "tool_call":
            call = facts.call(line["id"])
            call.command, call.path = line["parameters"].get("command"), line["parameters"].get("file_path")
        case "tool_result":
            call = facts.call(line["id"])
            call.failed = line["isError"]
            said = re.search(
                r"\[Process exited with code (-?\d+)\]", str(line.get("value") or line.get("error"))
            )
            call.exit_code, call.is_open = int(said[1]) if said else None, False
            if isinstance(line.get("value"), str) and not line["value"].startswith('{"success"'):
                call.output = re.sub(
                    r"\s*\[Process exited with code -?\d+\]\s*\Z|\ACommand completed successfully",
                    "",
                    line["value"],
                )
            elif said is None and line["isError"]:
                call.error = line["error"]["message"].removeprefix("Error: ").removeprefix("Error: ")
        case "error":
            if line["source"] != "cli":
                found = re.match(r"\d\d\d", line["message"])
                facts.errors.append((line["message"], int(found[0]) if found else None))
            facts.outcome = "error"
        case "completion":
            usage = line["usage"]
            facts.outcome, facts.received = "completed", usage["output_tokens"]
            facts.sent = usage["input_tokens"] + (usage.get("cache_read_input_tokens") or 0)
        case _:
            pass


def _kimi(facts: Facts, line: JsonObject) -> None:
    match line["role"]:
        case "assistant":
            facts.text += line.get("content") or ""
            for told in line.get("tool_calls") or []:
                arguments = json.loads(told["function"]["arguments"] or "{}")
                call = facts.call(told["id"])
                call.command, call.path = arguments.get("command"), arguments.get("path")
        case "tool":
            call = facts.call(line["tool_call_id"])
            said = re.search(r"Command failed with exit code: (\d+)", line["content"])
            call.exit_code, call.is_open = int(said[1]) if said else None, False
            call.output = re.sub(
                r"\s*(Command failed with exit code: \d+\.?|Session closed)\s*\Z", "", line["content"]
            )
        case "meta" if line["type"] == "turn.step.retrying":
            facts.retries += 1
        case "meta" if line["type"] == "session.resume_hint":
            facts.outcome = "completed"
        case _:
            pass


def _codex_exec(facts: Facts, line: JsonObject) -> None:
    match line["type"]:
        case "item.started" | "item.updated" | "item.completed":
            item = line["item"]
            is_over = line["type"] == "item.completed"
            if item["type"] == "agent_message" and is_over:
                facts.text += item["text"]
            elif item["type"] == "reasoning" and is_over:
                facts.thoughts += item["text"]
            elif item["type"] == "command_execution":
                call = facts.call(item["id"])
                words = shlex.split(item["command"])
                call.command = words[2] if words[1:2] == ["-lc"] else item["command"]
                call.exit_code = item["exit_code"]
                call.output, call.failed = item["aggregated_output"], item["status"] in ("failed", "declined")
                call.is_open = not is_over
            elif item["type"] == "file_change":
                call = facts.call(item["id"])
                call.path, call.failed = item["changes"][0]["path"], item["status"] == "failed"
                call.is_open = not is_over
            elif item["type"] == "mcp_tool_call":
                call = facts.call(item["id"])
                call.failed, call.is_open = item["status"] == "failed", not is_over
                call.output = "".join(
                    part.get("text", "") for part in (item["result"] or {}).get("content", [])
                )
                call.error = (item["error"] or {}).get("message")
        case "error":
            facts.retries += line["message"].startswith("Reconnecting")
        case "turn.completed":
            facts.outcome, facts.thread_received = "completed", line["usage"]["output_tokens"]
        case "turn.failed":
            facts.outcome = "error"
            found = re.search(r"status:? (\d{3})", line["error"]["message"])
            facts.errors.append((line["error"]["message"], int(found[1]) if found else None))
        case _:
            pass


def _codex_app_server(facts: Facts, line: JsonObject) -> None:
    told = line.get("params") or {}
    match line.get("method"):
        case "item/agentMessage/delta":
            facts.messages[told["itemId"]] = facts.messages.get(told["itemId"], "") + told["delta"]
        case "item/reasoning/summaryTextDelta":
            facts.thoughts += told["delta"]
        case "item/completed":
            item = told["item"]
            if item["type"] == "agentMessage":
                facts.messages[item["id"]] = item["text"]
            elif item["type"] == "commandExecution":
                words = shlex.split(item["command"])
                call = facts.call(item["id"])
                call.command = words[2] if words[1:2] == ["-lc"] else item["command"]
                call.exit_code, call.output = item["exitCode"], item["aggregatedOutput"]
                call.failed, call.is_open = item["status"] in ("failed", "declined"), False
            elif item["type"] == "fileChange":
                call = facts.call(item["id"])
                call.path = item["changes"][0]["path"]
                call.failed, call.is_open = item["status"] in ("failed", "declined"), False
            elif item["type"] == "mcpToolCall":
                call = facts.call(item["id"])
                call.failed, call.is_open = item["status"] == "failed", False
                call.output = "".join(
                    part.get("text", "") for part in (item["result"] or {}).get("content", [])
                )
        case "item/started" if told["item"]["type"] in ("commandExecution", "fileChange", "mcpToolCall"):
            facts.call(told["item"]["id"])
        case "error" if told["willRetry"]:
            facts.retries += 1
        case "error":
            of = told["error"].get("codexErrorInfo")
            (how,) = of.values() if isinstance(of, dict) else ({},)
            facts.errors.append((told["error"]["message"], how.get("httpStatusCode")))
        case str() as method if "id" in line and re.search(
            r"(?i)request(Approval|UserInput)|elicitation", method
        ):
            facts.asked += 1
        case "thread/tokenUsage/updated":
            facts.thread_received = told["tokenUsage"]["total"]["outputTokens"]
        case "turn/completed":
            facts.outcome = {"failed": "error"}.get(told["turn"]["status"], told["turn"]["status"])
        case _:
            pass


def _copilot(facts: Facts, line: JsonObject) -> None:
    told = line.get("data") or {}
    match line["type"]:
        case "assistant.message_delta":
            name = told["messageId"]
            facts.messages[name] = facts.messages.get(name, "") + told["deltaContent"]
        case "assistant.message":
            facts.messages[told["messageId"]] = told["content"]
        case "assistant.reasoning":
            facts.thoughts += told["content"]
        case "assistant.turn_retry":
            facts.retries += 1
        case "session.error":
            facts.errors.append((told["message"], told.get("statusCode")))
        case "tool.execution_start":
            call = facts.call(told["toolCallId"])
            call.command, call.path = told["arguments"].get("command"), told["arguments"].get("path")
        case "tool.execution_complete":
            call = facts.call(told["toolCallId"])
            call.failed = not told["success"]
            call.exit_code, call.is_open = told.get("shellExecution", {}).get("exitCode"), False
            if told["success"]:
                call.output = re.sub(
                    r"\s*<shellId: \S+ completed with exit code -?\d+>\s*\Z", "", told["result"]["content"]
                )
            else:
                call.error = told["error"]["message"]
        case "result":
            facts.outcome = "completed" if line["exitCode"] == 0 else "error"
        case "abort":
            facts.outcome = "interrupted"
        case _:
            pass


def _opencode_run(facts: Facts, line: JsonObject) -> None:
    part = line.get("part") or {}
    match line["type"]:
        case "text":
            facts.text += part["text"]
        case "reasoning":
            facts.thoughts += part["text"]
        case "tool_use":
            state, call = part["state"], facts.call(part["callID"])
            call.command, call.path = state["input"].get("command"), state["input"].get("filePath")
            call.exit_code = (state.get("metadata") or {}).get("exit")
            call.failed, call.is_open = state["status"] == "error", False
            call.output, call.error = state.get("output"), state.get("error")
        case "error":
            facts.outcome = "error"
            told = line["error"].get("data") or {}
            facts.errors.append((told.get("message") or line["error"]["name"], told.get("statusCode")))
        case "step_finish":
            facts.received = (facts.received or 0) + part["tokens"]["output"] + part["tokens"]["reasoning"]
        case _:
            pass


def _opencode_serve(facts: Facts, line: JsonObject) -> None:
    told = line.get("properties") or {}
    part, info = told.get("part") or {}, told.get("info") or {}
    match line["type"]:
        case "message.updated" if info["role"] == "user":
            facts.prompts.add(info["id"])
        case "message.part.delta" if told["field"] == "text":
            facts.messages[told["partID"]] = facts.messages.get(told["partID"], "") + told["delta"]
        case "message.part.updated" if part["messageID"] in facts.prompts:
            pass
        case "message.part.updated" if part["type"] == "text":
            facts.messages[part["id"]] = part["text"]
        case "message.part.updated" if part["type"] == "reasoning":
            facts.messages.pop(part["id"], None)
            facts.thoughts += part["text"] if "end" in part["time"] else ""
        case "message.part.updated" if part["type"] == "step-finish":
            facts.received = (facts.received or 0) + part["tokens"]["output"] + part["tokens"]["reasoning"]
        case "message.part.updated" if part["type"] == "tool" and part["state"]["status"] != "pending":
            state, call = part["state"], facts.call(part["callID"])
            call.command, call.path = state["input"].get("command"), state["input"].get("filePath")
            call.exit_code = (state.get("metadata") or {}).get("exit")
            call.failed, call.is_open = state["status"] == "error", state["status"] == "running"
            call.output, call.error = state.get("output"), state.get("error")
        case "permission.asked" | "question.asked":
            facts.asked += 1
        case "session.error" if told["error"]["name"] == "MessageAbortedError":
            facts.outcome = "interrupted"
        case "session.error":
            facts.outcome = "error"
            data = told["error"].get("data") or {}
            facts.errors.append((data.get("message") or told["error"]["name"], data.get("statusCode")))
        case "session.idle":
            facts.outcome = facts.outcome or "completed"
        case _:
            pass


def _cursor(facts: Facts, line: JsonObject) -> None:
    match line["type"]:
        case "assistant":
            facts.text += "".join(block["text"] for block in line["message"]["content"])
        case "thinking":
            facts.thoughts += line.get("text", "")
        case "tool_call":
            (body,) = line["tool_call"].values()
            call = facts.call(line["call_id"])
            call.command, call.path = body["args"].get("command"), body["args"].get("path")
            for how, told in body.get("result", {}).items():
                call.failed, call.exit_code, call.is_open = how != "success", told.get("exitCode"), False
                call.output = told.get("stdout")
        case "result":
            usage = line["usage"]
            facts.outcome, facts.received = (
                "error" if line["is_error"] else "completed",
                usage["outputTokens"],
            )
            facts.sent = usage["inputTokens"] + usage.get("cacheReadTokens", 0)
        case _:
            pass


WIRES: dict[str, Callable[[Facts, JsonObject], None]] = {
    "codex-app-server": _codex_app_server,
    "codex-exec": _codex_exec,
    "copilot": _copilot,
    "cursor-agent": _cursor,
    "droid": _droid,
    "gemini": _gemini,
    "kimi": _kimi,
    "opencode-run": _opencode_run,
    "opencode-serve": _opencode_serve,
}
"""The families that are read here."""


def facts_of(family: str, lines: list[bytes], stderr: str = "") -> Facts:
    """Read the lines of one process, which is of one of WIRES; Kimi's errors are on stderr alone."""
    facts = Facts()
    failed = (
        re.search(r"(?m)^error: failed to run prompt: (.+?(\d{3}) .+)$", stderr) if family == "kimi" else None
    )
    if failed is not None:
        facts.errors.append((failed[1], int(failed[2])))
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        WIRES[family](facts, value)
    facts.text += "".join(facts.messages.values())
    return facts


def violations(facts: Facts, events: list[JsonObject]) -> list[str]:
    """Return what the events say that the lines do not, or the other way round."""
    checks = (texts, calls_balance, calls_agree, outputs, turns, ends, errors, requests)
    return [f"{check.__name__}: {fault}" for check in checks for fault in check(facts, events)]


def texts(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """Texts and thoughts, each once and in order."""
    got = "".join(event["text"] for event in events if event["type"] == "message_chunk")
    if got != facts.text:
        yield f"the lines say {facts.text!r:.300}, the events {got!r:.300}"
    thought = "".join(event["reasoning_text"] for event in events if event["type"] == "reasoning")
    if facts.thoughts and thought != facts.thoughts:
        yield f"the lines think {facts.thoughts!r:.300}, the events {thought!r:.300}"


def calls_balance(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """One beginning and one end of each call, under the wire's own id."""
    begun = Counter(event["tool_call_id"] for event in events if event["type"] == "tool_call")
    ends = [event for event in events if event["type"] == "tool_update" and event["tool_status"] != "running"]
    ended = Counter(event["tool_call_id"] for event in ends)
    for name in facts.calls.keys() | begun.keys() | ended.keys():
        if (begun[name], ended[name]) != (1, 1):
            yield f"{name}: {begun[name]} beginnings, {ended[name]} ends"


def calls_agree(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """Commands, files, outputs, exit codes and failures."""
    for event in events:
        call = facts.calls.get(event.get("tool_call_id", ""))
        if event["type"] != "tool_update" or event["tool_status"] == "running" or call is None:
            continue
        body = event.get("normalized") or {}
        shell, file = body.get("shell_exec"), body.get("modify_file") or body.get("read_file")
        if shell is not None:
            output = shell.get("output") or {}
            if call.command not in (None, shell["command"]):
                yield f"{event['tool_call_id']} runs {call.command!r}, the events say {shell['command']!r}"
            if call.exit_code not in (None, output.get("exit_code")):
                yield f"{event['tool_call_id']} exits with {call.exit_code}, the events say {output.get('exit_code')}"
        if file is not None and call.path not in (None, file["file_path"]):
            yield f"{event['tool_call_id']} is of {call.path}, the events say {file['file_path']}"
        if call.failed and event["tool_status"] != "error":
            yield f"{event['tool_call_id']} failed, the events say {event['tool_status']}"


def strings(value: Any) -> Iterator[str]:
    """All texts inside a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def plain(words: str) -> str:
    """A text without what is around its lines: numbers, marks, blanks."""
    return re.sub(r"\s+", " ", re.sub(r"(?m)^\s*\d+[\t:|→]\s?", "", words)).strip()


def outputs(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """What each call has given, or why it failed, stands in the end of the call; of edits the diff does."""
    for event in events:
        call = facts.calls.get(event.get("tool_call_id", ""))
        if event["type"] != "tool_update" or event["tool_status"] == "running" or call is None:
            continue
        body = event.get("normalized") or {}
        given = body["shell_exec"].get("output") if "shell_exec" in body else body
        shown = plain(" ".join([*strings(given), event.get("error") or ""]))
        words = call.error if call.failed and call.error else call.output
        if facts.outcome == "interrupted" and call.failed:
            continue  # it is told as ended with its turn, before its own end is
        if {"modify_file", "manage_todos"} & {*(event.get("normalized") or {})}:
            words = call.error if call.failed else None
        if answers := (body.get("ask_user") or {}).get("answers"):
            # the agent says them to its model in a sentence of its own
            if [one for one in strings(answers) if one not in (words or "")]:
                yield f"{event['tool_call_id']} gives {words!r:.300}, the events the answers {answers!r:.300}"
            continue
        told = [plain(line) for line in (words or "").splitlines()]
        missing = [line for line in told if line not in shown and not re.match(r"<|\(End of file|\Z", line)]
        if missing:
            yield f"{event['tool_call_id']} gives {missing!r:.300}, the events {shown!r:.300}"


def ends(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """No turn is called complete whose last call has no end."""
    completes = [event["data"]["outcome"] for event in events if event["type"] == "complete"]
    if (
        facts.outcome is None
        and any(call.is_open for call in facts.calls.values())
        and completes[-1:] == ["completed"]
    ):
        yield "a call has no end, and the turn is completed"


def errors(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """Why turns failed: the words with their status, each once; and no error that no line tells."""
    failed = [event for event in events if event["type"] == "error" and event.get("code") != "process_exited"]
    got = [(event["error"], event.get("status")) for event in failed]
    if len(got) != len(facts.errors):
        yield f"the lines tell {facts.errors!r:.300}, the events {got!r:.300}"
    for (words, status), (shown, told) in zip(facts.errors, got, strict=False):
        if words not in shown or status not in (None, told):
            yield f"the lines tell {words!r:.200} with {status}, the events {shown!r:.200} with {told}"


def requests(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """What a human was asked, and how often a call of the model was made again."""
    asked = sum(
        event["type"] in ("permission_request", "question_request", "plan_request") for event in events
    )
    if asked != facts.asked:
        yield f"{facts.asked} requests are in the lines, {asked} in the events"
    retries = sum(event["type"] == "api_retry" for event in events)
    if retries != facts.retries:
        yield f"{facts.retries} retries are in the lines, {retries} in the events"


def turns(facts: Facts, events: list[JsonObject]) -> Iterator[str]:
    """Each turn ends once, the last one as the lines say, with its tokens."""
    started = [event["operation_id"] for event in events if event["type"] == "turn_started"]
    completes = [event for event in events if event["type"] == "complete"]
    if [event["operation_id"] for event in completes] != started:
        yield f"{started} start, {[event['operation_id'] for event in completes]} end"
    if not completes:
        return
    data = completes[-1]["data"]
    if facts.outcome not in (None, data["outcome"]):
        yield f"the turn ends {facts.outcome}, the events say {data['outcome']}"
    if facts.received not in (None, data.get("output_tokens")):
        yield f"{facts.received} tokens were written, the events say {data.get('output_tokens')}"
    read = (data.get("input_tokens") or 0) + (data.get("cache_read_input_tokens") or 0)
    if facts.sent not in (None, read):
        yield f"{facts.sent} tokens were read, the events say {read}"
    if facts.thread_received not in (None, data.get("total_output_tokens")):
        yield f"{facts.thread_received} tokens in all, the events say {data.get('total_output_tokens')}"


def files_after(listing: str, events: list[JsonObject], argv: str = "") -> Iterator[str]:
    """Yield where edits that succeeded and the files of `files-after.txt` differ.

    What an edit has written is there; what git calls changed was edited, or named by a call that
    succeeded. What the command line names was there before.
    """
    parts = re.split(r"(?m)^--- (.+?)(?: \(\d+ bytes\))?\n", listing)
    files = dict(zip(parts[1::2], parts[2::2], strict=True))
    last: dict[str, JsonObject] = {}
    counts: Counter[str] = Counter()
    for event in events:
        made = (event.get("normalized") or {}).get("modify_file")
        if made is not None and event["type"] == "tool_update" and event["tool_status"] == "complete":
            for change in made["mutations"]:
                name = (change.get("file_path") or made["file_path"]).rpartition("/")[2]
                last[name] = change
                counts[name] += 1
    done = [event.get("normalized") for event in events if event.get("tool_status") == "complete"]
    for name in re.findall(r"(?m)^(?: M|M |\?\?|A | D) (?:.*/)?([^/\n]+)$", parts[0]):
        if name not in last and name not in json.dumps(done) + argv:
            yield f"git says that {name} was changed, and no call tells it"
    for name, change in last.items():
        text = next((text for path, text in files.items() if path.rpartition("/")[2] == name), None)
        if change["type"] == "delete":
            if text is not None:
                yield f"{name} is told as deleted, and is there"
            continue
        if counts[name] == 1 and not change.get("relative"):
            yield from misplaced(name, change.get("diff") or "", (text or "").splitlines())
        added = [line[1:] for line in (change.get("diff") or "").splitlines()[2:] if line.startswith("+")]
        missing = [line for line in added if line not in (text or "").splitlines()]
        if text is None or missing:
            yield f"{name} has not {missing!r:.200}"


def misplaced(name: str, diff: str, lines: list[str]) -> Iterator[str]:
    """Yield the lines of a diff that are not where its numbers say, in the file after the change."""
    at = 0
    for line in diff.splitlines()[2:]:
        begins = re.match(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@", line)
        if begins:
            at = int(begins[1]) - 1
        elif line[:1] in ("+", " "):
            if line[1:] and lines[at : at + 1] != [line[1:]]:
                yield f"line {at + 1} of {name} is {lines[at : at + 1]}, the diff says {line[1:]!r:.200}"
            at += 1

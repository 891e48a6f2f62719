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
            facts.call(line["tool_id"]).failed = line["status"] == "error"
        case "result":
            facts.outcome = "error" if line["status"] == "error" else "completed"
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
            call.exit_code = int(said[1]) if said else None
        case "error":
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
            call.exit_code = int(said[1]) if said else None
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
            elif item["type"] == "file_change":
                call = facts.call(item["id"])
                call.path, call.failed = item["changes"][0]["path"], item["status"] == "failed"
            elif item["type"] == "mcp_tool_call":
                facts.call(item["id"]).failed = item["status"] == "failed"
        case "turn.completed":
            facts.outcome = "completed"
        case "turn.failed":
            facts.outcome = "error"
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
                call.failed = item["status"] in ("failed", "declined")
            elif item["type"] == "fileChange":
                call = facts.call(item["id"])
                call.path = item["changes"][0]["path"]
                call.failed = item["status"] in ("failed", "declined")
            elif item["type"] == "mcpToolCall":
                facts.call(item["id"]).failed = item["status"] == "failed"
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
        case "tool.execution_start":
            call = facts.call(told["toolCallId"])
            call.command, call.path = told["arguments"].get("command"), told["arguments"].get("path")
        case "tool.execution_complete":
            call = facts.call(told["toolCallId"])
            call.failed = not told["success"]
            call.exit_code = told.get("shellExecution", {}).get("exitCode")
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
            call.failed = state["status"] == "error"
        case "error":
            facts.outcome = "error"
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
                call.failed, call.exit_code = how != "success", told.get("exitCode")
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
}
"""The families that are read here."""


def facts_of(family: str, lines: list[bytes]) -> Facts:
    """Read the lines of one process, which is of one of WIRES."""
    facts = Facts()
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
    checks = (texts, calls_balance, calls_agree, turns)
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
            if (call.output or "") not in (output.get("stdout") or ""):
                yield f"{event['tool_call_id']} prints {call.output!r:.200}, the events say {output!r:.200}"
        if file is not None and call.path not in (None, file["file_path"]):
            yield f"{event['tool_call_id']} is of {call.path}, the events say {file['file_path']}"
        if call.failed and event["tool_status"] != "error":
            yield f"{event['tool_call_id']} failed, the events say {event['tool_status']}"


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


def files_after(listing: str, events: list[JsonObject]) -> Iterator[str]:
    """Yield what edits that succeeded have written and the files of `files-after.txt` have not."""
    parts = re.split(r"(?m)^--- (.+) \(\d+ bytes\)\n", listing)
    files = dict(zip(parts[1::2], parts[2::2], strict=True))
    last: dict[str, JsonObject] = {}
    for event in events:
        made = (event.get("normalized") or {}).get("modify_file")
        if made is not None and event["type"] == "tool_update" and event["tool_status"] == "complete":
            for change in made["mutations"]:
                last[(change.get("file_path") or made["file_path"]).rpartition("/")[2]] = change
    for name, change in last.items():
        text = next((text for path, text in files.items() if path.rpartition("/")[2] == name), None)
        if change["type"] == "delete":
            if text is not None:
                yield f"{name} is told as deleted, and is there"
            continue
        added = [line[1:] for line in (change.get("diff") or "").splitlines()[2:] if line.startswith("+")]
        missing = [line for line in added if line not in (text or "").splitlines()]
        if text is None or missing:
            yield f"{name} has not {missing!r:.200}"

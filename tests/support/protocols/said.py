"""What each door says of a conversation, read by its official parser, and how that differs from the native frames."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from ag_ui.encoder import EventEncoder

from acp_updates import valid
from agui_runs import Player
from npm_workspace import run
from recordings import ROOT
from turnwire.client import events as ev
from turnwire.client.payloads import ShellExecPayload
from turnwire.frontends.acp.dialogs import DialogCapabilities, dialog
from turnwire.frontends.acp.encoder import Encoder
from turnwire.frontends.acp.tool_calls import ToolCalls
from turnwire.frontends.ai_sdk.chat import encoded
from turnwire.frontends.ai_sdk.encoder import Turn

HANG = 600.0
"""Seconds that a reader may take: far above what it needs."""
Session = list[ev.AgentEvent]


@dataclass
class Said:
    """What somebody learns of a conversation."""

    text: str = ""
    """The agent's own, in its order, without blanks: doors break it up in their own ways."""
    calls: set[str] = field(default_factory=set)
    statuses: dict[str, str] = field(default_factory=dict)
    """How each call ended: complete or error."""
    exits: dict[str, int] = field(default_factory=dict)
    """Exit codes of commands, as far as they are known."""
    asked: set[str] = field(default_factory=set)
    """Ids of what was asked: permissions and questions."""
    plan: list[str] = field(default_factory=list)
    """The plan that was told last: its entries, or its words."""


def called(session: Session) -> set[str]:
    """The calls that were told by themselves, without those of messages that were taken back."""
    gone: set[str | None] = set()
    for event in session:
        if isinstance(event, ev.Retraction):
            gone |= {*(event.message_ids or ()), *(event.message_uuids or ())}
    return {
        event.tool_call_id
        for event in session
        if isinstance(event, ev.ToolCall) and event.message_id not in gone
    }


def joined(texts: Iterable[str]) -> str:
    return "".join("".join(texts).split())


def within_turns(session: Session) -> list[Session]:
    """The events of each turn."""
    found: list[Session] = []
    open_ = False
    for event in session:
        if isinstance(event, ev.TurnStarted):
            found.append([])
            open_ = True
        if open_:
            found[-1].append(event)
        if isinstance(event, ev.Complete):
            open_ = False
    return found


def native(session: Session, *, subagents: bool = False, takes_back: bool = True) -> Said:
    """What the hub's own frames say, with what subagents say, or without what is taken back later."""
    said = Said()
    texts: dict[tuple[Any, Any], str] = {}
    plans: dict[str | None, list[str]] = {}
    for seq, event in enumerate(session):
        match event:
            case ev.MessageChunk() if subagents or event.parent_tool_call_id is None:
                key = (event.message_id or seq, event.block_index)
                texts[key] = event.text if event.replace else texts.get(key, "") + event.text
            case ev.Retraction() if takes_back:
                gone = {*(event.message_ids or ()), *(event.message_uuids or ())}
                texts = {key: text for key, text in texts.items() if key[0] not in gone}
            case ev.ToolCall():
                said.calls.add(event.tool_call_id)
            case ev.ToolUpdate():
                said.calls.add(event.tool_call_id)
                if event.tool_status != "running":
                    said.statuses[event.tool_call_id] = event.tool_status
                match event.normalized:
                    case ShellExecPayload(shell_exec=shell) if (
                        event.tool_status != "running"
                        and shell.output is not None
                        and shell.output.exit_code is not None
                    ):
                        said.exits[event.tool_call_id] = shell.output.exit_code
            case ev.PermissionRequest() | ev.QuestionRequest():
                said.asked.add(event.pending_id)
            case ev.AgentPlan():
                plans.pop(event.plan_id, None)
                if told := planned(event.items, event.plan_content):
                    plans[event.plan_id] = told
            case _:
                pass
    said.text = joined(texts.values())
    said.plan = next(reversed(plans.values()), [])
    return said


def planned(items: Any, content: str) -> list[str]:
    if items is None:
        return [content] if content else []
    return [str(item["description"] if isinstance(item, dict) else item.description) for item in items]


def take_update(said: Said, update: dict[str, Any]) -> None:
    """Take an update of ACP, but for plans: to-do lists are told by the same."""
    ours = update.get("_meta", {}).get("turnwire", {})
    match update["sessionUpdate"]:
        case "agent_message_chunk" if not {"event", "parentToolCallId"} & ours.keys():
            said.text += joined([update["content"]["text"]])
        case "tool_call" | "tool_call_update":
            call = update["toolCallId"]
            said.calls.add(call)
            if update.get("status") in {"completed", "failed"}:
                said.statuses[call] = "complete" if update["status"] == "completed" else "error"
                code = update["_meta"].get("terminal_exit", {}).get("exit_code")
                if code is not None:
                    said.exits[call] = code
        case _:
            pass


def by_acp(session: Session) -> Said:
    """What ACP's official models read of the updates and requests."""
    said = Said()
    encoder = Encoder(cwd="/workspace/project", shows_terminals=True)
    for event in session:
        for update in map(valid, encoder.handle(event)):
            take_update(said, update)
            if isinstance(event, ev.AgentPlan):
                match update["sessionUpdate"]:
                    case "tool_call" | "tool_call_update":
                        said.plan = [update["content"][0]["content"]["text"]]
                    case "plan":
                        said.plan = [entry["content"] for entry in update["entries"]]
                    case _:
                        pass
        if isinstance(event, ev.PermissionRequest | ev.QuestionRequest):
            _, params = dialog(event, ToolCalls(), DialogCapabilities(form=True, url=True)).request()
            assert params
            said.asked.add(event.pending_id)
    return said


def of_agui(line: dict[str, Any]) -> Said:
    """What AG-UI's client has: its messages, its state, and what it was told of calls and interrupts."""
    messages, state = line["messages"], line["state"].get("turnwire", {})
    results = [each for told in line["told"] for each in told["results"]]
    plan = state.get("plan")
    return Said(
        joined(each["content"] for each in messages if each["role"] == "assistant" and each.get("content")),
        {call["id"] for each in messages for call in each.get("toolCalls", ())},
        {call: status for call, status, _ in results},
        {call: code for call, _, code in results if code is not None},
        {each for told in line["told"] for each in told["asked"]},
        planned(plan.get("items"), plan["plan_content"]) if plan else [],
    )


async def by_agui(folder: Path, sessions: dict[str, Session]) -> dict[str, Said]:
    """What AG-UI's own client, 1.0, makes of the runs."""
    encode = EventEncoder().encode
    file = folder / "runs.jsonl"
    with file.open("w") as out:
        for name, session in sessions.items():
            runs = [
                {"resume": told.resume, "body": "".join(map(encode, told.events))}
                for told in Player("1.0").play(session)
            ]
            out.write(json.dumps({"name": name, "client": "1.0.0", "runs": runs}) + "\n")
    printed = await run("node", ROOT / "tests/frontends/agui/consume.mjs", file, seconds=HANG)
    lines = map(json.loads, printed.removesuffix("\n").split("\n"))
    return {line["name"]: of_agui(line) for line in lines}


def take_parts(said: Said, parts: Iterable[dict[str, Any]], plans: dict[str, list[str]]) -> None:
    """Take the parts of a UI message, and the plans that they tell."""
    for part in parts:
        match part["type"]:
            case "text":
                said.text += joined([part["text"]])
            case "dynamic-tool":
                call = part["toolCallId"]
                said.calls.add(call)
                ended = {
                    "output-available": "complete",
                    "output-error": "error",
                    "output-denied": "error",
                }
                denied = (part.get("approval") or {}).get("approved") is False
                if part["state"] in ended or denied:
                    said.statuses[call] = ended.get(part["state"], "error")
                ours = (part.get("toolMetadata") or {}).get("turnwire", {})
                shell = ours.get("normalized", {}).get("shell_exec", {})
                if part["state"] in ended and (code := shell.get("output", {}).get("exit_code")) is not None:
                    said.exits[call] = code
            case "data-permission" | "data-question":
                said.asked.add(part["id"])
            case "data-plan":
                plans.pop(part["id"], None)
                if told := planned(part["data"].get("items"), part["data"]["plan_content"]):
                    plans[part["id"]] = told
            case _:
                pass
    said.plan = next(reversed(plans.values()), [])


async def by_ai_sdk(folder: Path, sessions: dict[str, Session]) -> dict[str, Said]:
    """What the AI SDK's own reader makes of the responses, one for each turn."""
    file = folder / "bodies.jsonl"
    with file.open("w") as out:
        for name, session in sessions.items():
            for number, turn in enumerate(within_turns(session)):
                encoder = Turn(f"turn-{number}")
                chunks = encoder.start()
                for event in turn:
                    chunks += encoder.handle(event)
                body = (encoded(chunks) + b"data: [DONE]\n\n").decode()
                out.write(json.dumps({"name": name, "body": body}) + "\n")
    printed = await run("node", ROOT / "tests/frontends/ai_sdk/consume.mjs", file, seconds=HANG)
    found = {name: Said() for name in sessions}
    plans: dict[str, dict[str, list[str]]] = {name: {} for name in sessions}
    for line in map(json.loads, printed.removesuffix("\n").split("\n")):
        if line["message"]:
            take_parts(found[line["name"]], line["message"]["parts"], plans[line["name"]])
    return found


BACKGROUND = {"in the background", "completed", "stopped", "killed"}
"""Words on the card of a call that returned, and left a task behind."""


async def by_element(folder: Path, sessions: dict[str, Session]) -> dict[str, Said]:
    """What the element shows. A command that ended with 0 has no code on its card."""
    file = folder / "logs.jsonl"
    with file.open("wb") as out:
        for name, session in sessions.items():
            out.write(msgspec.json.encode({"name": name, "events": session}) + b"\n")
    printed = await run("node", ROOT / "clients/element/test/shown.mjs", file, seconds=HANG)
    found: dict[str, Said] = {}
    for line in map(json.loads, printed.removesuffix("\n").split("\n")):
        assert line["wrong"] == [], f"{line['name']}: {line['wrong']}"
        said = found[line["name"]] = Said(joined(line["texts"]), asked=set(line["asked"]), plan=line["plan"])
        for call in line["calls"]:
            said.calls.add(call["id"])
            if call["tone"] == "good" or (call["tone"] == "plain" and call["word"] in BACKGROUND):
                said.statuses[call["id"]] = "complete"
            elif call["tone"] == "bad":
                said.statuses[call["id"]] = "error"
            if call["exit"] is not None:
                said.exits[call["id"]] = call["exit"]
    return found


async def differences(folder: Path, sessions: dict[str, Session]) -> list[str]:
    """Where a door says something else than the native frames."""
    agui, ai_sdk, element = await asyncio.gather(
        by_agui(folder, sessions), by_ai_sdk(folder, sessions), by_element(folder, sessions)
    )
    wrong: list[str] = []
    for name, session in sessions.items():
        turns = [event for turn in within_turns(session) for event in turn]
        # AG-UI tells the end of a call that ended between runs by a message alone, and has no call that was never told or is gone
        of_agui, ended = native(session, subagents=True), agui[name].statuses.keys()
        of_agui.calls = called(session)
        of_agui.statuses = {call: how for call, how in of_agui.statuses.items() if call in ended}
        of_agui.exits = {call: code for call, code in of_agui.exits.items() if call in ended}
        of_element = native(session)
        of_element.exits = {call: code for call, code in of_element.exits.items() if code != 0}
        for door, said, told in (
            ("acp", by_acp(session), native(session, takes_back=False)),
            ("agui", agui[name], of_agui),
            ("ai_sdk", ai_sdk[name], native(turns)),
            ("element", element[name], of_element),
        ):
            wrong += [
                f"{name} {door} {what}: {getattr(said, what)} for {expected}"
                for what, expected in vars(told).items()
                if getattr(said, what) != expected
            ]
    return wrong

"""AG-UI's own clients consume every recording: @ag-ui/client 1.0, and 0.0.59, which CopilotKit has."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ag_ui.encoder import EventEncoder

from agui_runs import Player, Told
from npm_workspace import run
from recordings import ROOT
from turnwire.client import events
from turnwire.client.events import AgentEvent

GOLDENS = ROOT / "tests" / "normalize"
HANG = 600.0
"""Seconds that the clients may take: far above what they need."""
CLIENTS = {"1.0.0": "1.0", "0.0.59": None}
"""The clients, and what they say of themselves in `protocolVersion`."""

read = msgspec.json.Decoder(AgentEvent).decode


def recorded(pattern: str) -> dict[str, list[AgentEvent]]:
    """The events of each recording whose golden is there."""
    return {
        str(path.relative_to(GOLDENS)): [read(line) for line in path.read_bytes().splitlines()]
        for path in sorted(GOLDENS.glob(pattern))
    }


async def consumed(folder: Path, everything: dict[tuple[str, str], list[Told]]) -> dict[tuple[str, str], Any]:
    """What the clients made of runs, in one process of Node."""
    encode = EventEncoder().encode
    file = folder / "runs.jsonl"
    with file.open("w") as out:
        for (name, client), runs in everything.items():
            bodies = [{"resume": told.resume, "body": "".join(map(encode, told.events))} for told in runs]
            out.write(json.dumps({"name": name, "client": client, "runs": bodies}) + "\n")
    printed = await run("node", ROOT / "tests" / "frontends" / "agui" / "consume.mjs", file, seconds=HANG)
    return {
        (each["name"], each["client"]): each
        for each in map(json.loads, printed.removesuffix("\n").split("\n"))
    }


def native(session: list[AgentEvent]) -> dict[str, Any]:
    """What the events say, counted without the encoder."""
    texts: dict[Any, str] = {}
    results, ended, gone, called = {}, [], set(), set()
    for seq, event in enumerate(session):
        match event:
            case events.MessageChunk():
                key = (event.message_id or seq, event.block_index)
                texts[key] = event.text if event.replace else texts.get(key, "") + event.text
            case events.ToolCall():
                called.add(event.tool_call_id)
            case events.ToolUpdate() if event.tool_status != "running" and event.tool_call_id in called:
                results[event.tool_call_id] = event.tool_status
            case events.Complete():
                ended.append(event.data.outcome)
            case events.Retraction():
                gone |= {*(event.message_ids or ()), *(event.message_uuids or ())}
            case _:
                pass
    return {
        "text": sorted(text for (message, _), text in texts.items() if message not in gone),
        "results": results,
        "ended": Counter(ended),
        "calls": sorted(
            event.tool_call_id
            for event in session
            if isinstance(event, events.ToolCall) and event.message_id not in gone
        ),
    }


OUTCOMES = {"completed": "success", "interrupted": "cancelled"}
"""How a run ends with a turn's outcome; all others are a RUN_ERROR with the outcome as its code."""


@pytest.mark.node
@pytest.mark.parametrize(
    "pattern", ["goldens/2.1.330/perm-*.jsonl", pytest.param("**/goldens/**/*.jsonl", marks=pytest.mark.long)]
)
async def test_its_own_clients_consume_every_recording_without_a_complaint(
    pattern: str, tmp_path: Path
) -> None:
    sessions = recorded(pattern)
    everything = {
        (name, client): Player(version).play(session)
        for name, session in sessions.items()
        for client, version in CLIENTS.items()
    }
    made = await consumed(tmp_path, everything)
    assert made.keys() == everything.keys()
    for (name, client), found in made.items():
        where = f"{name} with {client}"
        assert found["complaints"] == [], where
        for told, there in zip(everything[name, client], found["told"], strict=True):
            assert there["ids"] == told.ids, where
        expected = native(sessions[name])
        messages = found["messages"]
        text = [each["content"] for each in messages if each["role"] == "assistant" and "content" in each]
        assert sorted(text) == expected["text"], where
        calls = [call["id"] for each in messages for call in each.get("toolCalls", ())]
        assert sorted(calls) == expected["calls"], where
        results = {call: status for there in found["told"] for call, status, _ in there["results"]}
        assert {call: status for call, status in expected["results"].items() if call in results} == results, (
            where
        )
        answered = {each["toolCallId"] for each in messages if each["role"] == "tool"}
        assert answered == expected["results"].keys(), where
        assert found["state"]["turnwire"]["session"] == "s1"
        if client == "1.0.0":
            ended = Counter(each for there in found["told"] for each in there["ended"])
            # a look, and the last one, are a success of their own
            ended["success"] -= (
                sum(len(there["ended"]) for there in found["told"])
                - sum(expected["ended"].values())
                - ended["interrupt"]
            )
            del ended["interrupt"]
            assert +ended == Counter(
                {OUTCOMES.get(each, each): n for each, n in expected["ended"].items()}
            ), where

"""A conversation that was begun without turnwire, then found, opened, gone on with and branched off through it: the real CLI, offline."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from terminal import in_a_terminal

from live import Frontend, real_setup
from real_cli import by_hand
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client import CommandFailed, commands, connect
from turnwire.client.events import Complete, Cut, MessageChunk, ToolUpdate, UserMessage
from turnwire_process import DEADLINE, turnwire


def asked(body: dict[str, Any]) -> str:
    """All that the model was sent."""
    return json.dumps(body["messages"])


@pytest.mark.long
async def test_a_conversation_begun_without_turnwire_is_found_opened_resumed_and_forked(
    tmp_path: Path,
) -> None:
    (tmp_path / "project").mkdir()
    with scripted_messages_api() as api:
        first = plan(
            [text("I look."), tool_use("Bash", command="echo seen", description="Look")],
            [text("The violet window is shut.")],
            note="What of the window?",
        )
        lines = await by_hand(tmp_path, api.url, first, "And the door?")
        results = [line for line in lines if line["type"] == "result"]
        conversation = str(results[-1]["session_id"])
        setup = real_setup(tmp_path, api, str)
        config = tmp_path / "turnwire.toml"
        config.write_text(f"[agents]\nclaude = {json.dumps(list(setup.argv))}\n")
        files = list((tmp_path / "home" / ".claude" / "projects").glob(f"*/{conversation}.jsonl"))
        kept = files[0].read_bytes()
        options = ("serve", "--config", str(config))
        env = {**setup.env, "TURNWIRE_FRONTEND_WORKSPACES": str(tmp_path / "project")}
        async with turnwire(tmp_path, *options, env=env) as served, connect(served.url) as client:
            listed = await ask(client, commands.LibraryList())
            (one,) = listed["conversations"]
            assert (one["id"], one["turns"], one["folder"]) == (conversation, 2, str(tmp_path / "project"))
            assert one["cost_usd"] == pytest.approx(results[-1]["total_cost_usd"])
            (hit,) = [
                hit
                for hit in (await ask(client, commands.LibrarySearch(text="violet shut")))["hits"]
                if hit["kind"] == "text"
            ]
            assert (hit["source"], hit["id"]) == ("library", conversation)

            opened = (await ask(client, commands.LibraryOpen(conversation=conversation)))["session"]
            assert files[0].read_bytes() == kept
            frontend = await Frontend(client, opened).caught_up()
            assert [message.text for message in frontend.seen(UserMessage)] == [first, "And the door?"]
            assert frontend.text() == "I look.The violet window is shut.ok: And the door?"
            assert [update.tool_status for update in frontend.seen(ToolUpdate)] == ["complete"]
            assert len(frontend.seen(Complete)) == 2

            complete = await frontend.turn(plan([text("It is open.")], note="And the roof?"))
            assert (complete.operation_id, complete.session_id) == ("turn-3", conversation)
            assert "The violet window is shut." in asked(api.requests[-1])

            back = frontend.seen(Complete)[0].data.resume_token
            fork = Frontend(client, await client.fork(opened, at=back))
            await fork.until(Complete)
            assert fork.text() == "I look.The violet window is shut."
            branch = await fork.turn(plan([text("Another way.")], note="Or the floor?"))
            assert branch.session_id != conversation
            sent = asked(api.requests[-1])
            assert "The violet window is shut." in sent
            assert "And the door?" not in sent

            await client.resume(opened, at=back)
            await frontend.turn(plan([text("Once more.")], note="The cellar?"))
            (cut,) = frontend.seen(Cut)
            assert (cut.reason, cut.at, cut.void_turns) == ("rewind", back, ["turn-2", "turn-3"])
            hits = (await ask(client, commands.LibrarySearch(text="roof")))["hits"]
            assert {(hit["source"], hit["id"]) for hit in hits} == {("live", opened)}
            await all_counted(client, api.requests)


@pytest.mark.long
async def test_a_conversation_in_a_terminal_is_followed_there_and_gone_on_with_once_its_window_is_closed(
    tmp_path: Path,
) -> None:
    (tmp_path / "project").mkdir()
    with scripted_messages_api() as api:
        api.model = lambda prompt, results: [text(f"answer-to-{prompt.split()[-1]}")]
        setup = real_setup(tmp_path, api, str)
        config = tmp_path / "turnwire.toml"
        config.write_text(f"[agents]\nclaude = {json.dumps(list(setup.argv))}\n")
        env = {**setup.env, "TURNWIRE_FRONTEND_WORKSPACES": str(tmp_path / "project")}
        async with (
            turnwire(tmp_path, "serve", "--config", str(config), env=env) as served,
            connect(served.url) as client,
        ):
            async with in_a_terminal(tmp_path, api.url, "What of the attic") as terminal:
                await terminal.until("answer-to-attic")
                one = await listed_at_last(client)
                assert one["running"]
                assert one["first_prompt"] == "What of the attic"
                opened = (await ask(client, commands.LibraryOpen(conversation=one["id"])))["session"]
                frontend = await Frontend(client, opened).caught_up()
                with pytest.raises(CommandFailed) as refused:
                    await frontend.prompt("From elsewhere")
                assert refused.value.code == "followed"
                await terminal.type("And of the stable")
                await frontend.until(MessageChunk, lambda chunk: chunk.text == "answer-to-stable")
            # the turn's end is known when nobody writes there any more
            await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 2)
            prompts = [message.text for message in frontend.seen(UserMessage)]
            assert prompts == ["What of the attic", "And of the stable"]
            complete = await frontend.turn("And of the orchard")
            assert (complete.operation_id, complete.session_id) == ("turn-3", one["id"])
            assert "answer-to-stable" in asked(api.requests[-1])
            (hit,) = [
                hit
                for hit in (await ask(client, commands.LibrarySearch(text="answer stable")))["hits"]
                if hit["kind"] == "text"
            ]
            assert hit["id"] in (opened, one["id"])
            await all_counted(client, api.requests)


async def listed_at_last(client: Any) -> dict[str, Any]:
    """The one conversation that is listed, as soon as it is."""
    listed = await ask(client, commands.LibraryList())
    async with asyncio.timeout(DEADLINE):
        while not listed["conversations"]:
            listed = await ask(client, commands.LibraryList(known=listed["version"]))
    (one,) = listed["conversations"]
    assert isinstance(one, dict)
    return one


async def all_counted(client: Any, requests: Sequence[dict[str, Any]]) -> None:
    """Wait until every answer is in the usage: some versions write the last one to the file after they have told its turn's end."""
    version = None
    async with asyncio.timeout(DEADLINE):
        while True:
            listed = await ask(client, commands.LibraryList(known=version))
            (spent,) = (await ask(client, commands.LibraryUsage(by=["agent"])))["usage"]
            assert spent["answers"] <= len(answered(requests))
            if spent["answers"] == len(answered(requests)):
                return
            version = listed["version"]


def answered(requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The requests whose answers are in a conversation: not those for titles."""
    return [body for body in requests if body.get("tools")]


async def ask(client: Any, command: commands.AnyCommand) -> dict[str, Any]:
    """The result of a command."""
    result: dict[str, Any] = msgspec.to_builtins(await client.command(command))
    return result

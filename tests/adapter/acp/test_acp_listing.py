"""Agents that list the conversations they keep themselves, asked and stopped again."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from acp_stage import AGENT, HANG, QUICK, AcpStage
from msgspec.structs import replace

from turnwire.adapter.acp.listing import PAGES, list_conversations
from turnwire.adapter.family import KeptConversation
from turnwire.adapter.options import CommandOptions, SessionOptions
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.normalize import events as ev


def asked(folder: Path, *ways: str) -> SessionOptions:
    return SessionOptions(
        workspace=folder,
        family="acp",
        executable=(sys.executable, "-I", str(AGENT), *ways),
        environment={"PATH": "/usr/bin:/bin"},
        initialize_deadline=HANG,
        stop=QUICK,
    )


async def told(folder: Path, *ways: str, most: int = 100) -> Sequence[KeptConversation]:
    return await list_conversations(asked(folder, *ways), most)


async def test_all_pages_are_asked_for_and_what_is_odd_in_them_is_passed_over(tmp_path: Path) -> None:
    first = KeptConversation(
        id="agent-session-1", folder=str(tmp_path), title="An old one", updated="2026-11-22T10:00:00.5Z"
    )
    older = KeptConversation(id="older", folder="/elsewhere", title=None, updated="no time")
    assert await told(tmp_path, "lists") == [first, older]
    assert await told(tmp_path, "lists", most=1) == [first]


async def test_an_agent_whose_pages_do_not_end_is_asked_for_some(tmp_path: Path) -> None:
    assert len(await told(tmp_path, "lists-endlessly", most=10_000)) == PAGES


async def test_an_agent_that_lists_none_or_says_nothing_costs_its_deadline_at_most(tmp_path: Path) -> None:
    with pytest.raises(RequestFailed, match="Tester does not list its conversations"):
        await told(tmp_path)
    with pytest.raises(RequestTimeout, match="initialize"):
        await list_conversations(replace(asked(tmp_path, "mute"), initialize_deadline=0.05), 10)
    broken = replace(asked(tmp_path), executable=("/bin/sh", "-c", "echo it is broken >&2; exit 3"))
    with pytest.raises(ProcessGone, match="ended"):
        await list_conversations(broken, 10)


@pytest.mark.parametrize(("tell", "method"), [(True, "session/load"), (False, "session/resume")])
async def test_a_conversation_is_told_again_where_it_is_wanted(
    tmp_path: Path, tell: bool, method: str
) -> None:
    command = CommandOptions(resume="agent-session-1", replay_history=tell)
    async with AcpStage(tmp_path).session("resumes", command=command) as run:
        await run.turn("text")
        assert run.told[1]["method"] == method
        assert [one.text for one in run.of(ev.UserMessage)] == ["an old prompt", "text"][0 if tell else 1 :]

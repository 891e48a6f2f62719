"""Pairs of features in one session, as tests/README.md lists them: sandbox, worktree, fork, resume, queue, hand-over and replay."""

import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from doors import said_at_doors
from host_harness import HostHarness, host_harness
from hub_harness import hub_harness
from terminal_owner import TerminalOwner

from acp_editor import editing, within
from recordings import FIXTURES, ROOT
from turnwire._runtime.task_owner import TaskOwner
from turnwire.client import connect
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.principals import Scope
from turnwire.hub.wire import frames
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize import events as ev
from turnwire.sidecar.replay.sessions import ReplayHost
from waiting import until

ANN = Frontend("user:ann", "control", "ann", Scope.parse(["own"]))
SCRIPT = """
turns:
  - match: "^wait"
    steps: [{text: waiting}, {wait: 600}]
  - steps: [{text: "echo: {prompt}"}]
"""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's")


async def refusal(asked: Awaitable[object]) -> tuple[str, str]:
    with pytest.raises(CommandRefused) as refused:
        await asked
    return refused.value.code, refused.value.message


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return subprocess.run(
        ["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def repository(folder: Path) -> Path:
    made = folder / "project"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    (made / "a.txt").write_text("a\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "First")
    return made


@asynccontextmanager
async def place(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, sandbox: str = "off", first: str = ""
) -> AsyncIterator[HostHarness]:
    """A host with worktrees, and an agent that runs a line of shell before it begins: what it says is in `told` below its folder."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "script.yaml").write_text(SCRIPT)
    agent = programs / "claude"
    agent.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) ;; *) {first or ":"} ;; esac\nexec {sys.executable} -m turnwire.scripted_agent {programs}/script.yaml "$@"\n'
    )
    agent.chmod(0o755)
    settings = {
        "worktrees": str(folder / "trees"),
        "sandbox": sandbox,
        "sandbox_readable": [str(ROOT), sys.prefix, str(programs)],
    }
    async with host_harness(folder, monkeypatch, agents={"claude": [str(agent)]}, settings=settings) as here:
        yield here


def looks(outside: Path) -> str:
    """The line of shell with which an agent tells whether it is held."""
    return f"if cat {outside}/secret >/dev/null 2>&1; then echo open >>told; else echo held >>told; fi"


@linux
@pytest.mark.long
async def test_forks_and_later_starts_of_a_sandboxed_session_are_held_too_and_no_terminal_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    for folder in (outside, work):
        folder.mkdir()
    (outside / "secret").write_text("x")

    def told() -> list[str]:
        return (work / "told").read_text().split()

    async with place(tmp_path, monkeypatch, sandbox="files", first=looks(outside)) as here:

        async def do(kind: str, **more: object) -> dict[str, str]:
            """Do it as somebody who sees her own sessions alone."""
            command = frames.commands.validate_python({"type": kind, "id": "1", **more})
            result = await here.host.execute(command, ANN)
            return result if isinstance(result, dict) else {}  # type: ignore[return-value]

        wanted = {"workspace": str(work), "agent": "claude"}
        code, why = await refusal(do("session.create", **wanted, sandbox="off"))
        assert (code, "sandbox_floor" in why) == ("not_allowed", True)
        assert here.host.sessions() == []
        session = (await do("session.create", **wanted, prompt="one"))["session"]
        await here.until(session, ev.Complete)
        assert told() == ["held"]
        fork = (await do("session.fork", session=session))["session"]
        await do("prompt", session=fork, text="two")
        await here.until(fork, ev.Complete, 2)
        assert told() == ["held", "held"]
        await do("session.close", session=session)
        await do("session.resume", session=session)
        await do("prompt", session=session, text="three")
        await here.until(session, ev.Complete, 2)
        assert told() == ["held"] * 3
        assert {one.sandbox for one in here.host.sessions()} == {"files"}
        owner = await TerminalOwner.started()
        try:
            ticket = await owner.ticket(await do("native.begin", session=session, host="box"))
            begun = do("native.begin", session=session, host="box", ticket=ticket)
            code, why = await refusal(begun)
            assert (code, "the session has a sandbox" in why) == ("not_supported", True)
        finally:
            await owner.kill()
        assert [one.in_terminal for one in here.host.sessions()] == [None, None]


@linux
@pytest.mark.long
async def test_a_sandboxed_agent_commits_in_its_worktree_and_writes_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(tmp_path)
    commit = "git -c user.name=a -c user.email=a@example.org commit -qam Mine"
    beside = f"touch {project}/beside; touch {project}/.git/hooks/post-commit; git config core.pager x"
    first = f"(echo more >>a.txt; {commit}; {beside}) 2>/dev/null"
    async with place(tmp_path, monkeypatch, sandbox="files", first=first) as here:
        session = await here.create(
            "claude", workspace=str(project), worktree={"branch": "work"}, prompt="go"
        )
        await here.until(session, ev.Complete)
        status = await here.do("worktree.status", session)
        assert isinstance(status, dict)
        assert (status["ahead"], status["uncommitted"]) == (1, [])
        assert git(project, "log", "--format=%s", "work").split() == ["Mine", "First"]
        assert not (project / "beside").exists()
        assert not (project / ".git/hooks/post-commit").exists()
        assert "pager" not in (project / ".git/config").read_text()


@linux
@pytest.mark.long
async def test_a_prompt_that_waits_is_in_no_fork_and_taken_back_when_its_session_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(tmp_path)
    async with place(tmp_path, monkeypatch, sandbox="files") as here:
        session = await here.create(
            "claude", workspace=str(project), worktree={"branch": "work"}, prompt="one"
        )
        await here.until(session, ev.Complete)
        await here.do("prompt", session, text="wait")
        await here.until(session, ev.TurnStarted, 2)
        waiting = await here.do("prompt", session, text="later")
        assert isinstance(waiting, dict)
        await here.until(session, ev.Queued)
        for action, more in (("discard", {}), ("merge", {}), ("commit", {"message": "x"})):
            plan = await here.do("worktree.act", session, action=action, **more)
            assert isinstance(plan, dict)
            assert plan["refusal"] is not None, action
        fork = await here.do("session.fork", session)
        assert isinstance(fork, dict)
        own = "00000000-0000-4000-8000-00000000000a"
        await here.do("prompt", fork["session"], text="of the fork", id=own)
        seen = await here.until(fork["session"], ev.Complete, 3)
        assert [one.prompts for one in seen if isinstance(one, ev.TurnStarted)][-1] == [own]
        said = [one.text for one in seen if isinstance(one, ev.UserMessage)]
        assert said == ["one", "wait", "of the fork"], "what waits is the other session's"
        await here.do("session.delete", fork["session"])
        await here.do("session.close", session)
        seen = await here.events(session)
        assert [one.prompt for one in seen if isinstance(one, ev.Withdrawn)] == [waiting["prompt"]]
        assert len([one for one in seen if isinstance(one, ev.TurnStarted)]) == 2
        await here.do("session.resume", session)
        await here.do("prompt", session, text="after it")
        seen = await here.until(session, ev.Complete, 3)
        spoken = "".join(one.text for one in seen if isinstance(one, ev.MessageChunk))
        assert spoken.endswith("echo: after it")
        assert "later" not in spoken


@pytest.mark.long
async def test_a_session_in_a_terminal_keeps_its_worktree_and_is_forked_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, owner = repository(tmp_path), await TerminalOwner.started()
    async with place(tmp_path, monkeypatch) as here:
        session = await here.create(
            "claude", workspace=str(project), worktree={"branch": "work"}, prompt="one"
        )
        await here.until(session, ev.Complete)
        (tree,) = [one.worktree for one in here.host.sessions()]
        try:
            ticket = await owner.ticket(await here.do("native.begin", session, host="box"))
            begun = await here.do("native.begin", session, host="box", ticket=ticket, new=True)
            assert isinstance(begun, dict)
            assert Path(begun["workspace"]).is_relative_to(tmp_path / "trees")
            assert [one.in_terminal for one in here.host.sessions()] == ["box"]
            for action, more in (("discard", {}), ("merge", {}), ("commit", {"message": "x"})):
                plan = await here.do("worktree.act", session, action=action, **more)
                assert isinstance(plan, dict)
                assert plan["refusal"] is not None, action
            for kind in ("session.resume", "session.delete", "session.retry"):
                assert (await refusal(here.do(kind, session)))[0] == "in_terminal", kind
            fork = await here.do("session.fork", session)
            assert isinstance(fork, dict)
            await here.do("prompt", fork["session"], text="two")
            await here.until(fork["session"], ev.Complete, 2)
            told = {one.session: (one.in_terminal, one.worktree) for one in here.host.sessions()}
            assert told == {session: ("box", tree), fork["session"]: (None, tree)}
        finally:
            await owner.kill()
        await until(lambda: {one.in_terminal for one in here.host.sessions()} == {None}, 60)


async def test_a_replay_takes_nothing_of_a_live_session_at_the_hub_and_at_a_door(tmp_path: Path) -> None:
    journal, owner = MemoryJournal(), TaskOwner()
    recording = FIXTURES / "2.1.330" / "perm-allow"
    replay = ReplayHost([recording], journal, owner.keep, speed=None, field_limit=1 << 20)
    async with (
        hub_harness(journal=journal, host=replay) as hub,  # type: ignore[arg-type]  # a host as another
        connect(hub.url) as client,
        editing(client) as editor,
    ):
        await until(lambda: [one.state for one in replay.sessions()] == ["exited"], 60)
        here = Frontend("somebody", "control")
        for scope in (["own"], ["folder:/"]):
            tenant = Frontend("user:ann", "control", "ann", Scope.parse(scope))
            assert not any(tenant.sees(one) for one in replay.sessions())
        about: dict[str, dict[str, object]] = {
            "prompt": {"text": "x"},
            "prompt.withdraw": {"prompt": "x"},
            "session.fork": {},
            "session.resume": {},
            "session.retry": {},
            "session.delete": {},
            "native.begin": {"host": "box"},
            "worktree.status": {},
            "worktree.act": {"action": "discard"},
            "port.list": {},
        }
        commands: list[dict[str, object]] = [
            *({"type": kind, "session": "replay-1", **more} for kind, more in about.items()),
            {"type": "session.create", "resume": "c"},
            {"type": "session.create", "worktree": {}, "sandbox": "files"},
            {"type": "worktree.list"},
            {"type": "fleet.list"},
        ]
        for command in commands:
            made = frames.commands.validate_python({"id": "1", **command})
            assert (await refusal(replay.execute(made, here)))[0] == "not_live", command
        await editor.load("replay-1")
        await editor.editor.until(lambda: bool(editor.editor.text()))
        with pytest.raises(Exception, match="plays a recording"):
            await within(editor.prompt("replay-1", "hello?"))
        said = await within(said_at_doors(hub, "replay-1", "hello?"))
        assert {door: "plays a recording" in words for door, words in said.items()} == dict.fromkeys(
            said, True
        ), said
    await replay.stop()

"""What `turnwire conform agent` finds of an agent is kept, and the policy supervised goes by it."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import run

import pytest

from live import Frontend
from preloaded import ran
from turnwire._runtime.git_folder import git_above
from turnwire.client import CommandFailed, connect
from turnwire.client.events import PermissionRequest
from turnwire_process import environment, turnwire

pytestmark = pytest.mark.long

AGENT = '''
"""Says that it asks. In a git folder it writes and edits files unasked, as Kimi Code 2.1 does."""
import json, re, sys
from pathlib import Path

KINDS = {
    "execute": r"Run exactly this shell command with your shell tool, once, and nothing else: (.+)",
    "write": r"Write a new file with your tool for files, .+?: ([\\w-]+)",
    "edit": r"Edit a file with your tool for files, .+?: ([\\w-]+)",
}
number = 0

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def update(what, **fields):
    say(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": what, **fields}})

def is_allowed(call, title, kind):
    tool = {"toolCallId": call, "title": title, "kind": kind, "status": "pending", "rawInput": {"command": title}}
    options = [{"optionId": one, "name": one, "kind": one} for one in ("allow_once", "reject_once")]
    say(id=call, method="session/request_permission", params={"sessionId": "s", "toolCall": tool, "options": options})
    for line in sys.stdin:
        answer = json.loads(line)
        if answer.get("id") == call and "method" not in answer:
            return answer["result"]["outcome"].get("optionId") == "allow_once"

def do(prompt):
    global number
    for kind, pattern in KINDS.items():
        if found := re.search(pattern, prompt):
            number += 1
            call, name = f"call-{number}", found[1]
            acp = kind if kind == "execute" else "edit"
            update("tool_call", toolCallId=call, title=name, kind=acp, status="pending")
            is_free = kind != "execute" and Path(".git").exists()
            done = is_free or is_allowed(call, name, acp)
            if done and name.startswith("touch "):
                Path(name.split()[1]).touch()
            elif done and kind != "execute":
                Path(name).write_text("made" if kind == "write" else "changed")
            update("tool_call_update", toolCallId=call, status="completed" if done else "failed")
    words = re.findall(r"this word and nothing else: ([\\w-]+)", prompt)
    update("agent_message_chunk", content={"type": "text", "text": " ".join(words) or "Done."})

for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            info = {"name": "sayer", "title": "Sayer", "version": VERSION}
            say(id=asked["id"], result={"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}})
        case "session/new":
            modes = [{"id": "web", "name": "Ask for web", "description": "Asks for permission"}]
            say(id=asked["id"], result={"sessionId": "s", "modes": {"currentModeId": "web", "availableModes": modes}})
        case "session/prompt":
            do("".join(block.get("text", "") for block in asked["params"]["prompt"]))
            say(id=asked["id"], result={"stopReason": "end_turn"})
        case None:
            pass
        case _ if "id" in asked:
            say(id=asked["id"], result={})
'''


def agent(folder: Path, version: str = "1.4.0") -> tuple[str, ...]:
    program = folder / "sayer.py"
    program.write_text(AGENT.replace("VERSION", repr(version)))
    return (sys.executable, "-I", str(program))


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Path]:
    """A folder that is in no repository: other programs, such as the sandbox of Codex, may leave a `.git` in /tmp."""
    places = (tmp_path, Path("/var/tmp"), Path("/dev/shm"))
    place = next(one for one in places if git_above(one) is None)
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


async def supervised(folder: Path, workspace: Path, argv: tuple[str, ...]) -> str | None:
    """Why the agent is not started under the policy; None when it is, and asks."""
    words = ("run", "--policy", "supervised", "--workspace", str(workspace), "--family", "acp", "--", *argv)
    async with (
        turnwire(folder, *words, env=environment(folder / "home")) as served,
        connect(served.url) as client,
    ):
        frontend = Frontend(client, client.known_sessions[-1].session, 60.0)
        name = "Write a new file with your tool for files, once: written"
        try:
            await frontend.prompt(name)
        except CommandFailed as refused:
            assert not (workspace / "written").exists()
            return str(refused)
        request = await frontend.until(PermissionRequest)
        await frontend.respond(request, "reject_once")
        return None


async def test_an_agent_is_supervised_where_it_was_seen_to_ask_and_nowhere_else(
    tmp_path: Path, plain: Path
) -> None:
    argv, git = agent(tmp_path), tmp_path / "git"
    run(("git", "init", "-q", str(git)), check=True)
    for workspace in (plain, git):
        said = await supervised(tmp_path, workspace, argv)
        assert said is not None
        assert "nobody has tried it" in said
        assert "`turnwire conform agent`" in said
    done = ran(
        ("conform", "agent", "--json", "--family", "acp", "--", *argv),
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
    )
    assert done.stdout, done.stderr.decode()
    [asked] = [one["asked"] for one in json.loads(done.stdout) if one["asked"]]
    untried = {"outside": "not tried", "web": "not tried"}
    assert asked == {
        "plain": {"command": "held", "write": "held", "edit": "held", **untried},
        "git": {"command": "held", "write": "not held", "edit": "not held", **untried},
    }
    assert await supervised(tmp_path, plain, argv) is None
    said = await supervised(tmp_path, git, argv)
    assert said is not None
    assert "does not ask about new files and changes of files in a git folder" in said
    said = await supervised(tmp_path, plain, agent(tmp_path, "2.0.0"))
    assert said is not None
    assert "was tried in version 1.4.0, and this is 2.0.0" in said

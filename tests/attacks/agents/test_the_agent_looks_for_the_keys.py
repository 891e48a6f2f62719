"""An agent looks for the access token in everything about its ancestors that it may read."""

import json
import os
import sys
from pathlib import Path

import pytest

from turnwire.client import connect
from turnwire_process import environment, files_of, turnwire
from waiting import until

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")]

TOKEN = "the-control-token-of-this-test"
VIEW = "the-view-token-of-this-test"
WITHOUT_PRIVILEGE = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all") if os.geteuid() == 0 else ()
"""Root may read everything; without its capabilities it is to its own processes as any other user is."""

AGENT = """
import json, os, sys

def words(pid):
    found = {}
    for name in ("environ", "cmdline"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                found[name] = file.read().decode("latin-1")
        except OSError as error:
            found[name] = error.__class__.__name__
    try:
        found["fd"] = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError as error:
        found["fd"] = error.__class__.__name__
    if pid != os.getpid():
        found["mem"] = memory(pid)
    return found

def memory(pid):
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
            for line in maps:
                place, rights, *_ = line.split()
                first, last = (int(part, 16) for part in place.split("-"))
                if rights.startswith("rw") and last - first < 1 << 26:
                    mem.seek(first)
                    try:
                        if b"the-control-token" in mem.read(last - first):
                            return "the-control-token-of-this-test"
                    except OSError:
                        pass
            return "not found"
    except OSError as error:
        return error.__class__.__name__

def parent(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])

def become_the_agent():
    os.execv(sys.executable, [sys.executable, "-P", "-m", "turnwire.scripted_agent", *sys.argv[1:]])

if "--version" in sys.argv:
    become_the_agent()
supervisor = os.getppid()
sidecar = parent(supervisor)
seen = {"sidecar": words(sidecar), "supervisor": words(supervisor), "self": words(os.getpid()),
        "children": [words(int(pid)) for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid() and (os.path.exists(f"/proc/{pid}/stat")) and parent(pid) == sidecar]}
with open("seen.json.new", "w") as file:
    json.dump(seen, file)
os.rename("seen.json.new", "seen.json")
become_the_agent()
"""


async def seen(folder: Path, *, fd: int | None = None, **variables: str) -> tuple[str, str]:
    """Run turnwire on the agent, and return what the agent has seen, and the URL that was printed."""
    (folder / "agent.py").write_text(AGENT)
    (folder / "script.yaml").write_text("fallback:\n  steps:\n    - text: 'hello'\n")
    argv = (sys.executable, "-P", str(folder / "agent.py"), str(folder / "script.yaml"))
    env = environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH", **variables)
    async with turnwire(
        folder, "run", "--", *argv, env=env, prefix=WITHOUT_PRIVILEGE, pass_fds=[] if fd is None else [fd]
    ) as served:
        async with connect(served.base, TOKEN) as client:
            assert client.known_sessions
        # the URL does not wait for the agent
        await until((folder / "seen.json").exists)
        return (folder / "seen.json").read_text(), served.url


async def test_no_token_of_the_environment_is_in_reach_of_the_agent(tmp_path: Path) -> None:
    found, url = await seen(tmp_path, TURNWIRE_TOKEN=TOKEN, turnwire_view_token=VIEW)
    assert TOKEN not in found
    assert VIEW not in found
    assert TOKEN not in url
    said = json.loads(found)
    assert said["sidecar"]["environ"] == said["sidecar"]["fd"] == said["sidecar"]["mem"] == "PermissionError"
    assert "TURNWIRE_TOKEN" not in json.dumps([said["self"], said["supervisor"], said["children"]]).upper()


async def test_a_token_of_a_descriptor_is_in_memory_alone(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, TOKEN.encode())
    os.close(writing)
    try:
        found, url = await seen(tmp_path, fd=reading, TURNWIRE_TOKEN_FD=str(reading))
    finally:
        os.close(reading)
    assert TOKEN not in found
    assert TOKEN not in url
    kept = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and path.name != "agent.py" and TOKEN.encode() in path.read_bytes()
    ]
    assert kept == []


async def test_tokens_that_are_not_kept_are_in_no_file(tmp_path: Path) -> None:
    async with turnwire(
        tmp_path, "run", "--agent", "demo", env=environment(tmp_path / "home", TURNWIRE_KEEP_TOKENS="false")
    ) as served:
        tokens = [url.partition("token=")[2].encode() for url in (served.url, served.view_url)]
        assert all(tokens)
        files = files_of(tmp_path)
        assert [path for path, file in files.items() for token in tokens if token in file] == []

"""Hubs and workers behind a network that is cut: a program for a network of its own, as `unshare --net` makes it.

A router stands between them and three Redis servers. For as long as it is told it drops what goes to the first and comes from it, what
goes to the second, and what comes from the third: no end hears of that. It prints what was found of each, as JSON.

The kernel gives a silent connection up after 45 seconds, as the library sets it. For a shorter cut it does so after 4 seconds, and after
1.4 where something was sent; Redis has 2 for an answer.
"""

import asyncio
import json
import signal
import sys
import time
import urllib.error
import urllib.request
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import attached
from plain_agent import program_of

from turnwire.client import connect
from turnwire_process import DEADLINE, Served, environment, turnwire
from waiting import until

TOKEN = "token-of-an-operator"
CUTS = {"both": ("to", "from"), "there": ("to",), "back": ("from",)}
ADDRESSES = {"both": "198.18.1.1", "there": "198.18.1.2", "back": "198.18.1.3"}
LINES = (
    "mount -t tmpfs none /run",
    "ip link set lo up",
    "ip netns add router",
    "ip netns add servers",
    "ip link add near type veth peer name hubs netns router",
    "ip -n router link add far type veth peer name router netns servers",
    "ip addr add 198.18.0.1/30 dev near",
    "ip link set near up",
    "ip -n router addr add 198.18.0.2/30 dev hubs",
    "ip -n router link set hubs up",
    "ip -n router addr add 198.18.0.5/30 dev far",
    "ip -n router link set far up",
    "ip -n servers addr add 198.18.0.6/30 dev router",
    "ip -n servers link set router up",
    "ip -n servers link set lo up",
    *(f"ip -n servers addr add {address}/32 dev lo" for address in ADDRESSES.values()),
    "ip route add 198.18.1.0/24 via 198.18.0.2",
    "ip -n router route add 198.18.1.0/24 via 198.18.0.6",
    "ip -n servers route add 198.18.0.0/30 via 198.18.0.5",
    "ip netns exec router sysctl -q -w net.ipv4.ip_forward=1",
)
KERNEL_S = 45
KEEPALIVE = """
import socket

_set = socket.socket.setsockopt
_short = {socket.TCP_KEEPIDLE: 2, socket.TCP_KEEPINTVL: 1, socket.TCP_KEEPCNT: 2}


def _setsockopt(self, level, name, *value):
    if level == socket.SOL_TCP and name in _short:
        value = (_short[name],)
    _set(self, level, name, *value)


socket.socket.setsockopt = _setsockopt
"""
"""What Python runs before turnwire, so that the kernel asks a silent connection sooner."""


async def run(line: str) -> None:
    """Run one command."""
    process = await asyncio.create_subprocess_exec(*line.split(), stderr=asyncio.subprocess.PIPE)
    _, said = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"{line}: {said.decode()}")


async def change(verb: str) -> None:
    """Cut the lines (`add`), or mend them (`del`)."""
    for name, directions in CUTS.items():
        for direction in directions:
            await run(f"ip -n router rule {verb} {direction} {ADDRESSES[name]} blackhole")


def status(url: str) -> int:
    """Return the status of a page; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


async def becomes(url: str, wanted: int) -> bool:
    """Wait until a page has a status."""
    async with asyncio.timeout(DEADLINE):
        while await asyncio.to_thread(status, url) != wanted:  # noqa: ASYNC110 - a page tells nobody
            await asyncio.sleep(0.2)
    return True


def cpu_s(pid: int) -> float:
    """Return the seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def busy(process: Any, seconds: float) -> float:
    """Return the part of a processor that a process takes when nothing happens."""
    began, before = time.monotonic(), cpu_s(process.pid)
    await asyncio.sleep(seconds)
    return (cpu_s(process.pid) - before) / (time.monotonic() - began)


async def place(stack: AsyncExitStack, folder: Path, name: str, *, is_short: bool) -> dict[str, Served]:
    """Begin a Redis, a hub and a worker."""
    (folder / name).mkdir()
    address = ADDRESSES[name]
    command = [
        "ip", "netns", "exec", "servers", "redis-server", "--bind", address, "--port", "6379", "--protected-mode", "no",
        "--dir", str(folder / name), "--save", "",
    ]  # fmt: skip
    redis = attached.start(command, folder / name / "redis.log")
    stack.callback(attached.kill, redis)
    query, lease = ("?socket_timeout=2", "fleet_lease_s = 4\n") if is_short else ("", "")
    served = {}
    for part, turn in (("worker", "serve"), ("hub", "hub")):
        own = folder / name / part
        own.mkdir()
        (own / "turnwire.toml").write_text(
            f"journal = 'redis://{address}:6379/0{query}'\nhistory = false\ntoken = {TOKEN!r}\n{lease}"
            + (
                f"worker = 'w'\nagent = 'echo'\nfrontend_workspaces = [{str(own)!r}]\n[agents.echo]\nfamily = 'claude'\n"
                f"command = {[sys.executable, '-S', '-E', str(folder / 'agent.py')]!r}\n"
                if part == "worker"
                else ""
            )
        )
        env = environment(own / "home")
        if is_short:
            (own / "keepalive").mkdir()
            (own / "keepalive" / "sitecustomize.py").write_text(KEEPALIVE)
            env["PYTHONPATH"] = f"{own / 'keepalive'}:{env['PYTHONPATH']}"
        served[part] = await stack.enter_async_context(turnwire(own, turn, env=env))
    return served


async def prompted(served: dict[str, Served], folder: Path, session: str | None = None) -> str:
    """Say something in a session over the hub, and begin it where there is none; return it once the log has that."""
    async with asyncio.timeout(DEADLINE), connect(f"{served['hub'].base}/#token={TOKEN}") as client:
        if session is None:
            await until(lambda: client.welcome and client.welcome.workers)
            session = await client.create(workspace=str(folder / "worker"))
        await client.prompt(session, "hello")
    return session


async def main(folder: Path, cut_s: float) -> None:
    """Cut the lines for so long, mend them, and print what is found of each process."""
    is_short = cut_s <= KERNEL_S
    for line in (*LINES, *(["sysctl -q -w net.ipv4.tcp_retries2=2"] if is_short else [])):
        await run(line)
    (folder / "agent.py").write_text(program_of('def answers(text):\n    return ["echo: " + text]\n'))
    found: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        places = dict(
            zip(
                CUTS,
                await asyncio.gather(*(place(stack, folder, name, is_short=is_short) for name in CUTS)),
                strict=True,
            )
        )
        sessions = await asyncio.gather(*(prompted(served, folder / name) for name, served in places.items()))
        await change("add")
        cut = asyncio.get_running_loop().time()
        for name, served in places.items():
            for part, one in served.items():
                told = found[f"{name} {part}"] = {}
                told["told"] = await becomes(f"{one.base}/readyz", 503)
                told["alive"] = await becomes(f"{one.base}/healthz", 200)
        await asyncio.sleep(cut + cut_s - asyncio.get_running_loop().time())
        everyone = {f"{name} {part}": one for name, served in places.items() for part, one in served.items()}
        taken = await asyncio.gather(*(busy(one.process, 3) for one in everyone.values()))
        for name, share in zip(everyone, taken, strict=True):
            found[name]["busy while cut"] = share
        await change("del")
        for name, one in everyone.items():
            found[name]["ready"] = await becomes(f"{one.base}/readyz", 200)
        again = [
            prompted(served, folder / name, session)
            for (name, served), session in zip(places.items(), sessions, strict=True)
        ]
        assert await asyncio.gather(*again) == sessions
        taken = await asyncio.gather(*(busy(one.process, 3) for one in everyone.values()))
        for name, share in zip(everyone, taken, strict=True):
            found[name]["busy afterwards"] = share
        for one in everyone.values():
            one.process.send_signal(signal.SIGTERM)
        for one in everyone.values():
            await one.ended()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))

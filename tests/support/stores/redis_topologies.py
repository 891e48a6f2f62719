"""Redis as it is run in production, out of redis-server processes on loopback: a cluster, a primary with a replica and a sentinel."""

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attached
from ports import free_ports
from redis.asyncio import Redis
from redis.exceptions import RedisError

DEADLINE = 300.0
"""Seconds that any wait may take. A sentinel that has seen its machine stand still does nothing for 30 seconds, and again from the next time on."""
NODE_TIMEOUT_MS = 15_000
"""Redis's own. With a second, nodes on a machine that stands still for a moment take each other for dead, and all is refused."""


class Node:
    """A redis-server on a port of loopback, that can be killed and started again."""

    def __init__(self, folder: Path, port: int, *options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port = port
        self._command = ["redis-server", *options] if options[:1] == (str(folder / "sentinel.conf"),) else [
            "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "",
            "--repl-diskless-sync-delay", "0", *options,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "log"

    def start(self) -> None:
        """Start it."""
        self._process = attached.start(self._command, self._log)

    @property
    def pid(self) -> int:
        """Its process's id, while it runs."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """Kill it, as a crash does."""
        if self._process is not None:
            attached.kill(self._process)
            self._process = None

    async def ask(self, *command: Any) -> Any:
        """Do a command; tries again while it does not answer."""
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    async with Redis(port=self.port) as client:
                        return await client.execute_command(*command)  # type: ignore[no-untyped-call]  # as the library has it
                except RedisError:
                    assert self._process is not None, "it was killed"
                    assert self._process.poll() is None, self._log.read_text()
                    await asyncio.sleep(0.05)  # a process that begins tells nobody

    async def until(self, sign: bytes, *command: Any) -> None:
        """Wait until a command's answer has a sign."""
        async with asyncio.timeout(DEADLINE):
            while sign not in _text(await self.ask(*command)):  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.05)


def _text(answer: Any) -> bytes:
    if isinstance(answer, dict):
        return "\n".join(f"{name}:{value}" for name, value in answer.items()).encode()
    return answer if isinstance(answer, bytes) else repr(answer).encode()


@asynccontextmanager
async def running(*nodes: Node) -> AsyncIterator[None]:
    """Run servers."""
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            await node.ask("PING")
        yield
    finally:
        for node in nodes:
            with contextlib.suppress(ProcessLookupError):
                node.kill()


@asynccontextmanager
async def cluster(folder: Path, *options: str) -> AsyncIterator[list[Node]]:
    """Three primaries that have all slots between them, and on disk what they have acknowledged."""
    ports = free_ports(6)
    nodes = [
        Node(
            folder / str(port), port, "--cluster-enabled", "yes", "--cluster-port", str(bus), "--cluster-node-timeout", str(NODE_TIMEOUT_MS),
            "--appendonly", "yes", "--appendfsync", "always", *options,
        )
        for port, bus in zip(ports[:3], ports[3:], strict=True)
    ]  # fmt: skip
    async with running(*nodes):
        for node, (first, last) in zip(nodes, ((0, 5461), (5462, 10922), (10923, 16383)), strict=True):
            await node.ask("CLUSTER", "ADDSLOTSRANGE", first, last)
        for port, bus in zip(ports[1:3], ports[4:], strict=True):
            await nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", port, bus)
        for node in nodes:
            await node.until(b"cluster_state:ok", "CLUSTER", "INFO")
            await node.until(b"cluster_known_nodes:3", "CLUSTER", "INFO")
        yield nodes


@asynccontextmanager
async def replicated(folder: Path, *options: str) -> AsyncIterator[tuple[Node, Node, Node]]:
    """A primary, its replica, and a sentinel that calls them `turnwire` and believes after three seconds that one is gone."""
    primary_port, replica_port, sentinel_port = free_ports(3)
    primary = Node(folder / "primary", primary_port, *options)
    replica = Node(folder / "replica", replica_port, "--replicaof", "127.0.0.1", str(primary_port), *options)
    file = folder / "sentinel" / "sentinel.conf"
    file.parent.mkdir()
    file.write_text(
        f"port {sentinel_port}\nbind 127.0.0.1\ndir {file.parent}\nsentinel monitor turnwire 127.0.0.1 {primary_port} 1\n"
        "sentinel down-after-milliseconds turnwire 3000\nsentinel failover-timeout turnwire 5000\n"
    )
    sentinel = Node(file.parent, sentinel_port, str(file), "--sentinel")
    async with running(primary, replica):
        await replica.until(b"master_link_status:up", "INFO", "replication")
        async with running(sentinel):
            await sentinel.until(b"'slaves': 1", "INFO", "sentinel")
            yield primary, replica, sentinel

#!/usr/bin/env python
"""What a library of old conversations costs: a HOME of generated files, listed, searched, opened and gone on with.

The files are those of real agents (fixtures/sessions, fixtures/kept), each several times over under new ids and on other days;
`--seeds FOLDER` takes more `*.jsonl` from elsewhere. CPU seconds are user and system, of whole processes with the start of Python; the
clock's are beside them, since they depend on what else the machine does. `python bench/bench_history.py 5000` makes more files.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

sys.path.extend(
    str(Path(__file__).resolve().parents[1] / "tests" / "support" / room)
    for room in ("agents", "processes", "recorded")
)
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients" / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from live import Frontend
from turnwire.client import commands, connect
from turnwire.client.client import Client
from turnwire.client.events import Complete
from turnwire_process import turnwire

ROOT = Path(__file__).resolve().parents[1]
TURNWIRE = [sys.executable, "-m", "turnwire"]
TIMES = 16
"""How often a conversation of Claude Code stands in a file; those of other agents stand there once."""
WORDS = ("read", "file")
ECHO = "fallback: {steps: [{text: 'echo: {prompt}'}]}"

_UUID = re.compile(r"[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_NAMED = re.compile(r"\b(msg|toolu|req)_\w+")
_DAY = re.compile(r"20\d\d-\d\d-\d\d(?=T)")


def seeds(more: Sequence[Path]) -> list[tuple[str, Path]]:
    """Return files, each with where it lies below HOME."""
    found = [
        (".claude/projects/-work-{n}/{id}.jsonl", path)
        for path in sorted((ROOT / "fixtures" / "sessions").glob("*/*/projects/*/*.jsonl"))
    ]
    found += [
        (".claude/projects/-work-{n}/{id}.jsonl", path)
        for path in chain.from_iterable(sorted(folder.rglob("*.jsonl")) for folder in more)
    ]
    for agent, place in (
        ("codex", ".codex/sessions/2026/01/{n:02}/rollout-2026-01-01T00-00-00-{id}.jsonl"),
        ("gemini", ".gemini/tmp/project-{n}/chats/session-2026-01-01T00-00-{short}.jsonl"),
        ("qwen", ".qwen/projects/-work-{n}/chats/{id}.jsonl"),
    ):
        path = max(
            (ROOT / "fixtures" / "kept").glob(f"{agent}-*/**/*.jsonl"), key=lambda path: path.stat().st_size
        )
        found.append((place, path))
    return found


def repeated(path: Path, name: str, times: int, day: str, work: str) -> Iterator[str]:
    """Yield a conversation's lines so many times over, each copy going on where the last ended."""
    text = path.read_text().replace("/workspace/project", work)
    session = json.loads(text.partition("\n")[0]).get("sessionId")
    last: str | None = None
    for number in range(times):

        def other(found: re.Match[str], number: int = number) -> str:
            return blake2b(f"{name}{number}{found[0]}".encode(), digest_size=4).hexdigest()

        copy = _UUID.sub(other, text)
        if session is not None:
            copy = copy.replace(_UUID.sub(other, session), name)
        copy = _NAMED.sub(lambda found, number=number: f"{found[0]}{name[:8]}{number}", copy)  # type: ignore[misc]
        for line in _DAY.sub(day, copy).splitlines():
            told = json.loads(line)
            if told.get("uuid") and times > 1 and not told.get("isSidechain"):
                if told.get("parentUuid", "") is None and last is not None and told["type"] == "user":
                    told["parentUuid"] = last
                last = told["uuid"]
            yield json.dumps(told, separators=(",", ":"))


def generate(home: Path, count: int, more: Sequence[Path]) -> int:
    """Make so many files and return their bytes."""
    size, kinds = 0, seeds(more)
    for number in range(count):
        place, source = kinds[number % len(kinds)]
        key = blake2b(str(number).encode(), digest_size=16).hexdigest()
        name = f"{key[:8]}-{key[8:12]}-4{key[13:16]}-8{key[17:20]}-{key[20:]}"
        path = home / place.format(n=number % 25 + 1, id=name, short=name[:8])
        path.parent.mkdir(parents=True, exist_ok=True)
        day = str(date(2026, 1, 1) + timedelta(days=number % 300))
        times = TIMES if place.startswith(".claude") else 1
        path.write_text(
            "".join(f"{line}\n" for line in repeated(source, name, times, day, str(home.parent / "work")))
        )
        size += path.stat().st_size
    return size


def measured(env: dict[str, str], *arguments: str) -> tuple[float, float, int, str]:
    """Run a command: CPU seconds, seconds, MiB of memory, and what it printed."""
    begun = time.perf_counter()
    process = subprocess.Popen([*TURNWIRE, *arguments], env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begun, usage.ru_maxrss // 1024, said


def show(what: str, cpu: float | None, clock: float, memory: int | None = None, more: str = "") -> None:
    told = f"{what:<52} {'' if cpu is None else f'{cpu:6.2f} s CPU'}{clock:8.2f} s"
    print(told + ("" if memory is None else f"{memory:6d} MiB") + (f"  {more}" if more else ""), flush=True)


async def asked(client: Client, what: str, command: commands.AnyCommand) -> dict[str, object]:
    begun = time.perf_counter()
    result: dict[str, Any] = msgspec.to_builtins(await client.command(command))
    show(what, None, time.perf_counter() - begun)
    return result


async def through_the_hub(folder: Path, env: dict[str, str]) -> None:
    """The same as a frontend has it."""
    script, config = folder / "echo.yaml", folder / "turnwire.toml"
    script.write_text(ECHO)
    agent = [sys.executable, "-m", "turnwire.scripted_agent", str(script)]
    config.write_text(
        f'agent = "echo"\nagents = {{echo = {json.dumps(agent)}}}\npass_env = ["PYTHONPATH"]\nhistory = true\n'
    )
    # an index of its own: nothing is known yet
    there = {**env, "TURNWIRE_FRONTEND_WORKSPACES": "/", "TURNWIRE_STATE_DIR": str(folder / "new")}
    async with (
        turnwire(
            folder, "serve", "--config", str(config), "--state-dir", str(folder / "new"), env=there
        ) as served,
        connect(served.url) as client,
    ):
        first = await asked(client, "library.list, the first, nothing known", commands.LibraryList())
        told = first["conversations"]
        assert isinstance(told, list)
        print(f"{'':<52} {len(told)} of them, complete: {first['complete']}")
        begun = time.perf_counter()
        while not first["complete"]:
            answer = await client.command(commands.LibraryList(known=str(first["version"])))
            first = msgspec.to_builtins(answer)
        show("… until all is read", None, time.perf_counter() - begun)
        await asked(client, "library.list, known", commands.LibraryList())
        await asked(client, "library.search, two words", commands.LibrarySearch(text=" ".join(WORDS)))
        await asked(client, "library.usage by day", commands.LibraryUsage())
        told = (await client.command(commands.LibraryList(limit=1000))).conversations
        one = max((one for one in told if one.agent == "claude"), key=lambda one: one.bytes)
        kib = one.bytes // 1024
        await asked(
            client,
            f"library.open, the largest ({kib} KiB)",
            commands.LibraryOpen(conversation=one.id),
        )
        begun = time.perf_counter()
        created = await client.command(commands.SessionCreate(resume=one.id, prompt="go on"))
        await Frontend(client, created.session).until(
            Complete, lambda end: end.operation_id == f"turn-{(one.turns or 0) + 1}"
        )
        show("the same gone on with, up to its next turn's end", None, time.perf_counter() - begun)


def main() -> None:
    """Generate and measure."""
    asks = argparse.ArgumentParser()
    asks.add_argument("count", nargs="?", type=int, default=200)
    asks.add_argument("--seeds", type=Path, action="append", default=[])
    asked_for = asks.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        (folder / "work").mkdir()
        size = generate(home, asked_for.count, asked_for.seeds)
        print(f"{asked_for.count} files, {size / 1e6:.0f} MB, load {os.getloadavg()[0]:.0f}", flush=True)
        env = {
            "HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TURNWIRE_STATE_DIR": str(folder / "known"),
        }  # fmt: skip
        for what, *arguments in (
            ("turnwire sessions, nothing known", "sessions", "--limit", "20"),
            ("turnwire usage, which reads all the rest", "usage"),
            ("turnwire sessions, again", "sessions", "--limit", "20"),
            ("turnwire search, two words", "search", *WORDS),
            ("turnwire usage, again", "usage"),
        ):
            cpu, clock, memory, said = measured(env, *arguments)
            show(what, cpu, clock, memory, f"{len(said.splitlines())} lines")
        index = (folder / "known" / "library.sqlite3").stat().st_size
        print(f"index {index / 2**20:.0f} MiB")
        asyncio.run(through_the_hub(folder, env))


if __name__ == "__main__":
    main()

"""turnwire itself as a real process: `turnwire run …` in a folder of its own, its URL, its end."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from preloaded import Forked, can_be_forked, forked
from recordings import ROOT

DEADLINE = 60.0
"""Seconds that any wait may take."""

TURNWIRE = (sys.executable, "-m", "turnwire")
"""The command line, without depending on the console script being on PATH."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment of the test's own: nothing of the developer's reaches turnwire or what it starts."""
    home.mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        **more,
    }


def files_of(folder: Path) -> dict[Path, bytes]:
    """The files below a folder of a sidecar that runs: some are replaced while they are read."""
    found = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                found[path] = path.read_bytes()
    return found


@dataclass
class Served:
    """A running turnwire."""

    url: str
    """The printed URL, with the control token."""
    view_url: str
    """The printed URL for watching; the control URL again where none is printed (replay)."""
    process: asyncio.subprocess.Process | Forked
    killed: bool = False
    """Whether the test has ended it by itself."""
    """True after `kill`: it then need not end well."""

    async def kill(self) -> None:
        """End it as a crash would."""
        self.killed = True
        self.process.kill()
        await self.process.wait()

    async def ended(self) -> None:
        """Wait for an end that the test has asked for; it must be a good one."""
        async with asyncio.timeout(DEADLINE):
            assert await self.process.wait() == 0
        self.killed = True

    @property
    def base(self) -> str:
        """The address without the token."""
        return self.url.split("#")[0].rstrip("/")

    @property
    def token(self) -> str:
        """The control token."""
        return self._fragment()["token"][0]

    @property
    def session(self) -> str:
        """The session that the printed URL opens."""
        return self._fragment()["session"][0]

    def _fragment(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.url).fragment)


async def lines_of(folder: Path, env: Mapping[str, str], *arguments: str) -> list[bytes]:
    """What a turnwire command that ends well prints."""
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        *arguments,
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    return stdout.splitlines()


async def _line(stream: asyncio.StreamReader | None) -> str:
    assert stream is not None
    return (await stream.readline()).decode()


@asynccontextmanager
async def turnwire(
    folder: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdout_lines: int = 2,
    named: bool = True,
    placed: bool = True,
    prefix: Sequence[str] = (),
    pass_fds: Sequence[int] = (),
    preloaded: bool = False,
) -> AsyncIterator[Served]:
    """Run a serving command (its options, then what stands behind `--`) until the context closes.

    A turnwire.toml in the folder is the test's own: it is named, so that all of it counts; unless `named` is False.
    It gets a port and a state directory of the test's own, unless `placed` is False. `prefix` is a program that becomes it.
    `preloaded` forks it where that can be done, instead of beginning with its imports: for tests that are not about the start.
    Fails with turnwire's stderr when it does not come up, and when it does not end well on SIGTERM.
    """
    command, *options = arguments
    split = options.index("--") if "--" in options else len(options)
    own = ("--port", "0", "--state-dir", str(folder / "state")) if placed else ()
    log = folder / "turnwire.log"
    variables = dict(env) if env is not None else environment(folder / "home")
    if named and (folder / "turnwire.toml").exists():
        variables.setdefault("TURNWIRE_CONFIG", str(folder / "turnwire.toml"))
    call = (command, *options[:split], *(own if command != "replay" else own[:2]), *options[split:])
    process: asyncio.subprocess.Process | Forked
    if preloaded and can_be_forked(variables) and not prefix and not pass_fds:
        process = await forked(call, cwd=folder, env=variables, stderr=log)
    else:
        with log.open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *prefix,
                *TURNWIRE,
                *call,
                cwd=folder,
                env=variables,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                pass_fds=pass_fds,
            )
    try:
        async with asyncio.timeout(DEADLINE):
            printed = [await _line(process.stdout) for _ in range(stdout_lines)]
        urls = [found.group() for line in printed if (found := re.search(r"https?://\S+", line))]
        assert urls, f"no URL: {printed} {log.read_text()}"
        served = Served(urls[0], urls[-1], process)
        yield served
        if served.killed:
            return
        assert process.returncode is None, log.read_text()
    finally:
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(DEADLINE):
                await process.wait()
        except TimeoutError:
            os.kill(process.pid, 9)
            await process.wait()
            raise
    assert process.returncode == 0, log.read_text()


preloaded_turnwire = partial(turnwire, preloaded=True)
"""`turnwire` for tests that are not about the start of a process."""

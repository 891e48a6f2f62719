"""`turnwire run --attach`: the sidecar in another process, and this terminal attached to it.

The sidecar logs to a file in the state directory, since the interface uses the terminal. Leaving the interface ends the
sidecar, unless it is to be kept.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from turnwire._runtime.private_files import make_private
from turnwire.frontends.terminal.command import Hub, Native, attach
from turnwire.frontends.terminal.guard import Guard, guarded
from turnwire.protocol.errors import TurnwireError
from turnwire.sidecar.process import garbage

END_S = 30.0
"""How long the sidecar has to end before it is killed; its own limit is shorter."""


class NotStarted(TurnwireError):
    """The sidecar ended before it was ready. The message is its output."""


def run_attached(arguments: Sequence[str], state: Path, token: str | None, *, keep: bool, plain: bool) -> int:
    """Run `turnwire` with these arguments and attach to it; returns the exit code. Raises NotStarted and NotAttached.

    `token` is the configured one, where there is one.
    """
    garbage.started()
    make_private(state)
    log = state / "attached.log"
    signal.signal(signal.SIGHUP, _leave)
    with guarded() as guard, _sidecar(arguments, log, guard, keep=keep) as (url, pid):
        code = asyncio.run(attach([Hub(url, token)], None, folder=str(Path.cwd()), plain=plain, stays=keep))
        if keep:
            sys.stderr.write(
                f"turnwire: it runs on as process {pid}; `kill {pid}` ends it. Its log is {log}\n"
            )
        return code


@contextmanager
def _sidecar(arguments: Sequence[str], log: Path, guard: Guard, *, keep: bool) -> Iterator[tuple[str, int]]:
    with log.open("wb") as said:
        os.fchmod(said.fileno(), 0o600)
        process = subprocess.Popen(
            [sys.executable, "-m", "turnwire", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
        )
    stays = False
    if not keep:
        guard.ends(process.pid, END_S)
    try:
        assert process.stdout is not None, "it is a pipe"
        with process.stdout as lines:
            first = lines.readline().decode(errors="replace").strip()
            if not first:
                raise NotStarted(_last(log))
            lines.readline()
        url = re.search(r"https?://\S+", first)
        if url is None:
            raise NotStarted(first)
        yield url[0], process.pid
        stays = keep
    finally:
        if not stays:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if not keep:
                guard.ended(process.pid)


def run_native(
    arguments: Sequence[str],
    state: Path,
    token: str | None,
    *,
    given: Sequence[str],
    environments: Mapping[str, Mapping[str, str]],
    qr: Callable[[str], str] | None = None,
) -> int:
    """Run `turnwire` with these arguments, and an agent's own interface with the `given` ones on its session; returns the exit code.

    The URL is said once before; `qr` draws it and waits for Enter. Raises NotStarted and NotAttached.
    """
    garbage.started()
    make_private(state)
    log = state / "attached.log"
    with guarded() as guard, _sidecar(arguments, log, guard, keep=False) as (url, _):
        sys.stderr.write(f"turnwire: this session is also at {url}\n")
        if qr is not None:
            # the interface may clear the screen
            sys.stderr.write(f"{qr(url)}\nturnwire: Enter goes on\n")
            sys.stdin.readline()
        native = Native(guard, arguments=given, environments=environments)
        return asyncio.run(
            attach([Hub(url, token)], None, folder=str(Path.cwd()), plain=False, native=native)
        )


def _leave(*_: object) -> None:
    raise SystemExit(128 + signal.SIGHUP)


def _last(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("turnwire: ") if lines else "the sidecar has ended without a word"

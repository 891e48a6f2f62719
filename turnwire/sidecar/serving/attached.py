"""`turnwire run --attach`: the sidecar as a process of its own, and this terminal attached to it.

The sidecar's log goes to a file in the state directory, since the terminal is drawn on. Whoever leaves ends it, unless it is to be kept.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from turnwire._runtime.private_files import make_private
from turnwire.frontends.terminal.command import Hub, attach
from turnwire.protocol.errors import TurnwireError

END_S = 30.0
"""How long the sidecar has to end before it is killed; its own limit is shorter."""


class NotStarted(TurnwireError):
    """The sidecar ended before it was ready; the message is what it said."""


def run_attached(arguments: Sequence[str], state: Path, token: str | None, *, keep: bool, plain: bool) -> int:
    """Run `turnwire` with these arguments and attach to it; returns the exit code. Raises NotStarted and NotAttached.

    `token` is the configured one, where there is one.
    """
    make_private(state)
    log = state / "attached.log"
    signal.signal(signal.SIGHUP, _leave)
    with _sidecar(arguments, log, keep=keep) as (url, pid):
        code = asyncio.run(attach([Hub(url, token)], None, folder=str(Path.cwd()), plain=plain, stays=keep))
        if keep:
            sys.stderr.write(
                f"turnwire: it runs on as process {pid}; `kill {pid}` ends it. Its log is {log}\n"
            )
        return code


@contextmanager
def _sidecar(arguments: Sequence[str], log: Path, *, keep: bool) -> Iterator[tuple[str, int]]:
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


def _leave(*_: object) -> None:
    raise SystemExit(128 + signal.SIGHUP)


def _last(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("turnwire: ") if lines else "the sidecar has ended without a word"

"""The command line: SCRIPT, then the options that a host gives a real CLI.

SCRIPT is a path, the name of a bundled script, or the folder of a recording. Without it the agent uses the variable
TURNWIRE_AGENT_SCRIPT, and then "demo". The parser accepts the real CLI's options and ignores those without meaning here.
`--family acp` speaks ACP and saves sessions in the folder of `--state`.
"""

import asyncio
import os
import random
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args
from uuid import UUID

import msgspec

from turnwire.scripted_agent.claude.agent import play_script
from turnwire.scripted_agent.claude.claude_session import Options
from turnwire.scripted_agent.claude.dialect import Dialect
from turnwire.scripted_agent.claude.versions import quirks
from turnwire.scripted_agent.claude.written_lines import Wire
from turnwire.scripted_agent.loading import ScriptError, bundled, load
from turnwire.scripted_agent.recording import Player, Recording, RecordingError, is_recording, read_recording
from turnwire.scripted_agent.script import Script, Version

_FLAGS = frozenset({
    "-p", "--print", "-c", "-v", "--version", "--continue", "--verbose", "--include-partial-messages", "--replay-user-messages",
    "--fork-session", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions",
    "--strict-mcp-config", "--include-hook-events", "--no-session-persistence", "--forward-subagent-text",
})  # fmt: skip
"""Options without a value. Every other option takes the next argument."""


HELP = """usage: turnwire agent SCRIPT [options of a CLI]

Plays a script, or a recording, as if it were a CLI: SCRIPT is a path, the name of a bundled script, or a recording's folder;
without it, TURNWIRE_AGENT_SCRIPT says it, and then "demo". Options of the real CLI are taken as the real one takes them; those
that mean nothing here are ignored.

  --family acp          speak ACP instead of what Claude Code speaks
  --state FOLDER        keep sessions there, with ACP
  --dialect-version V   speak as that version of Claude Code
  --seed NUMBER         the same ids in every run
  --speed TIMES         of a recording: times its pace; 0, the default, does not wait

Bundled scripts: {scripts}

Examples:
  turnwire run -- turnwire agent my-script.yaml        # your script, in the browser
  turnwire agent fixtures/2.1.330/perm-allow           # a recording as a CLI
"""
"""Text of --help. A constant, since `python -OO` drops __doc__."""


@dataclass
class Arguments:
    """The parsed command line."""

    script: str
    given: dict[str, str] = field(default_factory=dict)
    prompt: str | None = None


def read_arguments(argv: Sequence[str]) -> Arguments:
    """Parse the command line. Never refuses an unknown option."""
    rest = list(argv)
    named = (
        rest.pop(0)
        if rest and not rest[0].startswith("-")
        else os.environ.get("TURNWIRE_AGENT_SCRIPT", "demo")
    )
    arguments = Arguments(named)
    while rest:
        argument = rest.pop(0)
        name, equals, value = argument.partition("=")
        if not argument.startswith("-"):
            arguments.prompt = argument
        elif equals:
            arguments.given[name] = value
        elif argument in _FLAGS or not rest or rest[0].startswith("--"):
            arguments.given[argument] = ""
        else:
            arguments.given[argument] = rest.pop(0)
    return arguments


def _put(line: bytes) -> None:
    """Write to stdout and block until it is taken, as a CLI does that writes to a pipe."""
    view = memoryview(line)
    while view:
        try:
            view = view[os.write(1, view) :]
        except BrokenPipeError:
            # whoever read has gone; a CLI ends then
            os._exit(0)


async def _play_recording(recording: Recording, speed: float) -> int:
    player = Player(recording, _put, speed)
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(player.handle, line)
        loop.call_soon_threadsafe(player.close)

    threading.Thread(target=read, daemon=True, name="stdin").start()
    return await player.play()


def _wire(script: Script, given: dict[str, str], dialect: Dialect) -> Wire:
    seed = given.get("--seed")
    chance = random.Random(seed) if seed is not None else random.SystemRandom()
    version = given.get("--dialect-version", script.version)
    if version not in get_args(Version):
        raise ScriptError(f"--dialect-version: {version} is none of {', '.join(get_args(Version))}")
    spoken = quirks(msgspec.convert(version, Version))
    fresh = str(UUID(int=chance.getrandbits(128), version=4))
    session = given.get("--session-id") or fresh
    if (
        (resumed := given.get("--resume", given.get("-r")))
        and "--fork-session" not in given
        and spoken.version >= "2"
    ):
        session = resumed
    bypasses = "--dangerously-skip-permissions" in given
    return Wire(
        put=dialect.say,
        quirks=spoken,
        session_id=session,
        cwd=str(Path.cwd()),
        chance=chance,
        permission_mode="bypassPermissions" if bypasses else given.get("--permission-mode", "default"),
        commands=script.commands,
    )


def _tell_version(version: str) -> int:
    """Answer -v with the version that the agent imitates, so that a host treats it as that version."""
    print(f"{version} (scripted agent)", flush=True)
    return 0


def _play(arguments: Arguments) -> int:
    given = arguments.given
    path = Path(arguments.script)
    asked_for_version = {"-v", "--version"} & given.keys()
    if is_recording(path):
        recording = read_recording(path)
        if asked_for_version:
            return _tell_version(recording.version)
        return asyncio.run(_play_recording(recording, float(given.get("--speed", "0"))))
    script = load(arguments.script)
    if asked_for_version:
        return _tell_version(given.get("--dialect-version", script.version))
    if "sigterm" in script.ignore:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    resumed = given.get("--resume", given.get("-r"))
    if resumed and script.resume == "reject":
        print(f"No conversation found with session ID: {resumed}", file=sys.stderr)
        return 1
    match given.get("--family", "claude"):
        case "acp":
            from turnwire.scripted_agent.acp.agent import play_acp  # noqa: PLC0415 - the other wire starts without it

            state = given.get("--state")
            return asyncio.run(play_acp(script, _put, Path(state) if state else None))
        case "claude":
            pass
        case other:
            raise ScriptError(f"--family: {other} is none of claude, acp")
    dialect = Dialect(given.get("--dialect", "claude"), _put)
    options = Options(
        dialect=dialect,
        partial_messages="--include-partial-messages" in given,
        replay_user_messages="--replay-user-messages" in given,
        asks_host=given.get("--permission-prompt-tool") == "stdio",
        prompt=None
        if dialect.is_foreign or given.get("--input-format") == "stream-json"
        else arguments.prompt,
    )
    return asyncio.run(play_script(script, options, _wire(script, given, dialect)))


def main(argv: Sequence[str]) -> int:
    """Run the scripted agent; returns its exit code."""
    if {"-h", "--help"} & set(argv[-1:]):
        print(HELP.format(scripts=", ".join(bundled())))
        return 0
    try:
        # a real CLI can be ended by either; SIGINT ends the turn and the process, without a traceback
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
        code = _play(read_arguments(argv))
    except (ScriptError, RecordingError, ValueError) as error:
        print(f"scripted agent: {error}", file=sys.stderr)
        return 2
    sys.stderr.flush()
    if code < 0:
        os.kill(os.getpid(), -code)
    # the thread that reads stdin may still wait for input: nobody waits for it
    os._exit(code)

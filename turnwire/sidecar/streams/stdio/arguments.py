"""The command line of `turnwire stdio`: its own options first, then the options of the CLI.

The official SDK starts a CLI with dozens of options. turnwire passes them on unchanged, so new options need no change
here. Options that the CLI needs for stream-json are added if missing. The two options of miriad-code are removed, because
Claude Code refuses unknown options.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from turnwire.protocol.dialects import DIALECTS, MIRIAD
from turnwire.protocol.errors import TurnwireError

FOREIGN = ("miriad", "json_rpc")
"""Dialects of agents that accept none of Claude Code's options."""

USAGE = """\
usage: turnwire stdio [--as auto|claude|miriad|json_rpc] [--agent NAME] [--config FILE] [--] [OPTIONS OF THE CLI]

The whole sidecar as one agent on stdin and stdout, over any CLI underneath.

  --as      protocol of the caller; auto (the default) takes it from the first line
  --agent   claude (the default), demo, or another agent that `turnwire agents` lists
  --config  TOML file with settings
  -v        the version of the CLI underneath

Everything after these options goes to the CLI, except --stdio and --db FILE: they select the miriad-code protocol.

Examples:
  turnwire stdio --agent demo -p --output-format stream-json --input-format stream-json   # as an SDK starts it
  turnwire stdio --agent gemini -p --output-format stream-json --input-format stream-json   # the same over another agent
  turnwire stdio --stdio --db state.db                                                     # the miriad-code protocol
"""

SPEAKS = (
    ("--input-format", "stream-json"),
    ("--output-format", "stream-json"),
)
"""Options that every CLI must be started with."""


class UsageError(TurnwireError):
    """The command line is wrong. The message says why."""


SPEC_1_FLAG, SPEC_1_DATABASE = "--stdio", "--db"
"""Options of miriad-code. A CLI stores its sessions itself, so the database is not used."""


class Arguments(Struct, frozen=True):
    """The parsed command line."""

    spoken: str = "auto"
    """The caller's dialect."""
    agent: str | None = None
    config: Path | None = None
    rest: tuple[str, ...] = ()
    """Options for the CLI."""

    @property
    def asks_version(self) -> bool:
        """True if only the version is requested."""
        return self.rest[:1] in (("-v",), ("--version",))

    @property
    def asks_help(self) -> bool:
        """True if only the usage text is requested."""
        return self.rest[:1] in (("-h",), ("--help",))


def read_arguments(argv: Sequence[str]) -> Arguments:
    """Parse the command line. Raises UsageError."""
    own: dict[str, str] = {}
    rest = list(argv)
    while rest:
        name, equals, value = rest[0].partition("=")
        if name == "--":
            rest.pop(0)
            break
        if name not in ("--as", "--agent", "--config"):
            break
        rest.pop(0)
        if not equals:
            if not rest:
                raise UsageError(f"{name} needs a value")
            value = rest.pop(0)
        own[name] = value
    spoken = own.get("--as", "auto")
    if spoken not in DIALECTS:
        raise UsageError(f"--as must be one of {', '.join(DIALECTS)}, not {spoken!r}")
    if spoken == "auto" and without_spec_1(rest) != rest:
        spoken = MIRIAD.name
    config = Path(own["--config"]) if "--config" in own else None
    return Arguments(spoken, own.get("--agent"), config, tuple(rest))


def foreign_options(rest: Sequence[str]) -> list[str]:
    """Return the options for an agent other than Claude Code, without those that its caller would pass to Claude Code."""
    given = {option.partition("=")[0] for option in rest}
    return [] if given & {name for name, _ in SPEAKS} else list(rest)


def without_spec_1(rest: Sequence[str]) -> list[str]:
    """Return the options without those of miriad-code."""
    left: list[str] = []
    options = iter(rest)
    for option in options:
        if option == SPEC_1_DATABASE:
            next(options, None)
        elif option != SPEC_1_FLAG and not option.startswith(f"{SPEC_1_DATABASE}="):
            left.append(option)
    return left


def cli_options(rest: Sequence[str]) -> list[str]:
    """Return the options of the CLI, with those for stream-json."""
    rest = without_spec_1(rest)
    given = {option.partition("=")[0] for option in rest}
    missing = [f"{name}={value}" for name, value in SPEAKS if name not in given]
    if missing and not {"-p", "--print"} & given:
        missing.insert(0, "-p")
    # the CLI requires it for stream-json output
    if "--verbose" not in given:
        missing.append("--verbose")
    return [*missing, *rest]


class GoesOn(Struct, frozen=True):
    """Which conversation a CLI goes on with, as its options say."""

    conversation: str | None
    """The conversation's id, if an option names it."""
    is_known: bool
    """Whether it goes on with a conversation that is there already, and does not fork it."""


NEW = GoesOn(None, False)
"""A new conversation."""


def goes_on(rest: Sequence[str]) -> GoesOn:
    """Read which conversation a CLI goes on with."""
    conversation, is_wanted, is_fork, before = None, False, False, ""
    for option in rest:
        name, equals, value = option.partition("=")
        if before in ("-r", "--resume") and not option.startswith("-"):
            conversation = option
        elif name in ("-r", "--resume"):
            is_wanted, conversation = True, value if equals else None
        elif name in ("-c", "--continue"):
            is_wanted = True
        elif name == "--fork-session":
            is_fork = True
        before = option
    is_known = is_wanted and not is_fork
    return GoesOn(conversation if is_known else None, is_known)

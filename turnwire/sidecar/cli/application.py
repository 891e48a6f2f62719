"""Shared by all commands: the application, and how it reports errors.

A user's error is one sentence on standard error and a non-zero exit: 2 for a wrong call or
configuration, 1 for work that failed.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from turnwire.protocol.visible import ordered


def examples(*lines: str) -> str:
    """Return the examples below a command's help."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


_WRONG_CALL = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""The base class of all errors of a wrong call. typer does not export it."""


@contextmanager
def _spelt_errors() -> Iterator[None]:
    """Show hidden characters in the quoted parts of errors: a shell expands `*` to file names, which may contain them.

    Leave out the words that pydantic puts before the text of a ValueError.
    """
    try:
        yield
    except _WRONG_CALL as error:
        error.message = ordered(error.message.removeprefix("Value error, "))
        raise


class _Commands(TyperGroup):
    """The commands."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the arguments before the command."""
        with _spelt_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, *args: Any, **kwargs: Any) -> Any:
        """Read the arguments of the command, and run it."""
        with _spelt_errors():
            return super().invoke(*args, **kwargs)


app = typer.Typer(
    name="turnwire",
    cls=_Commands,
    help="A sidecar for coding-agent CLIs: typed events over WebSocket, recordings, traces.",
    epilog=examples(
        "turnwire run --agent demo   # a session to try, without an account",
        "turnwire run                # Claude Code in this folder",
        "turnwire doctor             # when something does not work",
        "turnwire COMMAND --help     # every option, with examples",
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def fail(message: str, code: int = 1) -> NoReturn:
    """Print an error as one sentence, and exit."""
    typer.echo(f"turnwire: {ordered(message)}", err=True)
    raise typer.Exit(code)


@contextmanager
def plain_errors(*kinds: type[Exception], code: int = 1) -> Iterator[None]:
    """Turn errors of these kinds, which are the caller's to mend, into one sentence each."""
    try:
        yield
    except kinds as error:
        fail(str(error), getattr(error, "exit_code", code))
    except BrokenPipeError:
        # The reader of our stdout has gone, as `head` does; nothing is left to say, and nothing to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(128 + signal.SIGPIPE) from None
    except KeyboardInterrupt:
        raise typer.Exit(128 + signal.SIGINT) from None


def check_address(url: str, option: str = "--connect") -> None:
    """Fail with one sentence where an option names no hub."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https", "ws", "wss"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        shown = url.partition("#")[0]
        fail(
            f"{option} {shown!r} is not the address of a hub; give the URL that `turnwire run` or `serve` prints",
            2,
        )


def version_option(value: bool) -> None:
    """Print the version and stop."""
    if value:
        from turnwire._runtime.version import VERSION

        typer.echo(f"turnwire {VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=version_option, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A sidecar for coding-agent CLIs: typed events over WebSocket, recordings, traces."""

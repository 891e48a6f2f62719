"""The commands about rules: what a file of rules decides, before an agent runs into it."""

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnwire.protocol.visible import ordered
from turnwire.sidecar.cli.application import app, examples, fail, plain_errors

if TYPE_CHECKING:
    from turnwire.adapter.permissions.explain import Explanation
    from turnwire.protocol.json_values import JsonObject

rules = typer.Typer(help="See what a file of rules decides.", no_args_is_help=True)
app.add_typer(rules, name="rules")

MAX_LINE = 4 * 1024 * 1024
"""Bytes of a line on standard input."""


@rules.callback()
def root() -> None:
    """Rules of permissions, as --rules names them."""


@rules.command(
    "explain",
    short_help="Show what rules decide about a tool call, and why.",
    epilog=examples(
        "turnwire rules explain --rules rules.toml -- git push --force",
        "turnwire rules explain --rules rules.toml 'cd x && rm -rf y'",
        """echo '{"file_path": ".env"}' | turnwire rules explain --rules rules.toml --tool Write --stdin""",
    ),
)
def explain_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]...", help="A command for Bash: one line in quotes, or its words."),
    ] = None,
    *,
    file: Annotated[Path, typer.Option("--rules", help="The file of rules.")],
    tool: Annotated[str, typer.Option(help="The tool's name in rules.")] = "Bash",
    stdin: Annotated[
        bool,
        typer.Option(
            "--stdin",
            help="Read tool inputs from stdin, one JSON object a line. Print the decision about each as a line of JSON.",
        ),
    ] = False,
) -> None:
    """Show what rules decide about a tool call. Relative paths start in this folder; links are followed."""
    from turnwire.config.rulebook import read_rulebook
    from turnwire.config.settings import ConfigurationError

    if bool(words) == stdin:
        fail("name a command to explain, or read tool inputs with --stdin; one of the two", 2)
    with plain_errors(ConfigurationError, code=2):
        book = read_rulebook(file)

    from turnwire.adapter.permissions.calls import ToolCall
    from turnwire.adapter.permissions.explain import explain
    from turnwire.adapter.permissions.real_paths import real_paths_of, session_places

    places = session_places(book.rules, str(Path.cwd()), str(Path.home()))

    def explained(arguments: "JsonObject") -> "Explanation":
        from msgspec.structs import replace

        call = ToolCall(tool, arguments)
        real = {**places.real, **real_paths_of([call], book.rules, places)}
        return explain(book.rules, call, replace(places, real=real))

    for warning in book.warnings:
        typer.echo(f"turnwire: {ordered(str(file))}: {ordered(warning)}", err=True)
    if stdin:
        with plain_errors():
            raise typer.Exit(_answer(sys.stdin.buffer, explained))
    import shlex

    told = words or []
    found = explained({"command": told[0] if len(told) == 1 else shlex.join(told)})
    typer.echo(f"{found.decision}: {ordered(found.why)}")
    if found.rule is not None and (reason := book.rules[found.rule - 1].reason):
        typer.echo(f"the agent is told: {ordered(reason)}")


def _answer(lines: Iterable[bytes], explained: "Callable[[JsonObject], Explanation]") -> int:
    """Print a line for each; return the exit code: 1 where one of them could not be read."""
    code = 0
    for number, line in enumerate(lines, 1):
        try:
            found = explained(_arguments(line))
        except (ValueError, RecursionError) as error:
            code = 1
            told: dict[str, object] = {
                "error": f"line {number} is no tool input: {error}; give one JSON object a line"
            }
        else:
            told = {"decision": found.decision, "rule": found.rule, "why": found.why}
        # a tool input is a stranger's text: nothing in it may reach a terminal as it is
        typer.echo(json.dumps(told))
    return code


def _arguments(line: bytes) -> "JsonObject":
    from turnwire.protocol.parsing import depth

    if len(line) > MAX_LINE:
        raise ValueError(f"it is longer than {MAX_LINE >> 20} MiB")
    if not line.strip():
        raise ValueError("it is empty")
    found = depth.parse(line)
    if not isinstance(found, dict):
        raise ValueError(f"it is a JSON {type(found).__name__}")  # noqa: TRY004 - of what is read, not of a call
    return found

from pathlib import Path

import pytest

from turnwire.sidecar.streams.stdio.arguments import (
    NEW,
    Arguments,
    GoesOn,
    UsageError,
    cli_options,
    foreign_options,
    goes_on,
    read_arguments,
)

SDK = ["--output-format", "stream-json", "--verbose", "--system-prompt", "", "--input-format", "stream-json"]


def test_what_the_sdk_gives_goes_on_as_it_is() -> None:
    arguments = read_arguments(SDK)
    assert arguments == Arguments(rest=tuple(SDK))
    assert cli_options(arguments.rest) == SDK


def test_our_options_stand_first_in_either_spelling() -> None:
    arguments = read_arguments(["--as", "miriad", "--agent=demo", "--config", "a.toml", "--agent", "theirs"])
    assert arguments == Arguments("miriad", "theirs", Path("a.toml"), ())
    assert read_arguments(["--model", "m", "--agent", "theirs"]).rest == ("--model", "m", "--agent", "theirs")
    assert read_arguments(["--as=claude", "--", "--agent", "theirs"]).rest == ("--agent", "theirs")


def test_a_cli_is_made_to_speak_stream_json() -> None:
    assert cli_options(["--model", "m"]) == [
        "-p",
        "--input-format=stream-json",
        "--output-format=stream-json",
        "--verbose",
        "--model",
        "m",
    ]
    assert cli_options(["-p", "--verbose", "--output-format=stream-json"]) == [
        "--input-format=stream-json",
        "-p",
        "--verbose",
        "--output-format=stream-json",
    ]


def test_an_agent_that_is_not_claude_code_gets_none_of_what_is_said_to_one() -> None:
    assert foreign_options(SDK) == foreign_options(["--input-format=stream-json"]) == []
    assert foreign_options(["--stdio", "--db", "x"]) == ["--stdio", "--db", "x"]


@pytest.mark.parametrize("database", [["--db", "./agent.db"], ["--db=./agent.db"], []])
def test_the_command_line_of_spec_1_is_taken(database: list[str]) -> None:
    arguments = read_arguments(["--stdio", *database, "--model", "m"])
    assert arguments.spoken == "miriad"
    assert cli_options(arguments.rest)[-2:] == ["--model", "m"]
    assert not {"--stdio", "--db", "--db=./agent.db", "./agent.db"} & set(cli_options(arguments.rest))
    assert read_arguments(["--as=claude", "--stdio"]).spoken == "claude"


@pytest.mark.parametrize("rest", [["-v"], ["--version"], ["-v", "--anything"]])
def test_a_version_is_asked_for_by_the_first_option(rest: list[str]) -> None:
    assert read_arguments(["--agent=demo", *rest]).asks_version
    assert not read_arguments(["--model", *rest]).asks_version


def test_help_is_ours() -> None:
    assert read_arguments(["--help"]).asks_help


@pytest.mark.parametrize("argv", [["--as"], ["--as", "klingon"], ["--config"]])
def test_a_wrong_call_is_refused(argv: list[str]) -> None:
    with pytest.raises(UsageError):
        read_arguments(argv)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--resume", "c", "--model", "m"], GoesOn("c", True)),
        (["-p", "-r=c"], GoesOn("c", True)),
        (["--resume", "--verbose"], GoesOn(None, True)),
        (["-c"], GoesOn(None, True)),
        (["--continue", "--fork-session"], NEW),
        (["--fork-session", "--resume=c"], NEW),
        (["--session-id", "c"], NEW),
    ],
)
def test_the_options_say_which_conversation_a_cli_goes_on_with(options: list[str], found: GoesOn) -> None:
    assert goes_on(options) == found

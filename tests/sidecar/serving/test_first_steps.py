"""What somebody does in the first minutes, as real processes: every wrong step says what to do, and no right one is lost."""

import asyncio
import io
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from live import Frontend, program, real_setup
from preloaded import ran
from real_cli import real_cli
from recordings import recording
from scripted_messages_api import plan, scripted_messages_api, text
from turnwire.client import connect
from turnwire.client.events import Complete
from turnwire.sidecar.cli.prompt import FLAGS, LISTS, PromptError, without_prompt
from turnwire_process import DEADLINE, TURNWIRE, environment, turnwire


def call(
    folder: Path, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*TURNWIRE, *arguments],
        cwd=folder,
        env=environment(folder / "home", **(variables or {})),
        input=stdin,
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )


def complaint(folder: Path, *arguments: str, code: int = 1, **variables: str) -> str:
    """The one sentence that a call ends with."""
    done = ran(arguments, cwd=folder, env=environment(folder / "home", **variables))
    said = done.stderr.decode()
    assert done.returncode == code, said
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1, said
    return said


@pytest.mark.long
@pytest.mark.parametrize("module", ["protocol", "typing", "json", "msgspec", "scripted_agent"])
async def test_the_demo_imports_nothing_of_the_folder_it_works_in(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text(
        "open('imported', 'w'); raise SystemExit('this is not turnwire')\n"
    )
    # as it is when installed: not by `python -m`, which puts the current folder first
    start = ("-P", "-m", "turnwire", "run", "--agent", "demo", "--port", "0")
    process = await asyncio.create_subprocess_exec(
        TURNWIRE[0],
        *start,
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE):
            url = (await process.stdout.readline()).decode().split()[-1:]
            assert url, (await process.communicate())[1].decode()
            async with connect(url[0]) as client:
                frontend = Frontend(client, client.known_sessions[-1].session)
                await frontend.prompt("/help")
                await frontend.until(Complete)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()
    assert not (tmp_path / "imported").exists()


@pytest.mark.long
async def test_a_prompt_among_the_arguments_of_the_real_cli_is_delivered(tmp_path: Path) -> None:
    prompt = plan([text("It was heard.")], note="do something")
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        command = ("run", "--", *setup.argv, "--model", "sonnet", "-p", prompt)
        async with turnwire(tmp_path, *command, env=setup.env) as served, connect(served.url) as client:
            frontend = Frontend(client, client.known_sessions[-1].session)
            assert (await frontend.until(Complete)).data.outcome == "completed"
            assert frontend.text() == "It was heard."
        assert prompt in [
            block.get("text") for message in api.requests[-1]["messages"] for block in blocks(message)
        ]


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"text": content}] if isinstance(content, str) else content


def test_the_options_of_the_real_cli_take_what_they_are_known_to_take() -> None:
    shown = subprocess.run(
        [real_cli(), "--help"], env={"HOME": "/nonexistent"}, capture_output=True, text=True, check=True
    ).stdout
    options = re.findall(r"^  (-\S.*?)(?:  |$)", shown.partition("\nCommands:")[0], re.MULTILINE)
    assert len(options) > 40
    for option in options:
        names = set(re.findall(r"--?[\w-]+", option.partition("<")[0].partition("[")[0]))
        long = {name for name in names if name.startswith("--")}
        assert (long <= LISTS) == ("..." in option), option
        assert (long <= FLAGS) == ("<" not in option and "[" not in option), option


@pytest.mark.parametrize(
    ("given", "argv", "prompt"),
    [
        ("claude", "claude", None),
        ("claude|do X", "claude", "do X"),
        ("/opt/bin/claude|--model|opus|do X", "/opt/bin/claude|--model|opus", "do X"),
        ("claude|do X|--model|opus", "claude|--model|opus", "do X"),
        ("claude|-p|do X", "claude|-p", "do X"),
        ("claude|-pc|do X", "claude|-pc", "do X"),
        ("claude|--verbose|do X", "claude|--verbose", "do X"),
        ("claude|--model=opus|do X", "claude|--model=opus", "do X"),
        ("claude|--allowedTools|Read|Bash", "claude|--allowedTools|Read|Bash", None),
        ("claude|--allowed-tools|Read|Bash|-c|do X", "claude|--allowed-tools|Read|Bash|-c", "do X"),
        ("claude|--resume|0f0f", "claude|--resume|0f0f", None),
        ("claude|--option-of-tomorrow|value", "claude|--option-of-tomorrow|value", None),
        ("claude|--|-x is wrong", "claude", "-x is wrong"),
        ("npx|-y|@anthropic-ai/claude-code@2.1.0|do X", "npx|-y|@anthropic-ai/claude-code@2.1.0", "do X"),
        ("python|agent.py|do X", "python|agent.py|do X", None),
        ("my-claude|do X", "my-claude|do X", None),
        ("claude|", "claude", None),
    ],
)
def test_the_prompt_is_told_from_values_of_options(given: str, argv: str, prompt: str | None) -> None:
    assert without_prompt(given.split("|")) == (argv.split("|"), prompt)


def test_a_prompt_without_quotes_is_refused() -> None:
    with pytest.raises(PromptError, match="quotes"):
        without_prompt(["claude", "do", "X"])


def test_two_prompts_are_refused(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert "--prompt" in complaint(tmp_path, "run", "--prompt", "this", "--", str(program), "that", code=2)


def test_the_help_of_run_shows_where_a_cli_goes(tmp_path: Path) -> None:
    shown = call(tmp_path, "run", "--help").stdout.decode()
    assert "-- CLI ARGUMENTS" in shown.splitlines()[0] + shown.splitlines()[1]


def test_a_program_that_cannot_be_run_is_told_from_one_that_is_not_there(tmp_path: Path) -> None:
    assert "not executable" in complaint(tmp_path, "run", "--", "/etc/passwd")
    assert "directory" in complaint(tmp_path, "run", "--", "/etc")
    assert "no file" in complaint(tmp_path, "run", "--", "./not-here")
    assert "PATH" in complaint(tmp_path, "run", "--", "not-here")


@pytest.mark.parametrize("place", [pytest.param(".claude/local", marks=pytest.mark.long), ".local/bin"])
def test_a_cli_where_its_installers_put_it_is_found_without_path(tmp_path: Path, place: str) -> None:
    claude = tmp_path / "home" / place / "claude"
    claude.parent.mkdir(parents=True)
    claude.write_text("#!/bin/sh\necho '2.1.330 (Claude Code)'\n")
    claude.chmod(0o755)
    found = call(tmp_path, "doctor", "--port", "0", variables={"PATH": "/usr/bin:/bin"}).stdout.decode()
    assert str(claude) in found


def certificate(folder: Path) -> tuple[Path, Path]:
    made, key = folder / "certificate.pem", folder / "key.pem"
    command = f"{program('openssl')} req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=x -keyout {key} -out {made}"
    subprocess.run(command.split(), check=True, capture_output=True)
    return made, key


@pytest.mark.long
def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    made, key = certificate(tmp_path)
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nonsense")
    for chain, private, says in [
        (tmp_path / "missing.pem", key, "missing.pem"),
        (made, tmp_path / "lost.pem", "lost.pem"),
        (nonsense, key, "nonsense.pem"),
        (made, nonsense, "nonsense.pem"),
        (tmp_path, key, "directory"),
    ]:
        said = complaint(
            tmp_path,
            "serve",
            "--port",
            "0",
            TURNWIRE_TLS_CERTIFICATE=str(chain),
            TURNWIRE_TLS_KEY=str(private),
        )
        assert says in said
        assert "tls_" in said
        assert "--port" not in said
    assert "tls_certificate" in complaint(tmp_path, "serve", "--port", "0", TURNWIRE_TLS_KEY=str(key))


def test_redact_names_the_file_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("{}\n")
    assert "Errno" not in (said := complaint(tmp_path, "redact", "missing", "out"))
    assert "missing: No such file" in said
    assert "there: File exists" in complaint(tmp_path, "redact", "there", "there")
    assert "no/such/folder" in complaint(tmp_path, "redact", "there", "no/such/folder/out")


@pytest.mark.long
def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    folder = recording("2.1.330", "plain-text").folder
    said = (folder / "stdout.jsonl").read_bytes()
    (tmp_path / "said.jsonl").write_bytes(said)
    for command in (["translate"], ["replay"], ["inspect", "--json"]):
        by_name = call(tmp_path, *command, "said.jsonl")
        by_dash = call(tmp_path, *command, "-", stdin=said)
        assert by_dash.returncode == 0, by_dash.stderr.decode()
        assert by_dash.stdout == by_name.stdout != b""
    assert call(tmp_path, "redact", "-", "copy.jsonl", stdin=said).returncode == 0
    assert call(tmp_path, "translate", "copy.jsonl").stdout.count(b"\n") == call(
        tmp_path, "translate", "said.jsonl"
    ).stdout.count(b"\n")
    assert call(tmp_path, "doctor", "--agent", "demo", "--port", "0", "-", stdin=said).returncode == 0


def test_redact_writes_to_standard_output_where_the_copy_is_a_dash(tmp_path: Path) -> None:
    (tmp_path / "said").write_bytes(b'{"mail": "someone@example.org", "rest": "\xff"}\n')
    for source, stdin in (("said", b""), ("-", (tmp_path / "said").read_bytes())):
        done = call(tmp_path, "redact", source, "-", stdin=stdin)
        assert done.returncode == 0
        assert b"someone" not in done.stdout
        assert done.stdout.endswith(b'", "rest": "\xff"}\n')
        assert done.stderr.startswith(b"standard output: 1 lines; replaced 1 x e-mail address.")
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["said"]
    (tmp_path / "folder").mkdir()
    assert "the copy of a folder is a folder" in complaint(tmp_path, "redact", "folder", "-")


@pytest.mark.long
def test_a_pipe_that_is_named_is_read_once_and_whole(tmp_path: Path) -> None:
    said = (recording("2.1.330", "plain-text").folder / "stdout.jsonl").read_bytes()
    (tmp_path / "said.jsonl").write_bytes(said)
    for command in (["replay"], ["inspect", "--json"]):
        piped = call(tmp_path, *command, "/dev/stdin", stdin=said)
        assert piped.returncode == 0, piped.stderr.decode()
        assert piped.stdout == call(tmp_path, *command, "said.jsonl").stdout != b""


def test_redact_says_in_one_line_what_it_wrote_whatever_the_copy_is_called(tmp_path: Path) -> None:
    (tmp_path / "there").write_text('{"mail": "someone@example.org"}\n')
    done = call(tmp_path, "redact", "there", "copy[red].jsonl")
    assert done.returncode == 0
    (said,) = done.stderr.decode().splitlines()
    assert said.startswith("copy[red].jsonl: 1 lines")


def test_a_dash_from_a_terminal_is_refused(tmp_path: Path) -> None:
    controlling, terminal = os.openpty()
    for command in ("translate", "inspect"):
        done = subprocess.run(
            [*TURNWIRE, command, "-"],
            cwd=tmp_path,
            env=environment(tmp_path / "home"),
            stdin=terminal,
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
        assert done.returncode == 1
        assert b"terminal" in done.stderr
    os.close(terminal)
    os.close(controlling)


def test_a_replay_into_a_pipe_does_not_wait(tmp_path: Path) -> None:
    rows = tmp_path / "raw.jsonl"
    row = '{{"ts":"2026-01-01T{hour:02}:00:00Z","protocol":"streamjson","agent":"a","event":"recv","data":{{"type":"x"}}}}\n'
    rows.write_text(
        "".join(row.format(hour=hour) for hour in range(24)) * 20
    )  # pauses of an hour are played as 5 s
    done = call(tmp_path, "replay", "raw.jsonl")
    assert done.returncode == 0, done.stderr.decode()
    assert len(io.BytesIO(done.stdout).readlines()) >= 480

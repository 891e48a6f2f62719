"""The commands of README and docs, word by word: each is executed, or stands below with the test that does, or why none can.

They run as in the documents' order, in a folder and a home of their own, with the scripted agent by the name of every CLI they name.
"""

import json
import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kept_sessions import all_kept

from preloaded import ran
from recordings import ROOT, recording
from turnwire_process import environment, preloaded_turnwire

PROGRAMS = frozenset({
    "turnwire", "make", "pip", "pipx", "uv", "uvx", "npm", "npx", "node", "python", "python3", "docker", "kubectl", "helm", "redis-server",
    "redis-cli", "git", "curl", "sh", "bash", "export", "cd", "sudo", "apt", "apt-get", "brew", "openssl", "systemctl", "ssh", "exec", "source",
    "cp", "mv", "mkdir", "rm", "ls", "cat", "echo", "chmod",
})  # fmt: skip
"""First words that make a line a command; files of this checkout do, too."""

SHELLS = frozenset({"", "sh", "bash", "shell", "console"})
"""What the fence of a block with commands may say; other blocks hold data and code."""

STAND_INS = {
    "claude": "claude",
    "gemini": "acp",
    "opencode": "acp",
    "codex": "claude",
    "my-agent": "acp",
    "my-cli": "claude",
}
"""CLIs that commands name, and what the scripted agent speaks by that name."""

KEPT = next(one for one in all_kept() if one.version == "2.1.330" and len(one.files) == 1).file
"""A conversation that Claude Code has kept."""

WORDS = {"SCRIPT": "demo", "WORDS": "hello", "ID": KEPT.stem}
"""Words in commands that stand for others."""


@dataclass(frozen=True)
class Command:
    """A command of a document."""

    document: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}: {self.text}"


def documents() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def block_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of blocks that may hold commands, with their numbers; one that ends in a backslash goes on in the next."""
    fence: str | None = None
    begun: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fence = line.strip("`").strip() if fence is None else None
        elif fence in SHELLS or (fence is None and line.startswith("    ")):
            at, before = begun or (number, "")
            whole = before + line.strip().removeprefix("$ ")
            begun = (at, whole.removesuffix("\\")) if whole.endswith("\\") else None
            if begun is None:
                yield at, whole


def without_comment(line: str) -> str:
    return re.split(r"\s+#(?:\s|$)", line)[0].strip()


def is_command(line: str) -> bool:
    words = re.sub(r"^(?:[A-Z_]+=\S+\s+)+", "", line).split()
    if not words or (words[0] == "turnwire" and words[1:2] == ["is"]):
        return False  # "turnwire is ready" is what it prints
    return (
        words[0] in PROGRAMS or ("/" in words[0] and (ROOT / words[0]).is_file()) or ".venv/bin/" in words[0]
    )


def commands() -> list[Command]:
    return [
        Command(path.relative_to(ROOT).as_posix(), number, text)
        for path in documents()
        for number, line in block_lines(path.read_text("utf-8"))
        if is_command(text := without_comment(line))
    ]


TRIED_BY = {
    "make demo": "tests/e2e/test_make_demo.py",
    "make release-check": "tests/e2e/test_release.py",
    ".venv/bin/python examples/python_client.py \"$URL\" 'What is in this folder?'": "tests/examples/test_examples.py",
    'examples/follow.sh "$URL"': "tests/examples/test_examples.py",
    "npm ci && npm run example -- \"$URL\" 'What is in this folder?'": "tests/examples/test_examples.py",
    "turnwire hub --journal redis://redis.example": "tests/fleet/test_commands.py",
    "turnwire serve --worker build-1 --journal redis://redis.example:6379/0": "tests/fleet/test_commands.py",
    "turnwire hub --journal redis://redis.example:6379/0 --host 0.0.0.0": "tests/fleet/test_commands.py",
    "turnwire conform agent --agent gemini": "tests/conform/test_agents.py",
    "turnwire conform agent --json -- my-cli": "tests/conform/test_agents.py",
    "turnwire conform frontend": "tests/conform/test_frontends.py",
    "turnwire conform frontend -- python examples/conforming.py": "tests/conform/test_frontends.py",
    "PYTHONPATH=.:tests/support/recorded .venv/bin/python -m tests.fuzz --seconds 60": "tests/fuzz/test_fuzz.py",
    "PYTHONPATH=.:tests/support/recorded .venv/bin/python -m tests.fuzz claude --inputs 100000 --keep 40": "tests/fuzz/test_fuzz.py",
    "turnwire mcp": "tests/e2e/test_mcp_server.py",
    "turnwire attach": "tests/e2e/test_terminal.py",
    "turnwire attach SESSION": "tests/e2e/test_terminal.py",
    "turnwire attach 'http://127.0.0.1:8790/#token=…'": "tests/e2e/test_terminal.py",
    "turnwire run --attach": "tests/e2e/test_terminal.py",
    "turnwire attach --native": "tests/e2e/test_hand_over.py",
    "turnwire worktrees": "tests/frontends/terminal/test_worktrees.py",
    "turnwire fleet list --journal redis://redis.example:6379/0": "tests/fleet/test_operating.py",
    "turnwire fleet cordon build-1": "tests/fleet/test_operating.py",
    "turnwire fleet drain build-1": "tests/fleet/test_operating.py",
    "turnwire fleet uncordon build-1": "tests/fleet/test_operating.py",
    "turnwire fleet take SESSION build-2": "tests/fleet/test_operating.py",
    "turnwire fleet forget build-1": "tests/fleet/test_operating.py",
    "echo 'Run the tests.' | turnwire attach --plain": "tests/e2e/test_terminal.py",
    'exec turnwire stdio --agent claude "$@"': "tests/sidecar/streams/test_stdio_sdk.py",
}
"""Commands that a test of their own runs, with what they need."""

CANNOT = {
    "make test": "this runs in it",
    "make test-long": "the same",
    ".venv/bin/python -m pytest tests/normalize/native --update-goldens": "writes goldens",
    ".venv/bin/python -m pytest tests/normalize/native": "these tests run beside it",
    "TURNWIRE_NATIVE_CORPUS=FOLDER .venv/bin/python -m pytest tests/normalize/native": "reads recordings of one's own",
    "make audit": "asks the network which packages have known faults",
    "python bench/redaction.py FOLDER …": "measures folders of one's own",
    "pipx install .": "takes packages from the network; tests/e2e/test_wheel.py installs the wheel",
    "pipx install . && turnwire run": "the same, and turnwire run is tried elsewhere",
    "pipx install '.[agui]'": "the same",
    "pipx install '.[usechat]'": "the same",
    "pipx install '.[mcp]'": "the same",
    "pipx install --force '.[tui]'": "the same",
    "redis-server --appendonly yes --appendfsync always": "takes a fixed port; tests/fleet start one on a port of their own",
    "docker build -t turnwire .": "needs docker",
    'docker run --rm -p 127.0.0.1:8790:8790 -e TURNWIRE_TOKEN="$(openssl rand -hex 16)" turnwire': "needs docker",
    "docker build -t turnwire-claude --target claude .": "needs docker, and the network",
    'docker run --rm -p 127.0.0.1:8790:8790 -e TURNWIRE_TOKEN="$(openssl rand -hex 16)" -e ANTHROPIC_API_KEY '
    '-v "$PWD:/workspace" -v turnwire-claude:/home/turnwire/.claude turnwire-claude': "needs docker, and a login",
    "export TURNWIRE_TOKEN=$(openssl rand -hex 16) TURNWIRE_VIEW_TOKEN=$(openssl rand -hex 16)": (
        "for the lines below it, the last of which needs docker"
    ),
    "export REDIS_PASSWORD=$(openssl rand -hex 16) REDIS_WORKER_PASSWORD=$(openssl rand -hex 16)": "the same",
    "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf TURNWIRE_TRACE_CONTENT=true": "for the lines below it",
    "export OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none": "for the lines below it",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:5000/v1/traces OTEL_EXPORTER_OTLP_TRACES_HEADERS=x-mlflow-experiment-id=0 "
    "OTEL_EXPORTER_OTLP_TIMEOUT=60 turnwire run": "needs MLflow",
    "docker compose --profile fleet up --build proxy worker-1 worker-2": "needs docker",
}
"""Commands that no test can run, and why."""

SERVES = {"run": 2, "serve": 2, "replay": 1, "agui": 1, "usechat": 1}
"""Commands that go on until a signal, and how many lines they print when they are ready; `replay` is one with --serve."""


def executed() -> list[Command]:
    """Commands that are executed here, each once in its document."""
    found = [command for command in commands() if command.text not in TRIED_BY and command.text not in CANNOT]
    return list({(command.document, command.text): command for command in found}.values())


def goes_on(words: list[str]) -> bool:
    return words[0] in SERVES and (words[0] != "replay" or "--serve" in words) and "--help" not in words


def test_every_command_of_the_documents_is_turnwires_or_in_a_list() -> None:
    found = {command.text for command in commands()}
    assert len(found) > 60
    unknown = [str(one) for one in executed() if not re.match(r"(?:[A-Z_]+=\S+ )?turnwire ", one.text)]
    assert unknown == [], "execute them, or say here why that cannot be"
    assert {*TRIED_BY, *CANNOT} - found == set(), "these stand in no document any more"
    assert [test for test in TRIED_BY.values() if not (ROOT / test).is_file()] == []


def prepared(folder: Path) -> dict[str, str]:
    """Put into a folder what the documents speak of; returns the environment."""
    programs, home = (
        folder / "bin",
        folder.parent / "home",
    )  # beside it: a sandbox refuses a workspace that holds the home
    programs.mkdir()
    for name, family in STAND_INS.items():
        program = programs / name
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -m turnwire.scripted_agent demo "$@" --family {family}\n'
        )
        program.chmod(0o755)
    turnwire = programs / "turnwire"
    turnwire.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -m turnwire "$@"\n')
    turnwire.chmod(0o755)
    said = (recording("2.1.330", "plain-text").folder / "stdout.jsonl").read_bytes()
    for name in ("session.jsonl", "recording.jsonl"):
        (folder / name).write_bytes(said)
    (folder / "turnwire.toml").write_text('policy = "supervised"\n')
    (folder / "rules.toml").write_text(
        '[[rules]]\naction = "deny"\ntool = "Bash"\ninput = { command = "rm *" }\n'
    )
    (folder / "my-script.yaml").write_text("turns:\n  - steps:\n      - text: Hello.\n")
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    (folder / "sessions").mkdir()
    kept_in = home / ".claude" / "projects" / "-srv"
    kept_in.mkdir(parents=True)
    shutil.copy(KEPT, kept_in)
    return environment(home, PATH=f"{programs}{os.pathsep}/usr/local/bin:/usr/bin:/bin")


def split(text: str) -> tuple[dict[str, str], list[str]]:
    """A command's variables, and its words without `turnwire`."""
    words = shlex.split(text)
    variables = dict[str, str]()
    while words[0] != "turnwire":
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    return variables, [WORDS.get(word, word) for word in words[1:]]


@pytest.mark.long
@pytest.mark.parametrize("document", sorted({command.document for command in executed()}))
async def test_the_commands_of_a_document_do_what_stands_there(document: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    env = prepared(work)
    for command in executed():
        if command.document != document:
            continue
        variables, words = split(command.text)
        if "--sandbox" in words:  # the stand-ins are programs of this checkout
            variables["TURNWIRE_SANDBOX_READABLE"] = json.dumps([str(ROOT), sys.prefix])
        if goes_on(words):
            # the ports that documents name may be taken by others who test
            own = ("--port", "0") if "--port" not in words else ()
            at = words.index("--") if "--" in words else len(words)
            call = [*words[:at], *own, *words[at:]]
            async with preloaded_turnwire(
                work, *call, env=env | variables, placed=False, named=False, stdout_lines=SERVES[words[0]]
            ) as served:
                assert "://127.0.0.1:" in served.url, command
                if words[0] in {"agui", "usechat"}:
                    # its server passes the signal on to itself when all is closed
                    served.process.terminate()
                    assert await served.process.wait() in (0, -signal.SIGTERM)
                    served.killed = True
        else:
            if "--otlp" in words:  # the document says that a variable names the collector
                variables["OTEL_TRACES_EXPORTER"] = "console"
            ended = ran(words, cwd=work, env=env | variables)
            assert ended.returncode == 0, f"{command}\n{ended.stderr.decode()}"
            assert b"Traceback" not in ended.stderr, command

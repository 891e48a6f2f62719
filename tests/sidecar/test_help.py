"""Help that teaches: what each command is for, in a line and in examples that can be typed; and completion by the shell."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from cases import for_each
from preloaded import ran
from recordings import ROOT
from turnwire.sidecar.cli.commands import FRONTENDS, MODULES, application
from turnwire_process import environment

OWN_WORDS = ("translate", "agent", "stdio")
"""Commands that read their arguments themselves, and say their help themselves."""


def every(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands, those of groups included, by their words."""
    for name, inner in getattr(command, "commands", {}).items():
        yield (*path, name), inner
        yield from every(inner, *path, name)


ROOT_COMMAND = typer.main.get_command(application())
COMMANDS = dict(every(ROOT_COMMAND))


def examples(text: str | None) -> list[str]:
    """The calls of an epilogue, without their comments and what stands before them in a pipe."""
    lines = (text or "").splitlines()
    calls = [re.split(r"\s+#\s", line.strip())[0] for line in lines if "turnwire " in line]
    return [re.split(r" [|>] (?!turnwire)", re.sub(r"^.*?turnwire ", "", call))[0] for call in calls]


def test_every_command_is_known_to_be_in_its_module() -> None:
    said = {name: f"turnwire.sidecar.cli.{module}" for module, names in MODULES.items() for name in names}
    said |= {name: f"turnwire.sidecar.cli.{name}" for name in FRONTENDS}
    app = application()
    commands = {one.name: one.callback.__module__ for one in app.registered_commands if one.callback}
    groups = {
        one.name: inner.callback.__module__
        for one in app.registered_groups
        if one.typer_instance
        for inner in one.typer_instance.registered_commands
        if inner.callback
    }
    assert said == {**commands, **groups}


def test_the_list_of_commands_says_of_each_what_it_is_for_without_being_cut() -> None:
    assert len(COMMANDS) > 28
    for path, command in COMMANDS.items():
        said = command.get_short_help_str()
        assert 10 < len(said) <= 60, (path, said)
        assert not said.endswith("..."), path


def test_every_example_of_a_help_can_be_typed() -> None:
    for path, command in {(): ROOT_COMMAND, **COMMANDS}.items():
        if path[:1] and (path[0] in OWN_WORDS or hasattr(command, "commands")):
            continue
        calls = examples(command.epilog)
        assert calls, path
        for call in calls:
            words = shlex.split(call)
            if words == ["COMMAND", "--help"]:
                continue
            assert words, (path, calls)
            size = 2 if hasattr(COMMANDS[(words[0],)], "commands") else 1
            # raises what is wrong with it, and runs nothing
            COMMANDS[tuple(words[:size])].make_context(words[size - 1], words[size:])
        assert any(call.split()[: len(path)] == list(path) for call in calls), path


@for_each("command", OWN_WORDS)
def test_who_reads_its_arguments_itself_says_its_usage(command: str, tmp_path: Path) -> None:
    done = ran([command, "--help"], cwd=tmp_path, env=environment(tmp_path / "home"))
    assert done.returncode == 0
    assert done.stdout.decode().startswith(f"usage: turnwire {command} ")


OFFERED = {
    "turnwire re": ["record", "redact", "replay"],
    "turnwire run --pol": ["--policy"],
    "turnwire run --policy ": ["autonomous", "plan", "supervised"],
    "turnwire run --agent ge": ["gemini", "gemini-json"],
    "turnwire token ": ["create", "list", "revoke"],
}


@pytest.mark.long
@for_each("typed, offered", OFFERED.items())
def test_zsh_and_fish_are_offered_commands_options_and_values(
    typed: str, offered: list[str], tmp_path: Path
) -> None:
    env = environment(
        tmp_path / "home",
        _TYPER_COMPLETE_ARGS=typed,
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _TURNWIRE_COMPLETE="complete_fish",
    )
    fish = ran([], cwd=tmp_path, env=env)
    assert sorted(line.split("\t")[0] for line in fish.stdout.decode().splitlines()) == offered
    zsh = ran([], cwd=tmp_path, env=env | {"_TURNWIRE_COMPLETE": "complete_zsh"}).stdout.decode()
    assert sorted(re.findall(r'^(?:.*\(\()?"([\w-]+)"', zsh, re.MULTILINE)) == offered


@pytest.mark.long
def test_bash_completes_with_what_turnwire_prints_for_it(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash, "this needs bash"
    turnwire = tmp_path / "bin" / "turnwire"
    turnwire.parent.mkdir()
    turnwire.write_text(
        f"#!{sys.executable} -P\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom turnwire.sidecar.cli import main\nmain()\n"
    )
    turnwire.chmod(0o755)
    script = """
        eval "$(env _TURNWIRE_COMPLETE=source_bash turnwire)"
        COMP_WORDS=(turnwire se) COMP_CWORD=1
        _turnwire_completion turnwire
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    env = environment(tmp_path / "home", PATH=f"{turnwire.parent}:/usr/local/bin:/usr/bin:/bin")
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["serve", "sessions", "search"], done.stderr


def test_the_example_of_the_runner_does_a_run(tmp_path: Path) -> None:
    lines = (COMMANDS[("runner",)].epilog or "").splitlines()
    (said, call) = next(line.strip() for line in lines if "echo" in line).split(" | turnwire ")
    done = subprocess.run(
        [sys.executable, "-m", "turnwire", *shlex.split(call)],
        input=shlex.split(said)[1].encode() + b"\n",
        capture_output=True,
        check=True,
        cwd=tmp_path,
        timeout=60,
        env=environment(tmp_path / "home"),
    )
    assert '"status":"ok"' in done.stdout.decode().splitlines()[-1]

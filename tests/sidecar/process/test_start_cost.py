"""What a command loads before it works: modules are counted, since seconds tell more of the machine.

Each test process and each agent's start pays for what is loaded here. A command that needs more has a reason for it: one that
reads a recording knows the cores of all families.
"""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recordings import ROOT, recordings
from turnwire.sidecar.process import garbage
from turnwire_process import environment, turnwire

SAY = """
import atexit, json, os, sys
say = lambda *_: open({out!r}, "w").write(json.dumps(sorted(sys.modules)))
atexit.register(say)
os._exit = lambda code, leave=os._exit: leave(say() and code)
sys.argv = ["turnwire", *sys.argv[1:]]
from turnwire.sidecar.cli import main
main()
"""

LOOKS = """
import atexit, gc, sys
looks = lambda: sum(one["collections"] for one in gc.get_stats())
begun = looks()
atexit.register(lambda: print(looks() - begun, gc.get_freeze_count(), len(gc.get_objects())))
sys.argv = ["turnwire", "schema", "events"]
from turnwire.sidecar.cli import main
main()
"""

DRAWS = ("rich", "structlog", "pygments")
TRACES = ("opentelemetry", "grpc", "google", "prometheus_client")
SERVES = ("asyncio", "websockets", "uvloop", "ssl", "sqlite3")
CHECKS = ("pydantic", "pydantic_settings", "typer", "turnwire.config.settings")
HUB = ("turnwire.hub.hub", "turnwire.hub.wire.frames", "websockets")
OTHER_COMMANDS = ("turnwire.sidecar.cli.live", "turnwire.sidecar.cli.token")
CORES = ("turnwire.normalize.families", "turnwire.normalize.claude.core")
EVENTS = ("turnwire.normalize.events", "turnwire.protocol.acp")
OF_OTHER_AGENTS = ("turnwire.normalize.acp.session_updates", "turnwire.normalize.acp.agents")
OPTIONAL = ("redis", "yaml", "detect_secrets")
RARE = (
    "dataclasses",
    "turnwire.normalize.acp.core",
    "turnwire.normalize.claude.session_files.reader",
    "hashlib",
    "tempfile",
)
"""What a recording of Claude's stdout has nothing of."""
RECORDING = recordings("partial-messages")[0].folder / "stdout.jsonl"


def loaded(tmp_path: Path, *arguments: str, stdin: str = "") -> set[str]:
    """Run a command to its end; return the names of the modules it had loaded then."""
    out = tmp_path / "modules.json"
    subprocess.run(
        [sys.executable, "-c", SAY.format(out=str(out)), *arguments],
        input=stdin.encode(),
        env=environment(tmp_path / "home"),
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return set(json.loads(out.read_text()))


def among(names: tuple[str, ...], modules: set[str]) -> list[str]:
    return sorted(name for name in names if name in modules)


@pytest.mark.parametrize(
    ("arguments", "absent", "most"),
    [
        (
            ["--help"],
            DRAWS + TRACES + SERVES + ("pydantic", "turnwire.config.settings") + OPTIONAL,
            196,
        ),
        (
            ["run", "--help"],
            DRAWS + TRACES + SERVES + ("turnwire.config.settings", "turnwire.hub") + OPTIONAL,
            287,
        ),
        (["translate", str(RECORDING)], DRAWS + TRACES + SERVES + CHECKS + OPTIONAL + RARE, 274),
        (
            ["inspect", str(RECORDING), "--json"],
            DRAWS + TRACES + SERVES + ("turnwire.config.settings",),
            456,
        ),
        (
            ["inspect", str(RECORDING)],
            ("structlog", *TRACES, *SERVES, "turnwire.config.settings"),
            510,
        ),
        (
            ["schema", "events"],
            DRAWS + TRACES + ("websockets", "uvloop", "sqlite3", *OPTIONAL, *OTHER_COMMANDS),
            324,
        ),
        (
            ["doctor", "--json", "--agent", "demo"],
            DRAWS + TRACES + ("uvloop", *HUB, *CORES, *OPTIONAL, *OTHER_COMMANDS),
            473,
        ),
    ],
    ids=lambda value: " ".join(value[:1]) if isinstance(value, list) else "",
)
def test_a_command_loads_what_it_needs(
    arguments: list[str], absent: tuple[str, ...], most: int, tmp_path: Path
) -> None:
    modules = loaded(tmp_path, *arguments)
    assert among(absent, modules) == []
    assert len(modules) <= most


def test_a_relay_loads_neither_the_hub_nor_a_journal(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "stdio", "--agent", "demo")
    absent = (*DRAWS, *TRACES, "typer", *HUB, *CORES, *EVENTS, "journal", "sqlite3", *OPTIONAL)
    assert among(absent, modules) == []
    assert len(modules) <= 417


def test_what_a_command_loads_is_never_looked_through_for_garbage(tmp_path: Path) -> None:
    said = subprocess.check_output(
        [sys.executable, "-c", LOOKS], env=environment(tmp_path), cwd=tmp_path, text=True, timeout=60
    )
    looks, left_alone, looked_through = map(int, said.split()[-3:])
    assert looks < 5, "before the command line is there"
    assert left_alone > 100 * looked_through


def test_what_goes_on_is_looked_through_and_what_was_loaded_is_not() -> None:
    before = gc.get_threshold()
    try:
        garbage.started()
        assert gc.isenabled()
        assert gc.get_threshold()[0] == garbage.WORKING < garbage.STARTING
        assert len(gc.get_objects()) < gc.get_freeze_count()
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_a_watchdog_loads_no_event_loop() -> None:
    say = "import sys; from turnwire.adapter.process.watch import watch; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {say}"]
    modules = set(subprocess.check_output(command, text=True, timeout=60).split())
    assert among(("asyncio", "subprocess", "msgspec", "logging", "pathlib", "typing", "re"), modules) == []
    assert len(modules) <= 50


def test_a_runner_loads_no_hub_and_no_journal(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "runner", "--agent", "demo")
    absent = (*DRAWS, *TRACES, "websockets", "turnwire.hub.hub", "sqlite3", *OPTIONAL)
    assert among(absent, modules) == []
    assert len(modules) <= 550


def test_the_scripted_agent_loads_no_settings_and_no_command_line(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "agent", "demo")
    assert "turnwire.scripted_agent.claude.claude_session" in modules
    absent = (*DRAWS, *TRACES, *CHECKS, "turnwire.normalize", "turnwire.hub", "importlib.resources")
    assert among(absent, modules) == []
    assert len(modules) <= 260


@pytest.mark.long
async def test_a_sidecar_in_which_nothing_happened_has_loaded_nothing_that_draws_or_measures(
    tmp_path: Path,
) -> None:
    hook = tmp_path / "hook"
    hook.mkdir()
    out = tmp_path / "modules.json"
    (hook / "sitecustomize.py").write_text(
        "import atexit, json, sys\n"
        "if sys.argv[1:2] == ['run'] or 'run' in sys.orig_argv:\n"
        f"    atexit.register(lambda: open({str(out)!r}, 'w').write(json.dumps(sorted(sys.modules))))\n"
    )
    variables = environment(tmp_path / "home", PYTHONPATH=os.pathsep.join([str(hook), str(ROOT)]))
    async with turnwire(tmp_path, "run", "--agent", "demo", env=variables):
        pass
    modules = set(json.loads(out.read_text()))
    assert "turnwire.hub.hub" in modules
    assert (
        among(
            (*DRAWS, *TRACES, *OPTIONAL, "turnwire.hub.schema", *OF_OTHER_AGENTS),
            modules,
        )
        == []
    )
    of_a_fleet = [
        name
        for name in modules
        if name.startswith(("turnwire.fleet", "turnwire.fleet", "turnwire.journal.redis"))
    ]
    assert set(of_a_fleet) <= {"turnwire.fleet", "turnwire.fleet.errors"}, "one machine has none"
    assert len(modules) <= 784

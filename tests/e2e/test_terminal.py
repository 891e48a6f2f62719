"""`turnwire attach` as people use it, in tmux: screens are compared as text, and the terminal is left as it was found."""

import asyncio
from pathlib import Path

import pytest
from tmux import Terminal, terminal

from turnwire_process import TURNWIRE, environment, turnwire

pytestmark = pytest.mark.long


def attach(folder: Path, *arguments: str) -> str:
    return " ".join([*TURNWIRE, "attach", *arguments, "--state-dir", str(folder / "state")])


async def decided(place: Terminal, *keys: str) -> None:
    """Press keys of a decision as a person does: after it has stood there for a moment."""
    place.keys("F2")
    for key in keys:
        await asyncio.sleep(1.5)  # the second that turnwire itself waits
        place.keys(key)


async def test_a_session_is_led_from_a_terminal_and_goes_on_when_it_leaves(tmp_path: Path) -> None:
    async with (
        turnwire(tmp_path, "run", "--agent", "demo") as served,
        terminal(tmp_path, attach(tmp_path), width=100, height=40) as place,
    ):
        await place.sees("idle", "Say something")
        place.keys("hello there", "Enter")
        await place.sees("y or 1: Allow", "? python -m pytest -q")
        place.keys("F2", "x", "z")  # at once: keys that mean nothing there, and do not go into the prompt
        await place.sees("y or 1: Allow", "Say something")
        await place.sees("without asking again")
        await decided(place, "3")
        await place.sees("This is remembered", ".claude/settings.local.json")
        place.keys("Escape")
        await decided(place, "y")
        await place.sees("Allowed by terminal", "How loud should the greeting be?")
        async with terminal(tmp_path, attach(tmp_path, served.session), "two", width=80, height=24) as other:
            await other.sees("How loud should the greeting be?")
            await decided(place, "2")
            await other.until_gone("How loud should the greeting be? ")
            await other.sees("Say something")
        place.keys("C-b")
        await place.sees("d: leave")
        place.keys("d")
        await place.sees("turnwire: left", "over", "-brkint")
        assert " icanon" in place.text()
        assert " echo " in place.text()


async def test_what_is_typed_ahead_goes_into_the_prompt_and_a_turn_is_interrupted(tmp_path: Path) -> None:
    script = tmp_path / "slow.yaml"
    script.write_text(
        "turns:\n"
        "  - steps:\n"
        "      - text: 'one two three'\n"
        "      - tool: Bash\n        input: {command: 'rm -rf build'}\n        permission: true\n        result: gone\n"
        "fallback:\n  steps:\n    - text: 'Echo: {prompt}'\n"
    )
    async with (
        turnwire(tmp_path, "run", "--", *TURNWIRE, "agent", str(script)),
        terminal(tmp_path, attach(tmp_path), width=200, height=50) as place,
    ):
        await place.sees("Say something")
        place.keys("go", "Enter", "y", "y", "1", "y")
        await place.sees("y or 1: Allow", "yy1y")
        place.keys("Escape")  # the field has the focus: it stops the turn
        await place.sees("Interrupted")
        await place.until_gone("y or 1: Allow")


async def test_hostile_text_stays_in_its_box_and_keys_in_a_row_remember_nothing(tmp_path: Path) -> None:
    hostile = (
        r"\e[2J\e[31m\u202e"
        + r"\u2764\ufe0f" * 90
        + r"\U0001f468\u200d\U0001f467" * 40
        + r"a"
        + r"\u0301" * 99
    )
    script = tmp_path / "hostile.yaml"
    script.write_text(
        "turns:\n  - steps:\n"
        f'      - text: "{hostile}"\n'
        f'      - tool: Bash\n        input: {{command: "{hostile}\\techo"}}\n        permission: true\n        result: "{hostile}"\n'
    )
    async with (
        turnwire(tmp_path, "run", "--", *TURNWIRE, "agent", str(script)),
        terminal(tmp_path, attach(tmp_path), width=80, height=24) as place,
    ):
        await place.sees("Say something")
        place.keys("go", "Enter")
        await place.sees("y or 1: Allow", "⟨U+202E⟩", "95 more marks")
        await decided(place, "PageDown", "2")
        place.keys("2", "2", "y", "y", "2", "Enter")
        await place.sees("remembered for later calls")
        lines = place.text().rstrip("\n").split("\n")
        box = lines[[line[:1] for line in lines].index("┏") : [line[:1] for line in lines].index("┗") + 1]
        assert {(line[0], line[-1]) for line in box} <= {("┏", "┓"), ("┃", "┃"), ("┗", "┛")}
        assert "waiting" in lines[0]
        assert [line[:1] for line in lines[-4:-1]] == ["╭", "│", "╰"]
        place.keys("Escape", "Escape")
        await place.sees("Say something")


async def test_the_hub_is_killed_and_comes_back(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", TURNWIRE_STATE_DIR=str(tmp_path / "state"))
    async with (
        turnwire(tmp_path, "run", "--agent", "demo", env=env) as served,
        terminal(tmp_path, attach(tmp_path), width=80, height=24) as place,
    ):
        await place.sees("idle", "Say something")
        await served.kill()
        await place.sees("no connection")
        again = ("serve", "--agent", "demo", "--port", served.base.rpartition(":")[2])
        async with turnwire(tmp_path, *again, placed=False, env=env):
            await place.until_gone("no connection")
            await place.sees("exited")


async def test_run_attach_is_one_command_that_leaves_nothing_behind(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", TURNWIRE_STATE_DIR=str(tmp_path / "state"))
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE, "run", "--attach", "--agent", "demo", "--port", "0",
        cwd=tmp_path, env=env, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(120):
        said, error = await process.communicate(b"hello\n")
    assert b"Request 1 " in said, error
    assert b"the input has ended" in said
    assert process.returncode == 1
    left = [
        one.name
        for one in Path("/proc").iterdir()
        if one.name.isdecimal() and str(tmp_path).encode() in _environment(one)
    ]
    assert not left


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""

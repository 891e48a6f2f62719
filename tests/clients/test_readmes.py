"""What the clients' pages promise is tested: every row of the table of behaviours names a test of either client."""

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_process import agent_command
from npm_workspace import run
from recordings import ROOT
from turnwire import client
from turnwire_process import environment, preloaded_turnwire

CLIENTS = ROOT / "clients"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (CLIENTS / "README.md").read_text("utf-8").partition("## The same behaviour")[2].splitlines()
    if line.startswith("| ") and not line.startswith("| when ")
]


def test_every_behaviour_has_a_test_of_either_client() -> None:
    python = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_python_*.py"))
    typescript = (CLIENTS / "typescript" / "test" / "client.test.ts").read_text("utf-8")
    assert len(ROWS) > 10
    for _, _, in_python, in_typescript in ROWS:
        assert f"def {in_python.strip('` |')}(" in python
        assert f'"{in_typescript.strip("` |")}"' in typescript


def test_both_pages_have_the_same_sections_in_the_same_order() -> None:
    python, typescript = (
        re.findall(r"^## .*$", (CLIENTS / name / "README.md").read_text("utf-8"), re.MULTILINE)
        for name in ("python", "typescript")
    )
    assert python == typescript != []


def test_both_clients_have_the_same_errors() -> None:
    typescript = (CLIENTS / "typescript" / "src" / "errors.ts").read_text("utf-8")
    in_typescript = dict(re.findall(r"class (\w+) extends (\w+)", typescript))
    errors = {
        name: each
        for name in client.__all__
        if isinstance(each := getattr(client, name), type) and issubclass(each, Exception)
    }
    assert in_typescript == {name: "Error" if name == "TurnwireError" else "TurnwireError" for name in errors}
    for page in ("python", "typescript"):
        text = (CLIENTS / page / "README.md").read_text("utf-8")
        assert [name for name in errors if f"`{name}`" not in text] == []


ANSWERS = """
turns:
  - steps: [{text: "the first answer"}]
  - steps: [{text: "the second answer"}]
"""


def snippets(page: str, url: str) -> list[str]:
    """The programs of a page, at the address of a hub."""
    found = re.findall(
        r"```(?:python|ts)\n(.*?)```", (CLIENTS / page / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert all(code.count("http://127.0.0.1:8790/#token=…") == 1 for code in found)
    return [str(code).replace("http://127.0.0.1:8790/#token=…", url) for code in found]


@asynccontextmanager
async def answering(folder: Path) -> AsyncIterator[str]:
    """The address of a session that has another answer to each prompt."""
    script = folder / "script.yaml"
    script.write_text(ANSWERS)
    command = ("run", "--", *agent_command(script))
    async with preloaded_turnwire(folder, *command, env=environment(folder / "home")) as served:
        yield served.url


async def test_the_first_program_of_pythons_page_shows_the_answer_to_its_own_prompt(tmp_path: Path) -> None:
    async with answering(tmp_path) as url:
        program = tmp_path / "frontend.py"
        (code,) = snippets("python", url)
        program.write_text(code)
        for answer in ("the first answer", "the second answer"):
            assert await run(sys.executable, program) == answer


@pytest.mark.node
@pytest.mark.long
async def test_so_does_that_of_typescripts_page_and_its_loop_reads_what_was_said(tmp_path: Path) -> None:
    async with answering(tmp_path) as url:
        # within the client's folder, where the package finds itself
        codes = snippets("typescript", url)
        programs = [CLIENTS / "typescript" / "test" / f"readme_{os.getpid()}_{n}.ts" for n in (0, 1)]
        for program, code in zip(programs, codes, strict=True):
            program.write_text(code)
        made = [program.with_suffix(".js") for program in programs]
        try:
            await run(
                *("npx", "tsc", "--target", "es2022", "--module", "nodenext", "--strict", "--skipLibCheck"),
                *("--types", "node"),
                *programs,
            )
            made = [each.rename(each.with_suffix(".mjs")) for each in made]
            node = ("node", "--experimental-websocket", "--no-warnings")
            for answer in ("the first answer", "the second answer"):
                assert await run(*node, made[0]) == answer
            assert (await run(*node, made[1])).count(" turn_started") == 2
        finally:
            for path in (*programs, *made):
                path.unlink(missing_ok=True)

"""The TypeScript client is what its sources and the schema make of it."""

import json
from pathlib import Path

import pytest

from npm_workspace import run
from recordings import ROOT
from turnwire_process import TURNWIRE

CLIENT = ROOT / "clients" / "typescript"

pytestmark = pytest.mark.node


async def test_the_clients_types_are_those_of_the_schema(tmp_path: Path) -> None:
    for what in ("frames", "commands"):
        printed = await run(*TURNWIRE, "schema", what)
        (tmp_path / what).write_text(printed)
    made = await run(
        "node", CLIENT / "scripts" / "generate_types.mjs", tmp_path / "frames", tmp_path / "commands"
    )
    assert made == (CLIENT / "src" / "schema.ts").read_text(), "run `make web-types`"


async def test_the_client_builds_into_what_its_package_promises(tmp_path: Path) -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    await run("npx", "tsc", "-p", CLIENT / "tsconfig.build.json", "--outDir", tmp_path)
    for promised in (package["main"], package["types"]):
        assert (tmp_path / Path(promised).name).exists()
    assert not {"dependencies", "peerDependencies"} & package.keys()

"""The TypeScript client is what its sources and the schema make of it."""

import json
import shutil
from pathlib import Path

import pytest

from npm_workspace import run
from recordings import ROOT
from turnwire_process import TURNWIRE

CLIENT = ROOT / "clients" / "typescript"

pytestmark = pytest.mark.node


async def test_the_clients_types_are_those_of_the_schema(tmp_path: Path) -> None:
    for what in ("frames", "commands", "results"):
        printed = await run(*TURNWIRE, "schema", what)
        (tmp_path / what).write_text(printed)
    made = await run(
        "node",
        CLIENT / "scripts" / "generate_types.mjs",
        *(tmp_path / what for what in ("frames", "commands", "results")),
    )
    assert made == (CLIENT / "src" / "schema.ts").read_text(), "run `make web-types`"


async def test_the_client_is_packed_and_both_imported_and_required(tmp_path: Path) -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    assert not {"dependencies", "peerDependencies"} & package.keys()
    source = tmp_path / "source" / "client"
    shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (source.parent / "node_modules").symlink_to(ROOT / "node_modules")
    await run("npm", "pack", "--silent", "--pack-destination", tmp_path, source)
    (packed,) = tmp_path.glob("*.tgz")
    place = tmp_path / "node_modules" / package["name"]
    place.mkdir(parents=True)
    await run("tar", "xzf", packed, "--strip-components=1", "-C", place)
    assert (place / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    use = "console.log(typeof Client, LATEST.seq)"
    (tmp_path / "imported.mjs").write_text(f'import {{ Client, LATEST }} from "{package["name"]}"; {use}')
    (tmp_path / "required.cjs").write_text(
        f'const {{ Client, LATEST }} = require("{package["name"]}"); {use}'
    )
    for name in ("imported.mjs", "required.cjs"):
        assert (await run("node", tmp_path / name)).strip() == "function -1"
    for way in package["exports"]["."].values():
        assert all((place / promised).exists() for promised in way.values())

"""Try what would be released: versions, changelog, wheels, sdists, npm package, each in a place with nothing else.

Run by `make release-check`; docs/release.md has the list. Standard library alone, and `build`; what describes the parts
(CycloneDX) is installed into an environment of its own, pinned with hashes (release/tools.txt).
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TYPESCRIPT = Path("clients") / "typescript"
"""The TypeScript client's folder."""
PYTHON = Path("clients") / "python"
"""The Python client's folder."""
GOLDENS = Path("tests") / "normalize" / "goldens"
"""The events expected of recordings."""
TRIED = Path("2.1.330") / "perm-allow"
"""The recording that the installed wheel translates."""


class NotReady(Exception):
    """It cannot be released; the message says why and what to do."""


def run(*words: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> bytes:
    """Run a command and return what it printed; raises NotReady with its complaints."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()
        raise NotReady(f"`{' '.join(map(str, words))}` failed with exit code {done.returncode}:\n{said}")
    return done.stdout


def check_version(source: Path, *, unreleased: bool) -> str:
    """Return the version, which all files agree on; raises NotReady."""
    version: str = tomllib.loads((source / "pyproject.toml").read_text())["project"]["version"]
    described = {
        TYPESCRIPT / "package.json": json.loads((source / TYPESCRIPT / "package.json").read_text())[
            "version"
        ],
        PYTHON / "pyproject.toml": tomllib.loads((source / PYTHON / "pyproject.toml").read_text())["project"][
            "version"
        ],
    }
    for file, found in described.items():
        if found != version:
            raise NotReady(f"{file} says {found}, pyproject.toml {version}; make them one")
    changelog = (source / "CHANGELOG.md").read_text()
    section = re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE)
    if section is None and not (unreleased and "## [Unreleased]" in changelog):
        raise NotReady(f"CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD`; write it")
    return version


def notes(source: Path, version: str) -> str:
    """Return what the changelog says of a version, or of what is not released yet."""
    for name in (version, "Unreleased"):
        section = re.search(
            rf"^## \[{re.escape(name)}\].*?(?=^## \[|\Z)",
            (source / "CHANGELOG.md").read_text(),
            re.MULTILINE | re.DOTALL,
        )
        if section is not None:
            return section[0].strip() + "\n"
    raise NotReady(f"CHANGELOG.md says nothing of {version}")


def check_wheel(source: Path, made: Path, name: str) -> Path:
    """Build a distribution's sdist and wheel, compare them, and return the wheel; raises NotReady."""
    run(sys.executable, "-m", "build", "--outdir", made, source, cwd=source)
    (wheel,), (sdist,) = made.glob(f"{name}-[0-9]*.whl"), made.glob(f"{name}-[0-9]*.tar.gz")
    unpacked = made / "unpacked"
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (inner,) = unpacked.iterdir()
    run(sys.executable, "-m", "build", "--wheel", "--outdir", made / "again", inner, cwd=inner)
    (again,) = (made / "again").glob("*.whl")
    missing = set(zipfile.ZipFile(wheel).namelist()) ^ set(zipfile.ZipFile(again).namelist())
    shutil.rmtree(unpacked)
    shutil.rmtree(made / "again")
    if missing:
        raise NotReady(
            f"a wheel of the sdist differs in {', '.join(sorted(missing))}; mend MANIFEST or pyproject.toml"
        )
    return wheel


def check_installed(source: Path, wheel: Path, version: str, place: Path) -> None:
    """Install the wheel alone and try it; raises NotReady."""
    venv.create(place, with_pip=True)
    program = place / "bin"
    pip = (program / "python", "-m", "pip", "install", "-q")
    run(*pip, "--require-hashes", "-r", source / "release" / "requirements.txt", cwd=place)
    run(*pip, "--no-deps", wheel, cwd=place)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place), "LANG": "C.UTF-8"}
    said = run(program / "turnwire", "--version", cwd=place, env=env).decode()
    if version not in said:
        raise NotReady(f"the installed turnwire calls itself {said.strip()!r}, not {version}")
    recording, golden = source / "fixtures" / TRIED, source / GOLDENS / f"{TRIED}.jsonl"
    events = run(program / "turnwire", "translate", recording, "--field-limit", "4096", cwd=place, env=env)
    if events != golden.read_bytes():
        raise NotReady(
            f"the installed turnwire translates {TRIED} otherwise than expected; `make test` says where"
        )


def describe(source: Path, place: Path, environment: Path, made: Path, version: str) -> int:
    """Write the bills of materials of an environment and of the console; return how many parts; raises NotReady."""
    venv.create(place, with_pip=True)
    program = place / "bin"
    tools = source / "release" / "tools.txt"
    run(program / "python", "-m", "pip", "install", "-q", "--require-hashes", "-r", tools, cwd=place)
    described = ("--pyproject", source / "pyproject.toml", "--output-reproducible", "--validate")
    python = made / f"turnwire-{version}.cdx.json"
    run(program / "cyclonedx-py", "environment", environment, *described, "-o", python, cwd=place)
    web = run("npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--omit", "dev", cwd=source)
    (made / f"turnwire-console-{version}.cdx.json").write_bytes(web)
    parts = [part["name"].lower() for part in json.loads(python.read_bytes())["components"]]
    missing = set(pinned(source / "constraints.txt")) & set(installed(environment)) - set(parts)
    if missing or not parts:
        raise NotReady(f"the bill of materials has nothing of {', '.join(sorted(missing)) or 'anything'}")
    return len(parts) + len(json.loads(web)["components"])


def pinned(file: Path) -> dict[str, str]:
    """Return the versions that a file of constraints or requirements pins, by name in lower case."""
    return {
        name.lower(): version
        for name, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", file.read_text(), re.MULTILINE)
    }


def installed(environment: Path) -> dict[str, str]:
    """Return the versions of what is installed in an environment, by name in lower case."""
    listed = run(environment / "bin" / "python", "-m", "pip", "list", "--format", "json", cwd=environment)
    return {each["name"].lower(): each["version"] for each in json.loads(listed)}


def sign(made: Path, key: Path | None) -> None:
    """Write the checksums of all that was made, and sign them with an SSH key where one is given; raises NotReady."""
    files = sorted(path for path in made.iterdir() if path.is_file())
    sums = made / "SHA256SUMS"
    sums.write_text(
        "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    )
    if key is not None:
        run("ssh-keygen", "-Y", "sign", "-f", key, "-n", "turnwire-release", sums, cwd=made)


def check_editors(environment: Path) -> None:
    """Have the installed turnwire answer an editor; raises NotReady."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(environment), "LANG": "C.UTF-8"}
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
    program = environment / "bin" / "turnwire"
    command = ("sh", "-c", 'echo "$1" | "$2" acp --agent demo --port 0', "sh", hello, program)
    said = json.loads(run(*command, cwd=environment, env=env))
    if said.get("result", {}).get("protocolVersion") != 1:
        raise NotReady(f"turnwire acp, installed alone, answers an editor with {said}")


def check_python_client(source: Path, wheel: Path, place: Path) -> None:
    """Install the Python client's wheel alone and import it; raises NotReady."""
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "-c", source / "constraints.txt", wheel, cwd=place)
    listed = json.loads(run(python, "-m", "pip", "list", "--format", "json", cwd=place))
    found = {each["name"] for each in listed} - {"pip", "setuptools"}
    if found != {"turnwire-client", "msgspec", "websockets"}:
        raise NotReady(f"the Python client brings {', '.join(sorted(found))}; it may need two libraries")
    run(python, "-c", "from turnwire_client import connect", cwd=place)


def check_typescript_client(source: Path, made: Path, place: Path) -> None:
    """Pack the TypeScript client, install it alone and import it; raises NotReady."""
    run("npm", "ci", "--no-audit", "--no-fund", "--silent", cwd=source)
    run("npm", "pack", "--silent", "--pack-destination", made, cwd=source / TYPESCRIPT)
    (packed,) = made.glob("*.tgz")
    place.mkdir()
    (place / "package.json").write_text('{"name": "bare", "private": true, "type": "module"}')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", packed, cwd=place)
    script = (
        "const client = await import('turnwire-client'); if (!Object.keys(client).length) process.exit(1)"
    )
    run("node", "--input-type=module", "-e", script, cwd=place)


def main() -> int:
    """Do all of it; print what was done, or why it cannot be released."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--unreleased", action="store_true", help="a rehearsal: the changelog may say Unreleased"
    )
    parser.add_argument(
        "--keep", type=Path, help="folder that gets wheels, sdists, npm package and what describes them"
    )
    parser.add_argument(
        "--sign", type=Path, help="SSH key that signs the checksums and the notes of this release"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, made = folder / "source", folder / "made"
        made.mkdir()
        try:
            if run("git", "status", "--porcelain", cwd=ROOT):
                raise NotReady(
                    "the work tree has changes that are not committed; commit them or put them aside"
                )
            run("git", "clone", "--quiet", ROOT, source, cwd=folder)
            version = check_version(source, unreleased=options.unreleased)
            print(f"version {version}: the same everywhere")
            wheel = check_wheel(source, made, "turnwire")
            print(f"{wheel.name}: built, and from the sdist as well")
            check_installed(source, wheel, version, folder / "environment")
            print("installed alone: says its version, translates a recording as recorded")
            client = check_wheel(source / PYTHON, made, "turnwire_client")
            check_python_client(source, client, folder / "client")
            print(f"{client.name}: built, and from the sdist as well; installed alone, imported")
            check_editors(folder / "environment")
            print("turnwire acp: answers an editor")
            check_typescript_client(source, made, folder / "bare")
            print("npm package: packed, installed alone, imported")
            parts = describe(source, folder / "tools", folder / "environment", made, version)
            print(f"bills of materials (CycloneDX): {parts} parts")
            (made / "NOTES.md").write_text(notes(source, version))
            sign(made, None if options.sign is None else options.sign.resolve())
            print("checksums: " + ("written" if options.sign is None else "written and signed"))
        except NotReady as why:
            print(f"not ready: {why}", file=sys.stderr)
            return 1
        if options.keep is not None:
            shutil.copytree(made, options.keep, dirs_exist_ok=True)
    print("ready")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Write what a release is installed from, pinned with hashes: `make pins`, after constraints.txt has changed.

release/requirements.txt has what turnwire with its optional parts needs, in the versions of constraints.txt, for every
platform; release/tools.txt what a release is audited and described with. Needs `uv`.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("uvloop", "redis", "push", "qr", "acp", "agui", "tui", "usechat", "mcp", "asgi")
"""The optional parts that are served, not those for development."""
TOOLS = ("cyclonedx-bom", "pip-audit")
OUR_OWN = ("turnwire", "turnwire-client")
"""Distributions of this repository, which have no hash before they are built."""


def needed() -> list[str]:
    """Return the requirements of turnwire and its optional parts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    client = tomllib.loads((ROOT / "clients" / "python" / "pyproject.toml").read_text())["project"]
    parts = [each for part in PARTS for each in project["optional-dependencies"].get(part, ())]
    return [
        each for each in (*project["dependencies"], *client["dependencies"], *parts) if each not in OUR_OWN
    ]


def pin(requirements: list[str], options: list[str]) -> str:
    """Return the requirements and all they need, each with one version and its hashes, without addresses."""
    words = ["uv", "pip", "compile", "-", "--universal", "--python-version", "3.11", "--generate-hashes"]
    quiet = ["--quiet", "--no-header", "--no-annotate", "--no-emit-index-url"]
    done = subprocess.run(
        [*words, *quiet, *options], input="\n".join(requirements), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"uv could not pin them:\n{done.stderr}")
    return "# Written by `make pins`; do not edit.\n" + done.stdout


if __name__ == "__main__":
    folder = ROOT / "release"
    (folder / "requirements.txt").write_text(pin(needed(), ["-c", str(ROOT / "constraints.txt")]))
    (folder / "tools.txt").write_text(pin(list(TOOLS), []))

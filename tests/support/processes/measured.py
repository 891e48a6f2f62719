"""Run a command while every Python of this environment measures what it takes: `python …/measured.py DATA_FILE COMMAND …`.

Agents and their like get an environment of their own, without what would tell them to be measured; so it is said where each
interpreter looks as it begins, in a file of its site-packages, for as long as the command runs.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

BEGIN = (
    "import os; os.environ.update(COVERAGE_PROCESS_START={config!r}, COVERAGE_FILE={data!r}); "
    "import coverage; coverage.process_startup(); "
    "del os.environ['COVERAGE_PROCESS_START'], os.environ['COVERAGE_FILE']\n"
)
"""One line, as site-packages wants it; the environment is what it was, or tests and children would see it."""


def main(data: str, *command: str) -> int:
    """Run the command and return its exit code; what is measured is written beside `data`, a file for each process."""
    config = Path(__file__).parents[3] / "pyproject.toml"
    startup = Path(sysconfig.get_path("purelib")) / "measured.pth"
    startup.write_text(BEGIN.format(config=str(config), data=str(Path(data).absolute())))
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        startup.unlink()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Each fault that docs/reliability.md tells of names tests that exist."""

import re
from pathlib import Path

from recordings import ROOT

TABLE = (ROOT / "docs/reliability.md").read_text().partition("## Faults")[2].partition("\n## ")[0]


def test_each_fault_names_tests_that_exist() -> None:
    rows = [line for line in TABLE.splitlines() if line.startswith("| ") and not line.startswith("| fault")]
    rows = [row for row in rows if "test_" in row]
    assert len(rows) > 20
    for row in rows:
        file = Path()
        for name, test in re.findall(r"(tests/[\w/]+/test_\w+\.py)|::(test_\w+)", row):
            if name:
                file = ROOT / name
                assert file.exists(), name
            else:
                assert f"def {test}(" in file.read_text(), test

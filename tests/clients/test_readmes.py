"""What the clients' pages promise is tested: every row of the table of behaviours names a test of either client."""

import re
from pathlib import Path

import turnwire_client
from recordings import ROOT

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
        for name in turnwire_client.__all__
        if isinstance(each := getattr(turnwire_client, name), type) and issubclass(each, Exception)
    }
    assert in_typescript == {name: "Error" if name == "TurnwireError" else "TurnwireError" for name in errors}
    for page in ("python", "typescript"):
        text = (CLIENTS / page / "README.md").read_text("utf-8")
        assert [name for name in errors if f"`{name}`" not in text] == []

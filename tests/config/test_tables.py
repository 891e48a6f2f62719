"""The tables of the documents say what the code says."""

import re

from docs import generate_tables
from turnwire.config.settings import Settings
from turnwire.sidecar.cli.commands import application
from turnwire.tracing.spans.genai_facts import CONVENTIONS


def text(page: str) -> str:
    return (generate_tables.DOCS / page).read_text(encoding="utf-8")


def test_its_tables_are_up_to_date(update_goldens: bool) -> None:
    if update_goldens:
        generate_tables.main()
    for name in generate_tables.PAGES:
        assert generate_tables.page(name) == text(name), "run `python docs/generate_tables.py`"


def test_every_setting_is_there_with_a_sentence() -> None:
    rows = generate_tables.settings().splitlines()[2:]
    assert len(rows) == len(Settings.model_fields)
    assert all(re.fullmatch(r"\| `\w+` \| `.+` \| .+ \| .+\. \|", row) for row in rows), rows


def test_it_names_the_conventions_that_the_spans_follow() -> None:
    assert f"**{CONVENTIONS}**" in text("tracing.md")


def test_it_names_only_commands_that_exist() -> None:
    named = set(re.findall(r"`turnwire ([a-z]+)", text("commands.md")))
    assert "doctor" in named
    known = {command.name for command in application().registered_commands} | {
        group.name for group in application().registered_groups
    }
    assert named <= known

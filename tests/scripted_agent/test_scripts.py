"""Scripts as documents: what loads, and what an author is told when something does not."""

import re
from pathlib import Path

import pytest

from recordings import ROOT
from turnwire.scripted_agent.loading import ScriptError, bundled, load, parse
from turnwire.scripted_agent.script import STEP_KINDS, Ask, Script, Text, Tool


@pytest.mark.parametrize("name", bundled())
def test_every_bundled_script_loads(name: str) -> None:
    script = load(name)
    assert script.turns or script.fallback


def test_a_step_is_named_by_its_key() -> None:
    script = parse(
        """
        turns:
          - steps:
              - text: Hello
              - tool: Bash
                input: {command: ls}
                permission: true
              - ask: [{question: "Which?", options: []}]
        """,
        "it",
    )
    first, second, third = script.turns[0].steps
    assert isinstance(first, Text)
    assert isinstance(second, Tool)
    assert second.permission is True
    assert isinstance(third, Ask)


def test_json_is_a_script_too() -> None:
    assert parse('{"turns": [{"steps": [{"text": "Hello"}]}]}', "it").turns[0].steps == [Text(text="Hello")]


def test_a_subagents_steps_are_steps() -> None:
    script = parse("turns: [{steps: [{tool: Task, steps: [{text: inner}]}]}]", "it")
    tool = script.turns[0].steps[0]
    assert isinstance(tool, Tool)
    assert tool.steps == [Text(text="inner")]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "turns:\n  - steps:\n      - txt: Hello\n",
            r"it, line 3: turns\[0\]\.steps\[0\]: no key of \['txt'\] names a step",
        ),
        (
            "turns:\n  - steps:\n      - text: 7\n",
            r"it, line 3: turns\[0\]\.steps\[0\]\.text: Expected `str`, got `int`",
        ),
        (
            "turns:\n  - steps:\n      - text: a\n      - tool: B\n        inputs: {}\n",
            r"it, line 4: .*unknown field `inputs`",
        ),
        ("version: 9.9\n", r"it, line 1: version: "),
        ("turns:\n  - steps: [{text: a}]\n    when: x\n", r"it, line 2: turns\[0\]: .*unknown field `when`"),
        ("turns: [nonsense", r"it: not YAML: .*line 1"),
        ("- text: a\n", r"it: a script is an object with the key `turns`, not list"),
        ("turns:\n  - steps: [hello]\n", r"it, line 2: turns\[0\]\.steps\[0\]: Expected a step, got 'hello'"),
    ],
)
def test_an_error_names_file_line_and_field(source: str, sentence: str) -> None:
    with pytest.raises(ScriptError, match=sentence):
        parse(source, "it")


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(ScriptError, match=r"nope: no such file, nor one of .*demo"):
        load("nope")


def test_what_is_no_script_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="no recording is in this folder"):
        load(str(tmp_path))
    (tmp_path / "script").write_bytes(b"turns: \xff")
    with pytest.raises(ScriptError, match="this is not UTF-8"):
        load(str(tmp_path / "script"))


def test_the_document_names_every_step_every_field_and_every_script() -> None:
    document = (ROOT / "docs" / "scripted-agent.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)(?:: [a-z]+)?`", document))
    assert {*STEP_KINDS, *Script.__struct_fields__, *bundled()} <= named


def test_the_script_in_the_document_loads() -> None:
    document = (ROOT / "docs" / "scripted-agent.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", document, re.DOTALL)
    assert len(parse(example, "docs/scripted-agent.md").turns) == 2


@pytest.mark.parametrize(
    "text",
    [
        "turns: " + "[" * 500 + "]" * 500,
        "turns: " + "[" * 5_000 + "]" * 5_000,
        "turns: " + "[" * 200_000 + "]" * 200_000,
        "turns:\n" + "- " * 200_000 + "x",
        "turns: &a [*a]",
    ],
)
def test_a_script_that_is_nested_too_deep_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ScriptError, match=r"^it: nested deeper than 128 levels; make it flatter$"):
        parse(text, "it")

"""Text of others: nothing in it is an order or hides, what people read stays as it is, and the console says it alike."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from turnwire.protocol.visible import (
    escaped,
    escaped_lines,
    ordered,
    ordered_json,
    ordered_prose,
    to_json,
    visible,
    visible_line,
    visible_prose,
)

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;eA==\x07", "⟨U+001B⟩]52;c;eA==⟨U+0007⟩"),
        ("\x9b2J\x7f", "⟨U+009B⟩2J⟨U+007F⟩"),
        ("rm -rf /\recho ok\r", "rm -rf /⟨U+000D⟩echo ok⟨U+000D⟩"),
        ("a\u202eb\u2066c\u2028", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+2028⟩"),
        ("\u200e\u200f\u061c\xad\u180e", "⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩⟨U+00AD⟩⟨U+180E⟩"),
        ("\u2800\u3164a\ufe0f", "⟨U+2800⟩⟨U+3164⟩a⟨U+FE0F⟩"),
        ("\U0001f3f4\U000e0067\U000e007f", "\U0001f3f4⟨U+E0067⟩⟨U+E007F⟩"),
        ("f\udcff", "f⟨U+DCFF⟩"),
        ("two lines\n\tindented\r\n", "two lines\n\tindented\r\n"),
        ("👩‍💻 👩🏽‍💻 ❤️ 3️⃣ שלום é [bold]", "👩‍💻 👩🏽‍💻 ❤️ 3️⃣ שלום é [bold]"),
    ],
)
def test_what_a_terminal_would_obey_and_what_hides_is_spelt(text: str, shown: str) -> None:
    assert visible(text) == visible_prose(text) == shown


def test_words_of_code_from_right_to_left_are_isolated() -> None:
    assert ordered("rm -rf אב / גד # א\u202e") == (
        "rm -rf \u2068אב\u2069 / \u2068גד\u2069 # \u2068א\u2069⟨U+202E⟩"
    )
    assert ordered("cp سلام é") == "cp \u2068سلام\u2069 é"
    assert ordered("ls\x1b") == "ls⟨U+001B⟩"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u2068אב", "⟨U+2068⟩\u2068אב\u2069"),
        ("אב\u2069 /", "\u2068אב\u2069⟨U+2069⟩ /"),
        ("\u2068אב / גד\u2069", "⟨U+2068⟩\u2068אב\u2069 / \u2068גד\u2069⟨U+2069⟩"),
        ("\u2068\u2068אב\u2069\u2069", "⟨U+2068⟩\u2068אב\u2069⟨U+2069⟩"),
        ("\u2067אב\u2069", "⟨U+2067⟩\u2068אב\u2069⟨U+2069⟩"),
        ("\u2068\u061cא\u2069", "⟨U+2068⟩⟨U+061C⟩\u2068א\u2069⟨U+2069⟩"),
        ("\u2068rm\u2069\u2068\u2069", "⟨U+2068⟩rm⟨U+2069⟩⟨U+2068⟩⟨U+2069⟩"),
    ],
)
def test_an_isolate_that_is_open_or_holds_more_than_a_word_is_spelt(text: str, shown: str) -> None:
    assert ordered(text) == shown
    assert ordered(shown) == visible(shown) == visible_prose(shown) == shown


def test_prose_keeps_its_direction_and_code_in_it_is_isolated() -> None:
    assert ordered_prose("שלום, עולם") == "שלום, עולם"
    assert ordered_prose("say `rm אב /` to ``a`ב`` ב ` ב") == (
        "say `rm \u2068אב\u2069 /` to ``a`\u2068ב\u2069`` ב ` ב"
    )
    assert ordered_prose("א\n```sh\nrm א\n```\nא\n~~~\nrm א") == (
        "א\n```sh\nrm \u2068א\u2069\n```\nא\n~~~\nrm \u2068א\u2069"
    )


def test_joiners_stay_between_letters_of_prose_that_are_written_joined() -> None:
    persian = "می\u200cخواهم"
    assert visible_prose(persian) == persian
    assert visible(persian) == "می⟨U+200C⟩خواهم"
    assert visible_prose("r\u200cm") == "r⟨U+200C⟩m"


def test_a_name_in_a_line_stays_in_it() -> None:
    assert visible_line("a\nturnwire: all is well\t\x1b") == "a⟨U+000A⟩turnwire: all is well⟨U+0009⟩⟨U+001B⟩"


def test_in_a_value_every_text_is_spelt_but_ids() -> None:
    value = {"title\u202e": ["\u202eא", 1, None], "option_id": "\u202e", "more": {"text": "א `א`\x1b"}}
    assert ordered_json(value) == {
        "title⟨U+202E⟩": ["⟨U+202E⟩\u2068א\u2069", 1, None],
        "option_id": "\u202e",
        "more": {"text": "א `\u2068א\u2069`⟨U+001B⟩"},
    }
    assert ordered_json({"text": ["א"]}) == {"text": ["\u2068א\u2069"]}


def test_json_hides_nothing_and_says_the_same() -> None:
    text = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1)))) + "\udcff"
    written = to_json({"text": text}, indent=2)
    assert json.loads(written) == {"text": text}
    assert visible(written) == written
    assert to_json("שלום é 字") == '"שלום é 字"'
    line = json.dumps({"text": "a\x7f\u202e\x9b"}, ensure_ascii=False).encode()
    assert escaped_lines(line) == b'{"text": "a\\u007f\\u202e\\u009b"}'
    for shown in (b"", b'{"a":1}\n{"b":2}\r\n', '{"a":"é 字 👩‍🎓"}\n'.replace("\u200d", "").encode()):
        assert escaped_lines(shown) == shown
    several = [b'{"a":1}\n', line + b"\r\n", b"\n", '"é"\n'.encode(), line]
    assert escaped_lines(b"".join(several)) == b"".join(map(escaped_lines, several))


def test_what_is_escaped_does_not_depend_on_what_stands_beside_it() -> None:
    """A character that is searched without the ASCII around it is found, wherever it stands."""
    for code in (
        *range(0x20),
        *range(0x7F, 0xD800),
        *range(0xE000, 0xFFFF),
        *range(0x1D100, 0x1D200),
        0xE0041,
    ):
        character = chr(code)
        assert escaped_lines(f"a{character}b".encode()) == escaped(f"a{character}b").encode()


SAME = """
import { orderedCode, visibleCode } from %s;
const spelt = [];
for (let code = 0; code <= 0x10ffff; code += 1)
  if (code < 0xd800 || code > 0xdfff) {
    const character = String.fromCodePoint(code);
    if (visibleCode(character + ".") !== character + ".") spelt.push(code);
  }
const kept = ["👩‍💻", "❤️", "3️⃣", "a\\u200db", "👨‍👩‍👧", "x\\ufe0f"].map((text) => [text, visibleCode(text)]);
const turned = ["rm -rf אב / גד # א", "cp سلام\\u200fא é"].map((text) => [text, orderedCode(text)]);
console.log(JSON.stringify({ turned, spelt, said: visibleCode("\\u202e\\u{e0041}\\u001b"), kept }));
"""


@pytest.mark.long
def test_the_console_spells_the_same_characters_in_the_same_words(tmp_path: Path) -> None:
    script = tmp_path / "same.ts"
    script.write_text(SAME % json.dumps(str(ROOT / "console" / "src" / "text" / "visible.ts")))
    bundled = tmp_path / "same.mjs"
    rolldown = ROOT / "node_modules" / ".bin" / "rolldown"
    subprocess.run([rolldown, script, "--file", bundled], check=True, capture_output=True)
    done = subprocess.run(["node", bundled], capture_output=True, check=True)
    told = json.loads(done.stdout)
    every = (*range(0xD800), *range(0xE000, sys.maxunicode + 1))
    assert told["spelt"] == [code for code in every if visible(f"{chr(code)}.") != f"{chr(code)}."]
    assert told["said"] == visible("\u202e\U000e0041\x1b")
    assert all(visible(text) == shown for text, shown in told["kept"])
    assert all(ordered(text) == shown for text, shown in told["turned"])

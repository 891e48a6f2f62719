"""Measure the sentences of documents, docstrings and turnwire's help: how many, their mean length, and how many are too long.

    python tests/docs/sentences.py                  # all documents, the help of all commands, the docstrings of each package
    python tests/docs/sentences.py README.md --long # of some files, and print their sentences of more than 35 words

Code blocks and headings do not count; a cell of a table and an item of a list are texts of their own. Inline code is one word.
Fragments of less than four words do not count.
"""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = 35
"""Words of one sentence, at most."""
MEAN = 18.0
"""Words of a sentence on average, at most."""
GENERATED = ("docs/events.md", "docs/protocol.md")
"""Pages that are made of the docstrings of code."""


def texts(markdown: str) -> Iterator[str]:
    """Yield the paragraphs, items and cells of a page."""
    markdown = re.sub(r"```.*?```", "\n\n", markdown, flags=re.DOTALL)
    paragraph: list[str] = []
    was_blank = True
    for line in [*markdown.splitlines(), ""]:
        is_code = line.startswith("    ") and was_blank
        begins = bool(re.match(r"\s*([-*]|\d+\.|>)\s", line))
        if not line.strip() or is_code or begins or line.startswith(("#", "|")):
            if paragraph:
                yield " ".join(paragraph)
            paragraph = []
        if line.startswith("|"):
            yield from (cell.strip() for cell in line.strip("|").split("|"))
        elif line.strip() and not is_code and not line.startswith("#"):
            paragraph.append(re.sub(r"^\s*([-*]|\d+\.|>)\s", "", line.strip()))
        was_blank = not line.strip() or is_code or line.startswith("#")


def sentences(markdown: str) -> list[list[str]]:
    """Return the sentences of a page, each as its words."""
    found = []
    for text in texts(markdown):
        plain = re.sub(r"`[^`]*`", "code", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
        for sentence in re.split(r"(?<=[.!?])\s+", plain):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) >= 4:
                found.append(words)
    return found


def documents() -> list[str]:
    """Return the documents that are in git, by path."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if not name.startswith("fixtures/")]


def helps() -> str:
    """Return the help of all commands, as paragraphs."""

    def shown(*words: str) -> str:
        command = [sys.executable, "-m", "turnwire", *words, "--help"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    names = re.findall(r"^  ([a-z]+)  ", shown().partition("Commands:")[2], re.MULTILINE)
    # without the line of usage and the examples; an option's text begins behind its name and goes on below
    printed = "\n".join(
        re.sub(r"\A.*?\n\n", "", shown(name).partition("Examples:")[0], flags=re.DOTALL) for name in names
    )
    options = re.sub(r"^  (-\S.*?|[a-z-]+)(  +|\n +)", "\n\n", printed, flags=re.MULTILINE)
    return re.sub(r"^ +", "", options, flags=re.MULTILINE)


def packages() -> dict[str, list[str]]:
    """Return the sources of each package that is in git, by path."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = {}
    for name in listed.stdout.splitlines():
        parts = name.split("/")
        if parts[0] in ("adapter", "normalize", "tracing", "turnwire"):
            found.setdefault("/".join(parts[: 2 if len(parts) > 2 else 1]), []).append(name)
    return found


def docstrings(source: str) -> Iterator[str]:
    """Yield the docstrings of a module, its classes, functions and fields."""
    for node in ast.walk(ast.parse(source)):
        for child in ast.iter_child_nodes(node):
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                yield inspect.cleandoc(child.value.value)


def sentences_of_docstrings(names: list[str]) -> list[list[str]]:
    """Return the sentences of the docstrings of some files, each as its words."""
    texts = (text for name in names for text in docstrings((ROOT / name).read_text("utf-8")))
    return [words for text in texts for words in sentences(text)]


def figures(found: list[list[str]]) -> tuple[int, float, int]:
    """Return how many sentences there are, their mean length, and how many are too long."""
    lengths = [len(words) for words in found]
    return len(lengths), sum(lengths) / max(1, len(lengths)), sum(length > MOST for length in lengths)


def main(arguments: list[str]) -> None:
    """Print the figures of each document, and of all together."""
    names = [name for name in arguments if not name.startswith("--")]
    measured = {name: sentences((ROOT / name).read_text("utf-8")) for name in names or documents()}
    if not names:
        measured["--help"] = sentences(helps())
        measured |= {
            f"{name} (docstrings)": sentences_of_docstrings(files) for name, files in packages().items()
        }
    print(f"{'sentences':>9} {'mean':>5} {'> 35':>5}")
    for name, found in measured.items():
        count, mean, too_long = figures(found)
        print(f"{count:>9} {mean:>5.1f} {too_long:>5}  {name}")
        for words in found:
            if "--long" in arguments and len(words) > MOST:
                print(f"{'':>21}  {' '.join(words)}")
    count, mean, too_long = figures([words for found in measured.values() for words in found])
    print(f"{count:>9} {mean:>5.1f} {too_long:>5}  all")


if __name__ == "__main__":
    main(sys.argv[1:])

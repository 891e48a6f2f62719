"""Programs that a rule allows by name, with the options that a definition names (programs.toml); pure.

A definition says what may follow the name of a program. Whatever it does not name is not covered: an unknown option, the
beginning of one, a value where none is told. So a program's next version adds nothing that nobody has looked at.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct, convert

from turnwire.adapter.permissions.patterns import is_one_command

_NUMBER = re.compile(r"-\d+")
_WILDCARD = re.compile(r"[*?\[]")


class Program(Struct, frozen=True):
    """A program, and what may follow its name; programs.toml says what the fields mean."""

    name: str
    options: str
    also: tuple[str, ...] = ()
    words: str = "letters"
    after: str | None = None
    operands: str = ".*"
    first: str | None = None
    needed: tuple[str, ...] = ()
    harms: tuple[str, ...] = ()

    def covers(self, line: str) -> bool:
        """Tell whether a line is one command: this program with nothing but options that are named, and operands."""
        words = _words(line)
        for name in (self.name, *self.also):
            begin = name.split(" ")
            if words[: len(begin)] == begin:
                return self._names_all(words[len(begin) :]) and self._is_quoted(words, line)
        return False

    def _is_quoted(self, words: Sequence[str], line: str) -> bool:
        """Tell whether a script is one: without quotes the shell may put the name of a file in the place of its wildcards."""
        if self.first is None:
            return True
        wild = [word for word in words if _WILDCARD.search(word)]
        return all(f"'{word}'" in line or f'"{word}"' in line for word in wild)

    def _names_all(self, words: Sequence[str]) -> bool:
        read, found = self._read(words, _table(self.options))
        return read and (not self.needed or not found.isdisjoint(self.needed))

    def _read(self, words: Sequence[str], options: Mapping[str, str]) -> tuple[bool, set[str]]:
        found: set[str] = set()
        operands: list[str] = []
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if word == "--" and self.words == "letters":
                rest = words[at:]
                if self.after is not None and options is not _table(self.after):
                    return self._read(rest, _table(self.after))[0], found
                return self._are_operands([*operands, *rest]), found
            if not word.startswith("-") or word == "-":
                if _WILDCARD.match(word):
                    return False, found
                operands.append(word)
                continue
            taken = self._option(word, options, found)
            if taken is None:
                return False, found
            at += taken
            if at > len(words) or (taken and not self._is_value(words[at - 1])):
                return False, found
        return self._are_operands(operands), found

    def _option(self, word: str, options: Mapping[str, str], found: set[str]) -> int | None:
        """Return how many of the next words are the value of an option; None for one that is not named."""
        name, sign, value = word.partition("=")
        if self.words == "dash" and word.startswith("--"):
            name = name[1:]
        if self.words == "dash" or word.startswith("--"):
            kind = options.get(name)
            found.add(name)
            if kind is None or (sign and (not kind or not self._is_value(value))):
                return None
            return 1 if kind == "=" and not sign else 0
        if _NUMBER.fullmatch(word) and "-#" in options:
            return 0
        for place, letter in enumerate(word[1:], 2):
            kind = options.get(f"-{letter}")
            if kind is None:
                return None
            found.add(f"-{letter}")
            if kind and word[place:]:
                return 0 if self._is_value(word[place:]) else None
            if kind == "=":
                return 1
        return 0

    def _are_operands(self, words: Sequence[str]) -> bool:
        if self.first is not None and (not words or not re.fullmatch(self.first, words[0])):
            return False
        return all(map(self._is_operand, words[self.first is not None :]))

    def _is_operand(self, word: str) -> bool:
        return re.fullmatch(self.operands, word, re.DOTALL) is not None

    def _is_value(self, word: str) -> bool:
        """Values fit what operands fit, since `tar` takes `host:file` for a file elsewhere."""
        return not word or self._is_operand(word)


def _words(line: str) -> list[str]:
    """Return the words of a line that is one plain command; none of another."""
    text = is_one_command(line)
    if text is None:
        return []
    import shlex  # noqa: PLC0415  only where a program is judged

    try:
        words = shlex.split(line)
    except ValueError:
        return []
    return words if " ".join(words) == text else []


@cache
def _table(options: str) -> Mapping[str, str]:
    """Return options and what follows each: "=" a value, "[=]" perhaps one in the same word, "" nothing."""
    table = {}
    for option in options.split():
        kind = "[=]" if option.endswith("[=]") else "=" if option.endswith("=") else ""
        table[option.removesuffix(kind)] = kind
    return table


@cache
def programs() -> Mapping[str, Program]:
    """Return the definitions that turnwire brings, by name and other beginning."""
    import tomllib  # noqa: PLC0415  only where there are rules about programs
    from importlib import resources  # noqa: PLC0415  as above

    with (resources.files(__package__) / "programs.toml").open("rb") as file:
        rows = tomllib.load(file)["programs"]
    known = convert(rows, list[Program])
    return {name: one for one in known for name in (one.name, *one.also)}

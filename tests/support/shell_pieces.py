"""Lines of shell that may run `rm x`, put together from pieces (shell_pieces.toml) and from lines that once did.

It knows nothing of what shell_lines.py makes, so that one finds what the other forgot. Left out is the same.
"""

import random
import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path

PIECES: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("shell_pieces.toml").read_text())
HOLE = "⟨⟩"
MARKS = (
    *"'\"\\$`(){}[];&|<>\n \t#!=~*?@:,%^+-\r\f\vé\u00a0\u2028\ufeff",
    "\\\n",
    "$(",
    "<<",
    "$'",
    "((",
    "))",
)


class PiecedLines:
    """Makes lines; the same seed makes the same. `seeds` are lines that run it."""

    def __init__(self, seed: int, seeds: Sequence[str]) -> None:
        self._chance = random.Random(seed)
        self._seeds = seeds

    def line(self) -> str:
        """Return a line."""
        line = self._part(self._chance.randint(0, 3))
        for _ in range(self._chance.randint(0, 2)):
            line = self._any("contexts").replace(HOLE, line)
        if self._chance.random() < 0.25:
            for _ in range(self._chance.randint(1, 2)):
                line = self._disturbed(line)
        return line

    def _any(self, kind: str) -> str:
        return self._chance.choice(PIECES[kind])

    def _part(self, depth: int) -> str:
        pick = self._chance.random()
        if depth <= 0 or pick < 0.12:
            return self._plain()
        if pick < 0.2:
            return self._spaced(self._chance.choice(self._seeds))
        if pick < 0.5:
            return self._spaced(self._any("runners").replace(HOLE, self._part(depth - 1)))
        if pick < 0.72:
            return self._any("quoted").replace(HOLE, self._quote(self._part(depth - 1)))
        if pick < 0.78:
            return self._any("programs").replace(HOLE, shlex.quote("rm x"))
        return self._any("contexts").replace(HOLE, self._part(depth - 1))

    def _plain(self) -> str:
        name = "rm" if self._chance.random() < 0.25 else self._any("names")
        argument = self._chance.choice(("x", "x", "-f x", "-f x y", "", "'a b'", "*", "-- x", "$E"))
        return name + (self._blank() + argument if argument else "")

    def _blank(self) -> str:
        return " " if self._chance.random() < 0.5 else self._any("blanks")

    def _spaced(self, line: str) -> str:
        """Put something else between two words, now and then."""
        places = [at for at, one in enumerate(line) if one == " "]
        if not places or self._chance.random() > 0.2:
            return line
        at = self._chance.choice(places)
        return line[:at] + self._blank() + line[at + 1 :]

    def _quote(self, line: str) -> str:
        match self._chance.randint(0, 4):
            case 0:
                return '"' + re.sub(r'([\\"$`])', r"\\\1", line) + '"'
            case 1:
                return "$'" + line.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
            case 2 if "\n" not in line:
                return re.sub(r"([^\w/.-])", r"\\\1", line)
            case _:
                return shlex.quote(line)

    def _disturbed(self, line: str) -> str:
        at = self._chance.randint(0, len(line))
        if self._chance.random() < 0.3:
            return line[:at] + line[at + 1 :]
        mark: str = self._chance.choice(MARKS)
        return line[:at] + mark + line[at:]

r"""What a line of shell may run, as far as its text says: every simple command, however it is spelled or wrapped; pure.

The line is parsed by tree-sitter's grammar of bash. Quotes and backslashes are taken off, and what runs other commands
(`sudo`, `xargs`, `sh -c`, `eval`, `find -exec` …) is read through, again and again. What only the shell will know, a
variable or a substitution, becomes UNKNOWN in a command's text; where anything at all could be run, UNKNOWN is a command.
So a text that cannot be read is never taken for harmless; what a program does by itself is not seen.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

UNKNOWN = "\0"
"""Stands in a command's text for any characters, or none."""

MAX_LENGTH = 50_000
"""Characters of a line that are read; a longer one may run anything."""

MAX_OPERATORS = 4000
"""Brackets, pipes and the like that are read in all: what the grammar's parser takes grows with their square."""

MAX_COMMANDS = 2000
"""Commands of a line, those in quotes included, that are read."""

MAX_TEXT = 200_000
"""Characters that are read in all, since lines in quotes are read again."""

MAX_DEPTH = 8
"""How deep lines in quotes are read: `sh -c "sh -c '…'"`."""


class Reading(Struct):
    """What a line of shell is made of."""

    outer: list[str] = field(default_factory=list)
    """The commands that stand in it, each as its words with one space between them."""
    inner: list[str] = field(default_factory=list)
    """The commands that these run, as their arguments say."""
    code: list[str] = field(default_factory=list)
    """Arguments that are programs in other languages, as words without punctuation."""
    shape: str = ""
    """What is left of the line without its commands; UNKNOWN for each. A single plain command's is UNKNOWN."""

    @property
    def commands(self) -> Iterator[str]:
        """All of them, and each that is called by a path by its name as well."""
        for text in (*self.outer, *self.inner):
            yield text
            name, space, rest = text.partition(" ")
            if "/" in name:
                yield name.rpartition("/")[2] + space + rest


class _Word(NamedTuple):
    text: str
    is_pattern: bool = False
    """True where the shell puts names of files in the place of *, ? and []."""


class _Prefix(NamedTuple):
    """A command that runs the one in its arguments."""

    short: str = ""
    """Letters of options whose value is the next word."""
    long: tuple[str, ...] = ()
    """The same, of long options."""
    operands: int = 0
    """Words before the command."""


_PREFIXES = {
    "builtin": _Prefix(),
    "busybox": _Prefix(),
    "caffeinate": _Prefix("tw"),
    "chroot": _Prefix(operands=1),
    "chrt": _Prefix("TPD", operands=1),
    "command": _Prefix(),
    "coproc": _Prefix(),
    "dbus-run-session": _Prefix(),
    "doas": _Prefix("Cu"),
    "env": _Prefix("uC", ("--unset", "--chdir")),
    "exec": _Prefix("a"),
    "fakeroot": _Prefix("lsib"),
    "firejail": _Prefix(),
    "flock": _Prefix("wE", ("--timeout", "--conflict-exit-code"), operands=1),
    "gtimeout": _Prefix("ks", ("--kill-after", "--signal"), operands=1),
    "gxargs": _Prefix("adEILnPs"),
    "ionice": _Prefix("cn", ("--class", "--classdata")),
    "ltrace": _Prefix("eopsnlux"),
    "nice": _Prefix("n", ("--adjustment",)),
    "nocorrect": _Prefix(),
    "noglob": _Prefix(),
    "nohup": _Prefix(),
    "nsenter": _Prefix("tSG"),
    "numactl": _Prefix("Niplmc"),
    "parallel": _Prefix("jNnaILPsS"),
    "pkexec": _Prefix("u", ("--user",)),
    "proot": _Prefix("rbqwv"),
    "rlwrap": _Prefix("fbCHpPqsS"),
    "setarch": _Prefix(operands=1),
    "setpriv": _Prefix(),
    "setsid": _Prefix(),
    "stdbuf": _Prefix("ioe", ("--input", "--output", "--error")),
    "strace": _Prefix("abeEIoOpPsSuUX"),
    "sudo": _Prefix(
        "CDghpRrtTUu",
        (
            *("--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--close-from", "--role"),
            *("--type", "--other-user", "--command-timeout"),
        ),
    ),
    "systemd-run": _Prefix("EHMpPu", ("--unit", "--property", "--setenv", "--uid", "--gid", "--slice")),
    "taskset": _Prefix(operands=1),
    "time": _Prefix("fo", ("--format", "--output")),
    "timeout": _Prefix("ks", ("--kill-after", "--signal"), operands=1),
    "toybox": _Prefix(),
    "unbuffer": _Prefix(),
    "unshare": _Prefix("RwSG"),
    "uv": _Prefix(operands=1),
    "valgrind": _Prefix(),
    "watch": _Prefix("nq", ("--interval",)),
    "xargs": _Prefix(
        "adEILnPs",
        (
            *("--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--max-lines"),
            "--process-slot-var",
        ),
    ),
    "xvfb-run": _Prefix("efnpsw"),
}
_SHELLS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "hush"}
)
_OF_A_SHELL = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_STANDARD_INPUTS = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_FINDS = {
    "find": frozenset({"-exec", "-execdir", "-ok", "-okdir"}),
    "gfind": frozenset({"-exec", "-execdir", "-ok", "-okdir"}),
    "fd": frozenset({"-x", "-X", "--exec", "--exec-batch"}),
    "fdfind": frozenset({"-x", "-X", "--exec", "--exec-batch"}),
}
_LINES_IN_OPTIONS = {"su": "-c", "runuser": "-c", "script": "-c", "flock": "-c", "env": "-S", "pwsh": "-c"}
"""Commands with an option whose value is a line of shell."""
_LINES_IN_ARGUMENTS = frozenset({"eval", "watch", "parallel", "ssh", "trap", "entr"})
"""Commands whose arguments, together, are a line of shell."""
_CODE = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|bun|deno|php|lua|luajit|tclsh|osascript|julia|Rscript)[\d.]*"
)
_CODE_OPTION = re.compile(r"-{1,2}[A-Za-z]*(?:[ceErpR]|eval|print|exec)|eval|")
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk", "sed", "gsed", "vi", "vim", "nvim", "ex", "ed", "m4"})
"""Commands whose arguments may hold a program that runs commands."""
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_ESCAPED = re.compile(r"\\(\n|.|\Z)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\([\n$`"\\])')
_WILD = re.compile(r"[*?\[]")
_PUNCTUATION = re.compile(r"[^\w./~\-]+")
_OPERATORS = "|&()[<>$~"
_parsers: "list[Parser]" = []


def read_line(line: str) -> Reading:
    """Read a line, or several, of shell."""
    reading = Reading()
    try:
        _Reader(reading).read(line, depth=0)
    except _TooMuch:
        reading.outer.append(UNKNOWN)
    return reading


class _TooMuch(Exception):
    """More could be run than is looked at."""


class _Reader:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._commands = MAX_COMMANDS
        self._room = MAX_TEXT
        self._operators = MAX_OPERATORS

    def read(self, line: str, depth: int) -> None:
        """Read a line; of one in quotes, `depth` says in how many."""
        if len(line) > MAX_LENGTH or UNKNOWN in line or depth > MAX_DEPTH:
            raise _TooMuch
        self._take(line)
        self._operators -= sum(map(line.count, _OPERATORS))
        if self._operators < 0:
            raise _TooMuch
        try:
            source = line.encode()
        except UnicodeEncodeError:  # half a character, which no shell is given like this
            raise _TooMuch from None
        tree = _parser().parse(source)
        if tree.root_node.has_error:
            self._anything(depth)
        told: list[str] = []
        hears = False
        shape: list[bytes] = []
        done = 0
        for node in _walk(tree.root_node):
            match node.type:
                case "command":
                    words = _words(node, source)
                    if words:
                        hears = self._command(words, depth) or hears
                        if _name(words) in ("echo", "printf"):
                            told.append(" ".join(word.text for word in words[1:]))
                    if depth == 0 and node.start_byte >= done:
                        start, end = _span(node)
                        shape += (source[done:start], UNKNOWN.encode())
                        done = end
                case "declaration_command" | "unset_command" | "test_command":
                    self._add(_source(node, source), depth)
                case "herestring_redirect":
                    told += [_value(child, source).text for child in node.named_children]
                case "heredoc_body":
                    told.append(_source(node, source))
                case _:
                    pass
        if "\\\n" in line:  # the shell joins lines before it looks at words, the grammar does not
            self.read(line.replace("\\\n", ""), depth + 1)
        if "\n\\" in line:  # the grammar takes a backslash at the beginning of a line for the command before
            self.read(line.replace("\n\\", "\n \\"), depth + 1)
        if hears:  # a shell that reads what others say: what is said here, or anything
            for text in told:
                self.read(text.replace(UNKNOWN, "$_"), depth + 1)
            self._anything(depth + 1)
        if depth == 0:
            shape.append(source[done:])
            self._reading.shape = b"".join(shape).decode().strip()

    def _anything(self, depth: int) -> None:
        self._add(UNKNOWN, depth)

    def _take(self, text: str) -> None:
        self._room -= len(text)
        if self._room < 0:
            raise _TooMuch

    def _add(self, text: str, depth: int) -> None:
        self._take(text)
        (self._reading.inner if depth else self._reading.outer).append(text)

    def _command(self, words: list[_Word], depth: int) -> bool:
        """Take a command and what it runs; tell whether a shell among these reads its standard input."""
        hears = False
        waiting = [(words, depth)]
        while waiting:
            words, depth = waiting.pop()
            self._commands -= 1
            if self._commands < 0 or depth > MAX_DEPTH:
                raise _TooMuch
            texts = [_as_name(words[0]), *(word.text for word in words[1:])]
            self._add(" ".join(texts), depth)
            name = texts[0].rpartition("/")[2]
            if name in _SHELLS:
                hears = self._shell(texts[1:], depth) or hears
            if name in _LINES_IN_ARGUMENTS or (name == "su" and "-c" not in texts):
                self._line(" ".join(texts[1:]), depth)
                if name == "trap":
                    self._line(texts[1] if len(texts) > 1 else "", depth)
                if name == "ssh":
                    waiting += [(words[at:], depth + 1) for at in range(2, min(len(words), 12))]
            if (option := _LINES_IN_OPTIONS.get(name)) is not None:
                self._lines_in_options(texts, option, depth)
            if name == "alias":
                for text in texts[1:]:
                    self._line(text.partition("=")[2], depth)
            if name in ("source", "."):
                hears = hears or any(text in _STANDARD_INPUTS or UNKNOWN in text for text in texts[1:2])
            if (prefix := _PREFIXES.get(name)) is not None:
                waiting += [(rest, depth + 1) for rest in _after(name, prefix, words)]
            if (options := _FINDS.get(name)) is not None:
                waiting += [(rest, depth + 1) for rest in _found(words, options) if rest]
            if name in _AWKS or (
                _CODE.fullmatch(name) and any(_CODE_OPTION.fullmatch(text[:8]) for text in texts[1:])
            ):
                self._reading.code.append(_PUNCTUATION.sub(" ", " ".join(texts[1:])))
        return hears

    def _shell(self, arguments: list[str], depth: int) -> bool:
        """Read `sh -c`; tell whether the shell reads its standard input instead."""
        runs_line = takes_value = False
        for argument in arguments:
            if takes_value:
                takes_value = False
            elif argument in _OF_A_SHELL:
                takes_value = True
            elif argument in _STANDARD_INPUTS:
                return True
            elif argument.startswith(("-", "+")):
                if argument == "--command" or (not argument.startswith("--") and "c" in argument):
                    runs_line = True
                elif not argument.startswith("--") and "s" in argument:
                    return True
            else:
                if runs_line:
                    self._line(argument, depth)
                elif UNKNOWN in argument:  # `bash <(…)`
                    self._anything(1)
                return False
        return True

    def _lines_in_options(self, texts: list[str], option: str, depth: int) -> None:
        for at, text in enumerate(texts):
            if text.startswith(option) and len(text) > len(option):
                self._line(" ".join([text[len(option) :], *texts[at + 1 :]]), depth)
            elif text.startswith("-") and not text.startswith("--") and text.endswith(option[1]):
                self._line(" ".join(texts[at + 1 :]), depth)
            elif text.startswith(("--command", "--split-string", "--session-command")):
                self._line(" ".join([text.partition("=")[2], *texts[at + 1 :]]), depth)

    def _line(self, text: str, depth: int) -> None:
        if text.strip():
            self.read(text.replace(UNKNOWN, "$_"), depth + 1)


def _parser() -> "Parser":
    if not _parsers:
        import tree_sitter_bash  # noqa: PLC0415  only where a rule is about a shell's line
        from tree_sitter import Language, Parser  # noqa: PLC0415  as above

        _parsers.append(Parser(Language(tree_sitter_bash.language())))
    return _parsers[0]


def _walk(root: "Node") -> "Iterator[Node]":
    """Yield a tree's nodes in the order of the text, however deep it is."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def _source(node: "Node", source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode()


def _words(command: "Node", source: bytes) -> list[_Word]:
    """Return a command's name and arguments; empty for assignments and redirections alone."""
    words: list[_Word] = []
    for child in command.children:
        if child.type == "command_name":
            words.append(_value(child.children[0], source) if child.children else _Word(UNKNOWN))
        elif words and child.is_named and not child.type.endswith("_redirect"):
            words.append(_value(child, source))
    return words


def _span(command: "Node") -> tuple[int, int]:
    """Return where a command's words are: assignments before it and redirections after it are not."""
    inside = [
        child
        for child in command.children
        if not child.type.endswith("_redirect") and child.type != "variable_assignment"
    ]
    if not inside:
        return command.start_byte, command.start_byte
    return inside[0].start_byte, inside[-1].end_byte


def _value(node: "Node", source: bytes) -> _Word:
    """Return a word without its quotes."""
    text = _source(node, source)
    match node.type:
        case "word" | "number" | "variable_name" | "extglob_pattern" | "regex" | "test_operator":
            if _has_braces(text) or text.startswith("="):  # zsh: `=rm` is the path of rm
                return _Word(UNKNOWN)
            return _Word(_ESCAPED.sub(_unescaped, text), _WILD.search(text) is not None)
        case "raw_string":
            return _Word(text[1:-1])
        case "ansi_c_string":
            try:
                return _Word(text[2:-1].encode("latin-1").decode("unicode_escape").replace("\0", ""))
            except ValueError:
                return _Word(UNKNOWN)
        case "string" | "translated_string":
            return _Word(_quoted(node, source))
        case "concatenation":
            parts = [_value(child, source) for child in node.children]
            if _has_braces(text):
                return _Word(UNKNOWN)
            return _Word("".join(part.text for part in parts), any(part.is_pattern for part in parts))
        case _:
            return _Word(UNKNOWN)


def _has_braces(text: str) -> bool:
    """Tell whether a word may be several: {a,b}, {1..3}."""
    _, brace, rest = text.partition("{")
    return bool(brace) and ("," in rest or ".." in rest)


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _quoted(node: "Node", source: bytes) -> str:
    """Return the inside of double quotes; what is expanded there is unknown."""
    if node.type == "translated_string":
        return "".join(_quoted(child, source) for child in node.named_children)
    parts: list[str] = []
    # quotes that nothing closes end where the text does, perhaps in the middle of a character's bytes
    first, last = node.children[0], node.children[-1]
    done, end = first.end_byte, last.start_byte if last.type == '"' and last != first else node.end_byte
    for child in node.named_children:
        if child.type != "string_content":
            parts += (source[done : child.start_byte].decode(), UNKNOWN)
            done = child.end_byte
    parts.append(source[done:end].decode())
    return "".join(part if part == UNKNOWN else _ESCAPED_IN_QUOTES.sub(_unescaped, part) for part in parts)


def _as_name(word: _Word) -> str:
    """Return a word as the name of a command, which a pattern of files may complete."""
    return re.sub(r"[*?\[\]]+", UNKNOWN, word.text) if word.is_pattern else word.text


def _name(words: list[_Word]) -> str:
    return words[0].text.rpartition("/")[2]


def _after(name: str, prefix: _Prefix, words: list[_Word]) -> Iterable[list[_Word]]:
    """Return the command in a command's arguments; nothing where there is none."""
    operands, at = prefix.operands, 1
    while at < len(words):
        text = words[at].text
        if name == "command" and text in ("-v", "-V"):
            return  # says where a command is
        if text == "--":
            at += 1
            break
        if text in prefix.long:
            at += 2
        elif text.startswith("-") and len(text) > 1:
            # the last letter of a group takes the next word
            at += 2 if not text.startswith("--") and text[-1] in prefix.short else 1
        elif _ASSIGNED.match(text) and name in ("env", "sudo", "doas", "exec", "busybox"):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    rest = words[at + (operands if at < len(words) else 0) :] if operands else words[at:]
    if rest:
        yield rest
        if name == "coproc" and len(rest) > 1:
            yield rest[1:]  # after the name of the coprocess
    elif name in ("sudo", "chroot", "unshare", "nsenter") and len(words) > 1:
        yield [_Word("sh")]


def _found(words: list[_Word], options: frozenset[str]) -> Iterator[list[_Word]]:
    """Yield the commands of `find -exec … ;`."""
    begin: int | None = None
    for at, word in enumerate(words):
        if begin is None:
            begin = at + 1 if word.text in options else None
        elif word.text in (";", "+"):
            yield words[begin:at]
            begin = None
    if begin is not None:
        yield words[begin:]

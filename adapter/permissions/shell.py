r"""What a line of shell may run, as far as its text says: every simple command, however it is spelled or wrapped; pure.

The line is parsed by tree-sitter's grammar of bash, of which a closed list of nodes is understood. Quotes and backslashes
are taken off, and what runs other commands (runners.py) is read through, again and again. What only the shell will know,
a variable or a substitution, becomes UNKNOWN in a command's text. A line, or a part of one, that is not understood becomes
a command UNKNOWN: it may run anything. What a program does by itself is not seen.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct, field

from turnwire.adapter.permissions import runners
from turnwire.adapter.permissions.runners import Prefix
from turnwire.adapter.permissions.shell_syntax import (
    SUBSTITUTES,
    UNKNOWN,
    Word,
    decoded,
    misread,
    parser,
    span_of,
    text_of,
    value_of,
    values_of,
    walk,
    walk_with_parents,
    words_behind,
    words_of,
)
from turnwire.adapter.permissions.written_files import WrittenFiles

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LENGTH = 50_000
"""Characters of a line that are read; a longer one may run anything."""

MAX_OPERATORS = 4000
"""Brackets, redirections and the like that are read in all: what the grammar's parser takes grows with their square."""

MAX_PIPES = 600
"""The same of pipes, which take it longer."""

MAX_STEPS = 10_000
"""Nodes and words that are read in all, those in quotes included: some 20 ms."""

MAX_COMMANDS = 2000
"""Commands of a line, those in quotes included, that are read."""

MAX_TEXT = 200_000
"""Characters that are read in all, since lines in quotes are read again."""

MAX_PARTS = 64
"""Commands of a line that several rules may allow together."""

MAX_DEPTH = 8
"""How deep lines in quotes are read: `sh -c "sh -c '…'"`."""

MAX_DOUBTFUL = 64
"""Words of a program that may run any of its arguments; with more it may run anything."""


class Reading(Struct):
    """What a line of shell is made of."""

    outer: list[str] = field(default_factory=list)
    """The commands that stand in it, each as its words with one space between them."""
    inner: list[str] = field(default_factory=list)
    """The commands that these run, as their arguments say."""
    doubtful: list[str] = field(default_factory=list)
    """Commands that programs may run which turnwire does not know, or in places that it cannot tell."""
    code: list[str] = field(default_factory=list)
    """Arguments that may be programs in other languages, as words without punctuation."""
    shape: str = ""
    """What is left of the line without its commands; UNKNOWN for each. A single plain command's is UNKNOWN."""
    unread: str = ""
    """Why it may run anything: the first thing that is not understood; "" when it is understood."""

    commands: Sequence[str] = ()
    """All that it runs, and each that is called by a path by its name as well."""
    possible: Sequence[str] = ()
    """The same of what it may run besides."""


def _with_names(texts: Iterable[str]) -> Sequence[str]:
    found: dict[str, None] = {}
    for text in texts:
        found[text] = None
        name, space, rest = text.partition(" ")
        if "/" in name:
            found[name.rpartition("/")[2] + space + rest] = None
    return tuple(found)


_SURE, _POSSIBLE, _GUESSED = 2, 1, 0
"""Commands that are run; that may be, as a known program may run any of its arguments; that an unknown one may run."""

_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_NAMED_DESCRIPTOR = re.compile(r"(?<![$\w])\{\w+(?:\[[^]]*\])?\}(?:\\\n)*[<>]")
_CONTINUED = re.compile(rb"(?<!\\)((?:\\\\)*+)\\\n")
_DASH = re.compile(rb"[ \t]+-[ \t]*<<")
"""A word that the grammar passes over."""
_COMPARES = frozenset({"-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_EXECUTES = re.compile(r"--exec(?:-batch)?=|-[A-Za-z]*?[xX]")
"""What begins a command of fd that is not a word of its own."""
_GROUP = re.compile(r"-[A-Za-z]{2,}.*", re.DOTALL)
"""Options of one letter in one word."""
_JOINED = re.compile(r"[;|\n]|&&")
_CALLS = re.compile(r"--c(?:a(?:l(?:l)?)?)?(?:=|\Z)")
_SUBCOMMAND = re.compile(r"\w[\w-]*")
_ATTACHED = re.compile(r"(?<!\S)-[A-Za-z](?=\w)")
_INDENTED = re.compile(r"\n[ \t]+")
_LITERAL = re.compile(r"[$`\0]")
_NUMBERS = re.compile(r"[\d\s]*")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_PLAIN = re.compile(r"[\w./+:@%,~\-]*")
_PUNCTUATION = re.compile(r"[^\w./~\-]+")
_PUNCTUATION_AND_PATHS = re.compile(r"[^\w.~\-]+")
_OPERATORS = "|&()[<>$~"
_REPEATED = frozenset(
    {"for_statement", "while_statement", "c_style_for_statement", "function_definition", "&"}
)
"""Nodes whose commands are not run once and in the order of the text."""


def read_line(line: str) -> Reading:
    """Read a line, or several, of shell."""
    reading = Reading()
    try:
        if len(line) > MAX_LENGTH:
            raise _TooMuch("it is too long")
        _Reader(reading).read_all(line)
    except _TooMuch as error:
        reading.outer.append(UNKNOWN)
        reading.unread = reading.unread or str(error)
    reading.commands = _with_names((*reading.outer, *reading.inner))
    reading.possible = _with_names(reading.doubtful)
    return reading


def parts_of(line: str) -> Sequence[str]:
    """Return the commands that a line joins by `&&`, `||`, `;`, `|` and ends of lines; nothing where there is more to it, or one alone."""
    if len(line) > MAX_LENGTH or line.count("|") > MAX_PIPES or not _JOINED.search(line):
        return ()
    source = line.encode(errors="replace")
    parts: list[str] = []
    waiting = [parser().parse(source).root_node]
    while waiting:
        node = waiting.pop()
        body = node.child_by_field_name("body") if node.type == "redirected_statement" else node
        if node.type in ("program", "list", "pipeline"):
            waiting += reversed(node.children)
        elif body is not None and body.type == "command":
            parts.append(text_of(node, source))
        elif node.type not in ("&&", "||", ";", "|", "\n"):
            return ()
        if len(parts) > MAX_PARTS:
            return ()
    return parts if len(parts) > 1 else ()


class _TooMuch(Exception):
    """More could be run than is looked at."""


class _Reader:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._commands = MAX_COMMANDS
        self._room = MAX_TEXT
        self._operators = MAX_OPERATORS
        self._pipes = MAX_PIPES
        self._steps = MAX_STEPS
        self._certainty = _SURE
        self._evaluates = ""
        """What evaluates names and numbers as the shell does, and runs what is substituted in them; "" for nothing."""
        self._counts = dict.fromkeys(runners.COUNTED_VARIABLES, "arithmetic")
        """Variables that are evaluated as numbers, and by what."""
        self._texts: set[str] = set()
        """Variables that are given a text here."""
        self._hears: set[str] = set()
        """What reads its standard input: a "shell", "code" in another language; or a "file" that may be written here.

        What is "fed" is a shell where something is piped or redirected to it. A "text" is read by a program that may run what it is told, or finds in a variable or a file.
        """
        self._files = WrittenFiles()
        self._told: list[str] = []
        """Texts that are said here, and that these may read."""
        self._held: list[str] = []
        """Texts that variables and arguments hold, in which a program may find a command."""
        self._blind = False
        """Whether only the shell knows the name of a command that an unknown program may run."""
        self._reads = False
        """Whether variables are given what somebody says."""
        self._substitutes = False
        """Whether a literal text has a substitution in it, which would be run where it is evaluated."""

    def read_all(self, line: str) -> None:
        """Read the whole of it."""
        self.read(line, depth=0)
        self._hear("|" in line or "<" in line)
        by = self._evaluates or next(
            (by for name, by in self._counts.items() if self._reads or name in self._texts or name.isdigit()),
            "",
        )
        if by and self._substitutes:
            self._anything(0, f"{by} may run what is substituted in a text")

    def _hear(self, is_fed: bool) -> None:
        """Read what is said in the line where something in it may run that."""
        if is_fed and "fed" in self._hears:
            self._hears.add("shell")
        if why := self._files.at_the_end():
            self._anything(1, why)
        read: set[str] = set()
        while (fresh := [text for text in self._told if text not in read]) and self._hears:
            read.update(fresh)
            for text in fresh:
                if self._hears & {"shell", "file"}:
                    self._line(text, 0, _SURE if "shell" in self._hears else _POSSIBLE)
                self._code([text])
        if self._hears:
            for text in self._held:
                self._code([text])
        if "shell" in self._hears:  # what is said here, or anything
            self._anything(1, "a shell reads what others say")
        elif "code" in self._hears and is_fed and not read:
            self._anything(1, "a program of another language is read from elsewhere")

    def read(self, line: str, depth: int) -> None:
        """Read a line; of one in quotes, `depth` says in how many."""
        if UNKNOWN in line or depth > MAX_DEPTH:
            raise _TooMuch("it is too deep" if depth > MAX_DEPTH else "it has a NUL in it")
        self._take(line)
        self._operators -= sum(map(line.count, _OPERATORS))
        self._pipes -= line.count("|")
        if self._operators < 0 or self._pipes < 0:
            raise _TooMuch("it has too many operators")
        try:
            source = line.encode()
        except UnicodeEncodeError:  # half a character, which no shell is given like this
            raise _TooMuch("it is not text") from None
        # the grammar takes other blanks for blanks, the shell for letters
        if odd := next((one for one in line if (one < " " or one.isspace()) and one not in " \t\n"), ""):
            self._anything(depth, f"the character U+{ord(odd):04X}")
        if _NAMED_DESCRIPTOR.search(line):
            self._anything(depth, "a descriptor in a variable")
        root = parser().parse(source).root_node
        self._step(root.descendant_count)
        if root.has_error:
            self._anything(depth, "the grammar of bash does not know it")
        self._tree(root, source, depth)
        if "\\\n" in line:  # the shell joins lines before it looks at words, the grammar does not
            # a comment ends with its line, whatever its last character is
            ends = {node.end_byte for node in walk(root) if node.type == "comment"}
            careful = _CONTINUED.sub(lambda found: found[0] if found.end() - 1 in ends else found[1], source)
            for joined in {line.replace("\\\n", ""), careful.decode()} - {line}:
                self._read_as(joined, depth)
        if "&>" in line:  # other shells than bash end a command there
            self._read_as(line.replace("&>", "& >"), depth)
        if "<<" in line and _INDENTED.search(
            line
        ):  # the grammar runs nothing in a here-document behind blanks
            self._read_as(_INDENTED.sub("\n", line), depth)
        if "\n\\" in line:  # the grammar takes a backslash at the beginning of a line for the command before
            self._read_as(line.replace("\n\\", "\n \\"), depth)

    def _read_as(self, line: str, depth: int) -> None:
        """Read the same line as another shell does: it is run once, so each reading has files of its own."""
        files, self._files = self._files, WrittenFiles()
        self.read(line, depth + 1)
        if why := self._files.at_the_end():
            self._anything(1, why)
        self._files = files

    def _tree(self, root: "Node", source: bytes, depth: int) -> None:
        behind: dict[int, list[Node]] = {}
        shape: list[bytes] = []
        done = 0
        exported: set[int] = set()
        for node, parent in walk_with_parents(root):
            kind, size = node.type, node.end_byte - node.start_byte
            self._step(size // 256)  # its text is looked at, in each node that it is in
            if kind == "expansion" and parent in ("string", "heredoc_body"):
                self._step(node.descendant_count)
            if why := misread(node, source, parent):
                self._anything(depth, why)
            if kind in _REPEATED or (parent == "pipeline" and kind in ("subshell", "compound_statement")):
                self._files.is_loose = True
            if kind in ("command", "declaration_command") and _exports(node, source):
                exported.update(child.id for child in node.children if child.type == "variable_assignment")
            match kind:
                case "redirected_statement":
                    self._redirected(node, source, depth, behind)
                case "command":
                    words = [*words_of(node, source), *values_of(behind.get(node.id, ()), source)]
                    if words and _DASH.match(source, node.end_byte):
                        words.append(Word("-"))
                    if words:
                        self._command(words, depth)
                    if depth == 0 and node.start_byte >= done:
                        start, end = span_of(node)
                        shape += (source[done:start], UNKNOWN.encode())
                        done = end
                case "command_substitution" if (text := text_of(node, source)).startswith(
                    "`"
                ) and "\\" in text:
                    for plain in {
                        re.sub(r"\\([`$\\])", r"\1", text[1:-1]),
                        re.sub(r'\\([`$\\"])', r"\1", text[1:-1]),
                    }:
                        self.read(plain, depth + 1)
                case "declaration_command" | "unset_command" | "test_command":
                    text = text_of(node, source)
                    self._add(text, depth)
                    self._evaluated(node, source, depth)
                    names = [child for child in node.named_children if child.type == "variable_name"]
                    if names and _exports(node, source):  # what they were given before
                        self._hears.add("text")
                case "file_redirect" if (said := node.child_by_field_name("destination")) is not None:
                    self._redirect(
                        value_of(said, source).text,
                        text_of(node, source),
                        is_known=_says_what_is_known(node, source),
                    )
                case "herestring_redirect":
                    self._tell(value_of(child, source).text for child in node.named_children)
                case "heredoc_redirect":
                    self._tell(self._heredoc(node, source, depth))
                case "variable_assignment":
                    self._assignment(node, source, depth, is_exported=node.id in exported)
                case _:
                    self._evaluated(node, source, depth)
        if depth == 0:
            shape.append(source[done:])
            self._reading.shape = b"".join(shape).decode().strip()

    def _tell(self, texts: Iterable[str]) -> None:
        """Take what a command reads from the line, which may be a program in another language."""
        for text in texts:
            self._told.append(text)
            if "code" in self._hears:
                self._files.code(text)

    def _redirected(self, node: "Node", source: bytes, depth: int, behind: "dict[int, list[Node]]") -> None:
        """Find the words behind redirections, which belong to the command before."""
        words = [word for child in node.children for word in words_behind(child)]
        if not words:
            return
        body = node.child_by_field_name("body")
        while body is not None and body.type in ("pipeline", "list", "negated_command"):
            body = body.named_children[-1]
        if body is None:
            self._command(values_of(words, source), depth)
        elif body.type == "command":
            behind[body.id] = words
        else:
            self._anything(depth, "words behind a redirection")

    def _run_file(self, path: str) -> None:
        if self._certainty != _GUESSED and (why := self._files.runs(path)):
            self._anything(1, why)

    def _redirect(self, target: str, text: str, *, is_known: bool) -> None:
        """Take a file that is written by a redirection: what `echo` writes is known, others' output is not."""
        if ">" not in text or target.startswith("/dev/") or target.isdigit():
            return
        name = target.rpartition("/")[2]
        if name in runners.RUN_BY_NAME or "/hooks/" in f"/{target}":
            self._hears.add(
                "file"
                if name.startswith(".") or ("/" in target and name not in runners.RUN_BY_NAME)
                else "text"
            )
        if not is_known:
            self._files.writes(target)

    def _heredoc(self, node: "Node", source: bytes, depth: int) -> list[str]:
        """Return what a here-document says; read what is run in it."""
        parts = {child.type: child for child in node.children}
        start, body, end = (parts.get(f"heredoc_{name}") for name in ("start", "body", "end"))
        if start is None or end is None:
            self._anything(depth, "a here-document without an end")
            return []
        name = text_of(start, source)
        quoted = any(one in name for one in "'\"\\")
        if text_of(end, source).strip() != re.sub(r"['\"\\]", "", name):
            self._anything(depth, "a here-document without an end")
        if SUBSTITUTES.search(name):  # the grammar runs nothing in it then
            self._anything(depth, "a here-document whose end is no plain word")
        text = text_of(body, source) if body is not None else ""
        if SUBSTITUTES.search(text if quoted else "".join(re.findall(r"\\.", text))):
            self._substitutes = True
        if not quoted:
            if re.search(r"\$\[|\$\{|\$\(\(", text):  # the grammar does not know them there
                self._evaluates = "a here-document"
            self._literal("".join(re.findall(r"(?:\\.|[^\\$`])+", text)).replace("\\", ""), depth)
            found = _BACKTICKS.findall(text)
            for line in found:
                self.read(re.sub(r"\\([`$\\])", r"\1", line), depth + 1)
            if text.count("`") != 2 * len(found):
                self._anything(depth, "backticks in a here-document")
        return [text]

    def _assignment(self, node: "Node", source: bytes, depth: int, *, is_exported: bool) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        spelled = text_of(name, source)
        text = text_of(value, source) if value is not None else ""
        said = value_of(value, source).text if value is not None else ""
        if said == UNKNOWN:
            self._held.append(text)
        self._assigned(spelled.partition("[")[0], said, depth)
        if not _NUMBERS.fullmatch(text) and (value is None or value.type != "arithmetic_expansion"):
            self._texts.add(spelled.partition("[")[0])
        if is_exported:
            self._code([said])  # the programs that it is told to may run it

    def _assigned(self, name: str, value: str, depth: int) -> None:
        self._held.append(value)
        if name == "PATH":
            self._files.searches()
        if name in runners.RUN_VARIABLES and (
            name.startswith("BASH_") or name == "ENV" or re.search(r"[$`\0\\]", value)
        ):
            self._anything(depth, f"the shell runs what {name} says")
        if name in runners.LINE_VARIABLES or name.startswith("GIT_CONFIG_"):
            self._line(value.lstrip("!"), depth)

    def _literal(self, text: str, depth: int) -> None:
        """Note a text whose substitutions are run where something evaluates it."""
        if not _LITERAL.search(text):
            return
        self._substitutes = True
        begun = islice(re.finditer(r"\$\(", text), 8)
        found = [text[one.end() :].rpartition(")")[0] for one in begun]
        if found := [*found, *text.split("`", 16)[1:16:2]]:
            self._code([text])
            before = self._certainty, self._blind, self._hears
            self._certainty, self._hears = _GUESSED, set()
            for line in found:
                self.read(line.replace(UNKNOWN, "${_}"), depth + 1)
            self._certainty, self._blind, self._hears = before

    def _evaluated(self, node: "Node", source: bytes, depth: int) -> None:
        """Note what a node has evaluated, and texts that would be run then."""
        match node.type:
            case "raw_string":
                self._literal(text_of(node, source)[1:-1], depth)
            case "ansi_c_string":
                self._literal(value_of(node, source).text, depth)
            case "word" | "string" | "concatenation":
                if node.type == "concatenation" or re.search(r"\\[$`]", text_of(node, source)):
                    self._literal(value_of(node, source).text, depth)
            case "array":
                if re.search(r"(?:^\(|\s)\[", text_of(node, source)):
                    self._evaluates = "a subscript"
            case "arithmetic_expansion" | "subscript" | "c_style_for_statement":
                self._count(node, source, "arithmetic")
            case "compound_statement" if node.children and node.children[0].type == "((":
                self._count(node, source, "arithmetic")
            case "expansion":
                text = text_of(node, source)
                if "@" in [child.type for child in node.children] and re.search(r"@[PAEka]\}$", text):
                    self._evaluates = "${…@P}"
                elif text.startswith("${!"):
                    self._evaluates = "${!…}"
                elif ":" in [child.type for child in node.children]:
                    self._count(node, source, "${…:…}")
            case "test_command":
                text = text_of(node, source)
                if any(re.search(rf"(?<![^\s(]){option}(?!\S)", text) for option in _COMPARES):
                    self._evaluates = "[[ … ]]"
            case "declaration_command":
                if any(
                    child.type not in ("variable_assignment", "variable_name")
                    for child in node.named_children
                ):
                    self._evaluates = "a declaration"
            case "unset_command" if any(child.type != "variable_name" for child in node.named_children):
                self._evaluates = "unset"
            case "for_statement":
                name = node.child_by_field_name("variable")
                values = node.children_by_field_name("value")
                if name is not None and not all(value.type == "number" for value in values):
                    self._texts.add(text_of(name, source))
            case _:
                pass

    def _count(self, node: "Node", source: bytes, by: str) -> None:
        self._step(node.descendant_count)
        for inside in walk(node):
            if inside.type in ("variable_name", "word", "special_variable_name"):
                self._counts[text_of(inside, source)] = by

    def _anything(self, depth: int, why: str) -> None:
        if self._certainty == _GUESSED:
            return
        self._reading.unread = self._reading.unread or why
        self._take(UNKNOWN)
        (self._reading.inner if depth else self._reading.outer).append(UNKNOWN)

    def _step(self, count: int) -> None:
        self._steps -= count
        if self._steps < 0:
            raise _TooMuch("it has too many words")

    def _take(self, text: str) -> None:
        self._room -= len(text)
        if self._room < 0:
            raise _TooMuch("it is too long with all that is in quotes")

    def _add(self, text: str, depth: int) -> None:
        self._take(text)
        if self._certainty != _SURE:
            self._reading.doubtful.append(text)
        else:
            (self._reading.inner if depth else self._reading.outer).append(text)

    def _code(self, texts: Iterable[str]) -> None:
        text = " ".join(texts)
        self._take(text)
        plain = _PUNCTUATION.sub(" ", text)
        self._reading.code.append(plain)
        if (detached := _ATTACHED.sub(" ", plain)) != plain:
            self._reading.code.append(detached)
        if "\\" in text and (plainer := decoded(text)) != text:
            self._code([plainer])
        if "/" in text:
            self._reading.code.append(_PUNCTUATION_AND_PATHS.sub(" ", text))

    def _command(self, words: list[Word], depth: int) -> None:
        """Take a command and what it runs."""
        certainty = self._certainty
        waiting = [(words, depth, certainty)]
        while waiting:
            words, depth, self._certainty = waiting.pop()
            self._commands -= 1
            if self._commands < 0 or depth > MAX_DEPTH:
                raise _TooMuch("it has too many commands")
            self._step(len(words))
            texts = [_as_name(words[0]), *(word.text for word in words[1:])]
            name = texts[0].rpartition("/")[2]
            is_unknown = UNKNOWN in name or (UNKNOWN in texts[0] and words[0].splits)
            if UNKNOWN in texts[0] and not is_unknown:  # "$X/bin/python": one word, of which the end is known
                texts[0] = name
            self._add(" ".join(texts), depth)
            if _ASSIGNED.match(texts[0]):  # an assignment behind a redirection, or a name that is odd
                self._anything(depth, f"{texts[0][:40]!r} where a command is")
            if is_unknown:
                self._only_the_shell(depth, "only the shell knows the name of a command")
            elif words[0].is_bare and name in runners.RESERVED and self._keyword(name, words):
                self._anything(depth, f"{name!r} where a command is")
            self._read_arguments(name, texts, depth)
            if self._certainty != _GUESSED and (why := self._files.command(name, texts)):
                self._anything(1, why)
            waiting += self._run_by(name, words, texts, depth)
        self._certainty = certainty

    def _keyword(self, name: str, words: list[Word]) -> bool:
        """Tell whether a word of the grammar that was read as a command hides what is run."""
        if name not in ("time", "coproc"):
            return True
        return any(word.is_bare and word.text in runners.RESERVED - {"in"} for word in words[1:4])

    def _read_arguments(self, name: str, texts: list[str], depth: int) -> None:
        """Take what a command says, hears or evaluates of its arguments."""
        match name:
            case "echo" | "printf":
                self._told += {" ".join(texts[1:]), *texts[1:MAX_DOUBTFUL]}
            case "env" if any(text.startswith(("-S", "-vS", "-iS", "--s")) for text in texts) and any(
                "\\" in text for text in texts
            ):
                self._anything(depth + 1, "env reads what it splits in its own way")
            case "set":
                self._held += texts[1:MAX_DOUBTFUL]
                if "allexport" in texts or any(re.match(r"-[a-z]*a", text) for text in texts[1:]):
                    self._hears.add("text")
            case "alias":
                for text in texts[1:]:
                    self._line(text.partition("=")[2] or (UNKNOWN if UNKNOWN in text else ""), depth)
                if any("=" in text for text in texts[1:]):
                    self._anything(depth, "an alias may stand for any command")
            case "ssh":
                self._code(texts[1:])
                if not runners.SSH_COMMAND.search(f" {' '.join(texts[1:])}"):
                    self._hears.add("fed")
            case "man" if any(text.startswith("-") for text in texts):
                self._code(texts[1:])
            case "find" | "gfind" | "fd" | "fdfind":
                self._hears.add("text")
                if UNKNOWN in texts:  # it may say -exec
                    self._code(texts[1:])
                at = next((at for at, text in enumerate(texts) if _EXECUTES.match(text)), len(texts))
                if name in ("fd", "fdfind") and at < len(texts):
                    self._code([_EXECUTES.sub("", texts[at]), *texts[at + 1 :]])
            case "fc":
                self._anything(depth, "fc runs what was run before")
            case "history" if len(texts) > 1 and texts[1].startswith(("-s", "-p")):
                self._anything(depth, "history may run again what it is told")
            case "source" | ".":
                stdin = any(text in runners.STANDARD_INPUTS or UNKNOWN in text for text in texts[1:2])
                self._hears.add("shell" if stdin else "file")
                for text in texts[1:2]:
                    self._run_file(text)
            case "mapfile" | "readarray" if any(text.startswith(("-C", "-c")) for text in texts):
                self._anything(depth, f"{name} runs a command of its own")
            case "at" | "batch":
                self._hears.add("shell")
            case "parallel" if not _after(name, runners.PREFIXES[name], [Word(text) for text in texts])[0]:
                self._hears.add("shell")
            case "compgen" | "complete" | "enable" | "bind" | "hash" if any(t != "-r" for t in texts[1:]):
                self._anything(depth, f"{name} runs or evaluates what it is given")
            case _:
                pass
        self._read_lines(name, texts, depth)
        self._read_programs(name, texts, depth)

    def _read_lines(self, name: str, texts: list[str], depth: int) -> None:
        """Read the lines of shell in a command's arguments."""
        if name in runners.SHELLS and (heard := self._shell(texts[1:], depth)):
            self._hears.add(heard)
        if name in runners.LINES_IN_ARGUMENTS or (name == "su" and "-c" not in texts):
            self._line(" ".join(texts[2 if texts[1:2] == ["--"] else 1 :]), depth)
            for text in texts[1:MAX_DOUBTFUL]:
                is_line = " " in text or name in ("trap", "parallel", "hyperfine")
                self._line(text, depth, _SURE if is_line and name not in runners.ANYWHERE else _POSSIBLE)
        if (option := runners.LINES_IN_OPTIONS.get(name)) is not None:
            self._lines_in_options(texts, option, depth)
        if name in runners.EVALUATES:
            self._evaluating(name, texts)

    def _read_programs(self, name: str, texts: list[str], depth: int) -> None:
        """Take the arguments that may be programs in other languages, and what reads such programs."""
        if runners.CODE.fullmatch(name):
            self._interpreter(texts[1:])
            if name == "bun" and texts[1:2] == ["run"]:  # a script, or any program
                self._code(texts[2:])
        if (inert := runners.TOOLS.get(name)) is not None:
            self._tool(name, texts[1:], inert)
        for at, text in enumerate(texts if name in runners.PROGRAMS_IN_OPTIONS else (), 1):
            option, equals, value = text.partition("=")
            if _is_short_for(option, runners.PROGRAMS_IN_OPTIONS[name]):
                self._code([value] if equals else texts[at : at + 1])
        if name in runners.AWKS:
            self._code(texts[1:])
            self._hears.add("text")
            for at, text in enumerate(texts):
                if name in ("make", "gmake") and text.startswith(("--eval", "-E")):
                    self._line(text.partition("=")[2] or " ".join([text[2:], *texts[at + 1 : at + 2]]), depth)
            if name in runners.EDITORS or any(text in runners.STANDARD_INPUTS for text in texts[1:]):
                self._hears |= {"code", "file"}

    def _run_by(
        self, name: str, words: list[Word], texts: list[str], depth: int
    ) -> Iterator[tuple[list[Word], int, int]]:
        """Yield what a command runs of its arguments, each with its depth and certainty."""
        certainty = self._certainty
        if name == "ssh":
            yield from ((words[at:], depth + 1, certainty) for at in range(2, min(len(words), 12)))
        if name == "jobs" and words[2:] and re.match(r"-\w*x", texts[1]):
            yield words[2:], depth + 1, certainty
        if name == "git":
            yield from ((rest, depth + 1, certainty) for rest in self._git(words, texts, depth))
        if (prefix := runners.PREFIXES.get(name)) is not None:
            for rest, depth_of, how in self._inner(name, prefix, words, depth):
                yield _fed(name, texts, rest), depth_of, how
                if name in ("xargs", "gxargs"):
                    yield [*rest, Word(UNKNOWN)], depth_of, _POSSIBLE
            for text in texts[1:]:
                if (found := _ASSIGNED.match(text)) is not None:
                    self._assigned(found[0].rstrip("+="), text[found.end() :], depth)
                    self._code([text[found.end() :]])
                    self._texts.add(found[0].rstrip("+="))  # after `time` it is the shell's own
        subcommands = runners.SUBCOMMANDS.get(name, {})
        if texts[1:] and texts[1] in runners.FED_SUBCOMMANDS.get(name, ()) and not subcommands:
            self._hears.add("fed")
        if name in runners.FED and not any(text in ("--run", "--command", "-c") for text in texts):
            self._hears.add("fed")
        for at, text in enumerate(texts[1:12] if subcommands else (), 1):
            if UNKNOWN in text and _leads(texts, at):
                self._only_the_shell(depth + 1, f"only the shell knows the subcommand of {name}")
            elif "=" in text and not text.startswith("-") and _leads(texts, at):
                self._only_the_shell(depth + 1, f"{text[:40]!r} where the subcommand of {name} is")
            if text in runners.FED_SUBCOMMANDS.get(name, ()):
                self._hears.add("fed")
            if (prefix := subcommands.get(text)) is not None:
                if prefix.operands and not _after(text, prefix, words[at:])[0]:  # a container's own command
                    self._hears.add("fed")
                for rest, depth_of, how in self._inner(text, prefix, words[at:], depth):
                    yield rest, depth_of, how if at < 4 else min(how, _POSSIBLE)
                break
        if (options := runners.FINDS.get(name)) is not None:
            yield from ((_completed(rest), depth + 1, certainty) for rest in _found(words, options) if rest)
        if name in runners.ANYWHERE:
            if len(words) > MAX_DOUBTFUL:
                self._anything(depth, f"{name} may run any of its arguments")
            for at in range(1, min(len(words), MAX_DOUBTFUL)):
                yield words[at:], depth + 1, min(certainty, _POSSIBLE)
        if not runners.is_known(name) and UNKNOWN not in name:
            self._unknown(name, words, texts, depth)

    def _inner(
        self, name: str, prefix: Prefix, words: list[Word], depth: int
    ) -> Iterator[tuple[list[Word], int, int]]:
        """Yield the commands in the arguments of one that runs others, each with its depth and certainty."""
        certainty = self._certainty
        sure, doubtful, unknown = _after(name, prefix, words)
        if unknown:
            self._only_the_shell(depth + 1, unknown)
        for rest in sure:
            if not _PLAIN.fullmatch(rest[0].text) and UNKNOWN not in rest[0].text:
                self._line(rest[0].text, depth)  # npx gives a shell what is no plain name
            yield rest, depth + 1, certainty
        if name not in runners.ANYWHERE:
            if len(doubtful) > MAX_DOUBTFUL:
                self._only_the_shell(depth + 1, f"{name} may run any of its arguments")
            yield from ((rest, depth + 1, min(certainty, _POSSIBLE)) for rest in doubtful[:MAX_DOUBTFUL])

    def _only_the_shell(self, depth: int, why: str) -> None:
        self._blind = True
        self._anything(depth, why)

    def _unknown(self, name: str, words: list[Word], texts: list[str], depth: int) -> None:
        """Look for commands in the arguments of a program that is in no table, and may be a runner."""
        self._code(texts[1:])
        self._hears |= {"text", "file"} if "/" in texts[0] else {"text"}
        before, self._certainty = self._certainty, _GUESSED
        was_blind, self._blind = self._blind, False
        for at, text in enumerate(texts[1:MAX_DOUBTFUL], 1):
            if text.rpartition("/")[2] in runners.SHELLS or runners.may_run(text):
                self._command(words[at:], depth + 1)
            elif re.search(r"[\\'\"`]|\s", text) and UNKNOWN not in text and len(text) < MAX_LENGTH:
                self.read(text, depth + 1)
        self._certainty = before
        if self._blind:
            self._anything(depth, f"{name} may run a command that only the shell knows")
        self._blind = self._blind or was_blind

    def _interpreter(self, arguments: list[str]) -> None:
        """Take what `python3 -c` and its like may run; what a script is given for arguments is its own."""
        self._hears.add("text")
        script = _script(arguments)
        runs_code = any(runners.CODE_OPTION.fullmatch(text[:8]) or text[:2] == "-m" for text in arguments)
        is_file = script in arguments and _PLAIN.fullmatch(script) and not runs_code
        self._code(arguments[: arguments.index(script)] if is_file else arguments)
        if script in runners.STANDARD_INPUTS and not _asks_only(arguments):
            self._hears.add("code")
            for text in self._told:
                self._files.code(text)

    def _tool(self, name: str, arguments: list[str], inert: frozenset[str]) -> None:
        """Take what a program of many uses may run of its arguments, but for those of uses that run nothing."""
        at = 0
        while at < len(arguments) and arguments[at].startswith("-"):
            at += 2 if name == "git" and arguments[at] in runners.GIT_VALUES | {"-c", "--config-env"} else 1
        if arguments[at : at + 1] and arguments[at] in inert:
            if name == "gh" and "--" in arguments:  # git gets what is behind it
                self._code(arguments[arguments.index("--") :])
            return
        if name in runners.WITH_SUBCOMMANDS and at < len(arguments):
            before, end = arguments[at - 1] if at else "", at + 1
            if end < len(arguments) and _SUBCOMMAND.fullmatch(arguments[end]):
                end += 1
            may_be_value = before.startswith("--") and "=" not in before and before not in runners.FLAGS
            if may_be_value or not _SUBCOMMAND.fullmatch(arguments[at]):
                at += 1  # it may be what the program runs
            arguments = [*arguments[:at], *arguments[end:]]
        self._code(arguments)

    def _evaluating(self, name: str, texts: list[str]) -> None:
        match name:
            case "let":
                self._evaluates = name
            case "printf" | "test" | "[" | "wait":
                if any(text.startswith(("-v", "-p")) for text in texts[1:]) or not _COMPARES.isdisjoint(
                    texts
                ):
                    self._evaluates = name
            case "read" | "mapfile" | "readarray" | "getopts":
                self._reads = True
                if any("[" in text or UNKNOWN in text for text in texts[1:]):
                    self._evaluates = name
            case _:
                if any("[" in text or UNKNOWN in text or text.startswith("-") for text in texts[1:]):
                    self._evaluates = name

    def _git(self, words: list[Word], texts: list[str], depth: int) -> Iterator[list[Word]]:
        """Yield what git runs for its arguments."""
        at = 1
        while at < len(texts) and texts[at].startswith("-"):
            option, _, value = texts[at].partition("=")
            if option in ("-c", "--config-env", "--exec-path"):
                setting = value or (texts[at + 1] if at + 1 < len(texts) else "")
                if option != "-c" or not runners.GIT_HARMLESS.fullmatch(setting):
                    self._anything(depth + 1, f"git {option} may have it run anything")
                    self._line(setting.partition("=")[2].lstrip("!"), depth)
                at += 1 if value else 2
            else:
                at += 2 if option in runners.GIT_VALUES and not value else 1
        sub, rest = (texts[at], texts[at + 1 :]) if at < len(texts) else ("", [])
        lines: list[str] = []
        options = runners.GIT_LINES.get(sub, frozenset())
        for place, text in enumerate(rest):
            option, equals, value = text.partition("=")
            if option in options or _is_short_for(option, options):
                lines.append(value if equals else " ".join(rest[place + 1 : place + 2]))
            elif text[:2] in options and len(text) > 2:
                lines.append(text[2:])
            elif (found := _GROUP.fullmatch(text)) is not None:  # another letter's value may be in it
                for at, letter in enumerate(found[0][2:], 3):
                    if f"-{letter}" in options:
                        value = text[at:] or " ".join(rest[place + 1 : place + 2])
                        self._line(value, depth, _POSSIBLE)
        if sub == "submodule" and "foreach" in rest:
            lines.append(
                " ".join(
                    text
                    for text in rest[rest.index("foreach") + 1 :]
                    if text not in ("--recursive", "-q", "--quiet")
                )
            )
            yield words[at + 1 + rest.index("foreach") + 1 :] or [Word("git")]
        if sub == "bisect" and rest[:1] == ["run"] and rest[1:]:
            yield words[at + 2 :]
        if sub == "filter-branch":
            lines += rest
        if sub == "config" and any("alias" in text or "core." in text for text in rest):
            lines += [text.lstrip("!") for text in rest[1:]]
        if UNKNOWN in sub:
            self._anything(depth + 1, "only the shell knows the subcommand of git")
        for line in lines:
            self._line(line, depth)

    def _shell(self, arguments: list[str], depth: int) -> str:
        """Read `sh -c`; tell whether the shell reads its standard input ("shell") or a "file" instead."""
        runs_line, values = False, 0
        for argument in arguments:
            if values:
                values -= 1
            elif argument in runners.STANDARD_INPUTS:
                return "shell"
            elif argument in ("--rcfile", "--init-file"):
                self._anything(1, f"the file of {argument}")
                values = 1
            elif argument.startswith("--"):
                runs_line = runs_line or argument == "--command"
                if argument in ("--version", "--help"):
                    return ""
            elif argument.startswith(("-", "+")):
                values = argument.lower().count("o")  # of `-euo pipefail`
                runs_line = runs_line or "c" in argument
                if "s" in argument and not runs_line:
                    return "shell"
            else:
                if runs_line:
                    self._line(argument, depth)
                    return ""
                self._run_file(argument)
                if UNKNOWN in argument:  # `bash <(…)`
                    self._anything(1, "only the shell knows the script")
                return "file"
        return "shell"

    def _lines_in_options(self, texts: list[str], option: str, depth: int) -> None:
        for at, text in enumerate(texts):
            if text.startswith(option) and len(text) > len(option):
                self._line(" ".join([text[len(option) :], *texts[at + 1 :]]), depth)
            elif text.startswith("-") and not text.startswith("--") and text.endswith(option[1]):
                self._line(" ".join(texts[at + 1 :]), depth)
                if at + 1 < len(texts):
                    self._line(texts[at + 1], depth)
            elif (found := re.match(rf"-[A-Za-z]+{option[1]}(.+)", text, re.DOTALL)) is not None:
                self._line(" ".join([found[1], *texts[at + 1 :]]), depth, _POSSIBLE)
            elif _CALLS.match(text) if texts[0] in ("npm", "npx") else text.startswith(("--c", "--s", "--r")):
                self._line(" ".join([text.partition("=")[2], *texts[at + 1 :]]), depth)

    def _line(self, text: str, depth: int, certainty: int = _SURE) -> None:
        if text.strip():
            before, self._certainty = self._certainty, min(self._certainty, certainty)
            self.read(text.replace(UNKNOWN, "${_}"), depth + 1)
            self._certainty = before


def _says_what_is_known(redirect: "Node", source: bytes) -> bool:
    """Tell whether the output of the command that a redirection belongs to stands in the line."""
    at = redirect.start_byte if redirect.parent is None else redirect.parent.start_byte
    begin = source[at : redirect.start_byte].decode(errors="replace").split()
    name = begin[0] if begin else ""
    if name == "cat":  # of files nobody knows what they say
        return all(word.startswith(("-", "<")) for word in begin[1:])
    return name in runners.SAYS_WHAT_IS_KNOWN


def _script(arguments: Sequence[str]) -> str:
    """Return the first argument of an interpreter that is no option; "-" when there is none."""
    return next((text for text in arguments if text == "-" or not text.startswith("-")), "-")


def _asks_only(options: Sequence[str]) -> bool:
    """Tell whether an interpreter only says something of itself, or runs a module."""
    return any(
        option in ("--version", "-V", "-v", "--help", "-h") or option.startswith("-m") for option in options
    )


def _fed(name: str, texts: list[str], words: list[Word]) -> list[Word]:
    """Return the command of a prefix; of xargs, with what xargs is told where that may be a command or a line."""
    inner = _name(words)
    if name not in ("xargs", "gxargs", "parallel"):
        return words
    given = [(at, text) for at, text in enumerate(texts) if text.startswith(("-I", "-i"))]
    places = {
        text[2:] or (texts[at + 1] if text == "-I" and at + 1 < len(texts) else "{}") for at, text in given
    }
    if name == "parallel":
        places.add("{}")
    if len(places) > MAX_DOUBTFUL:  # xargs takes the last one
        return [Word(UNKNOWN, splits=True)]
    if not (any(place in inner for place in places) or inner in runners.SHELLS or runners.may_run(inner)):
        return words
    for place in places:
        words = [Word(word.text.replace(place, UNKNOWN), splits=True) for word in words]
    return [*words, Word(UNKNOWN, splits=True)]


def _exports(node: "Node", source: bytes) -> bool:
    """Tell whether the variables in a node are given to programs: before a command, or by `export`."""
    if node.type == "declaration_command":
        words = (
            source[node.start_byte : min(node.end_byte, node.start_byte + 80)]
            .decode(errors="replace")
            .split()
        )
        return words[0] == "export" or any(word[0] == "-" and "x" in word for word in words[1:])
    return node.type == "command"


def _is_short_for(option: str, options: frozenset[str]) -> bool:
    """Tell whether an option is one of these, or the beginning of a long one."""
    return len(option) > 3 and any(one.startswith(option) for one in options)


def _as_name(word: Word) -> str:
    """Return a word as the name of a command, which a pattern of files may complete."""
    return re.sub(r"[*?\[\]]+", UNKNOWN, word.text) if word.is_pattern else word.text


def _name(words: list[Word]) -> str:
    return words[0].text.rpartition("/")[2]


def _leads(texts: Sequence[str], at: int) -> bool:
    """Tell whether there are options alone before a word."""
    return all(text.startswith("-") for text in texts[1:at])


def _after(name: str, prefix: Prefix, words: list[Word]) -> tuple[list[list[Word]], list[list[Word]], str]:
    """Return the commands in a command's arguments; those that may be others; and why it may be any, or "".

    There are none where the arguments have none.
    """
    operands, at, unknown, is_ended = prefix.operands, 1, "", False
    doubtful: list[list[Word]] = []
    while at < len(words):
        text, begin = words[at].text, at
        if name == "command" and text in ("-v", "-V"):
            return [], [], ""  # says where a command is
        if text == "--" and not is_ended:
            is_ended = True
            at += 1
        elif not is_ended and text in prefix.long:
            at += 2
        elif text == "-" and name == "env":
            at += 1
        elif not is_ended and text.startswith("-") and len(text) > 1:
            at += 2 if _takes_next(text, prefix.short) else 1
            if text.startswith("--") and "=" not in text and text not in runners.FLAGS:
                begins = range(at + 1, min(len(words), at + MAX_DOUBTFUL + 2))
                doubtful = doubtful or [words[later:] for later in begins]
        elif _ASSIGNED.match(text):
            at += 1
        elif operands:
            operands -= 1
            at += 1
            if text.startswith(UNKNOWN):  # it may be an option
                unknown = f"only the shell knows where the command of {name} begins"
        else:
            break
        if any(word.is_pattern or (word.splits and UNKNOWN in word.text) for word in words[begin:at]):
            unknown = f"only the shell knows where the command of {name} begins"
    rest = words[at:]
    if rest and rest[0].text.startswith("-"):
        unknown = f"{rest[0].text!r} where the command of {name} is"
    if rest:
        # the name of a coprocess may be before
        return [rest, rest[1:]] if name == "coproc" and len(rest) > 1 else [rest], doubtful, unknown
    option = runners.SHELL_OPTIONS.get(name)
    runs_a_shell = name in runners.SHELL_WITHOUT_COMMAND or (
        option is not None and any(option.match(word.text) for word in words[1:])
    )
    return [[Word("sh")]] if runs_a_shell else [], doubtful, unknown


def _completed(words: list[Word]) -> list[Word]:
    """Return a command of find, with what find puts into its name, or the name of what it runs in turn."""
    if "{}" in words[0].text or runners.may_run(_name(words)):
        return [Word(word.text.replace("{}", UNKNOWN)) for word in words]
    return words


def _takes_next(option: str, short: str) -> bool:
    """Tell whether the value of an option, or of the last in a group, is the next word."""
    letters = option[1:]
    first = next((at for at, letter in enumerate(letters) if letter in short), None)
    return not option.startswith("--") and first is not None and first == len(letters) - 1


def _found(words: list[Word], options: frozenset[str]) -> Iterator[list[Word]]:
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

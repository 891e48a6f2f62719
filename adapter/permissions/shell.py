r"""What a line of shell may run, as far as its text says: every simple command, however it is spelled or wrapped; pure.

The line is parsed by tree-sitter's grammar of bash, of which a closed list of nodes is understood. Quotes and backslashes
are taken off, and what runs other commands (runners.py) is read through, again and again. What only the shell will know,
a variable or a substitution, becomes UNKNOWN in a command's text. A line, or a part of one, that is not understood becomes
a command UNKNOWN: it may run anything. What a program does by itself is not seen.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from turnwire.adapter.permissions import runners
from turnwire.adapter.permissions.runners import Prefix

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

    @property
    def commands(self) -> Iterator[str]:
        """All that it runs, and each that is called by a path by its name as well."""
        return _with_names((*self.outer, *self.inner))

    @property
    def possible(self) -> Iterator[str]:
        """The same of what it may run besides."""
        return _with_names(self.doubtful)


def _with_names(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield text
        name, space, rest = text.partition(" ")
        if "/" in name:
            yield name.rpartition("/")[2] + space + rest


class _Word(NamedTuple):
    text: str
    is_pattern: bool = False
    """True where the shell puts names of files in the place of *, ? and []."""
    splits: bool = False
    """True where the shell may make several words of it."""
    is_bare: bool = False
    """True for a word without quotes and backslashes."""


_SURE, _POSSIBLE, _GUESSED = 2, 1, 0
"""Commands that are run; that may be, as a known program may run any of its arguments; that an unknown one may run."""

_UNDERSTOOD = frozenset(
    {
        "program",
        "list",
        "pipeline",
        "subshell",
        "compound_statement",
        "do_group",
        "if_statement",
        "elif_clause",
        "else_clause",
    }
    | {
        "while_statement",
        "for_statement",
        "c_style_for_statement",
        "case_statement",
        "case_item",
        "function_definition",
    }
    | {
        "negated_command",
        "variable_assignments",
        "array",
        "command_substitution",
        "process_substitution",
        "command_name",
    }
    | {
        "concatenation",
        "file_descriptor",
        "heredoc_start",
        "heredoc_end",
        "comment",
        "raw_string",
        "translated_string",
        "brace_expression",
    }
    | {
        "file_redirect",
        "herestring_redirect",
        "binary_expression",
        "unary_expression",
        "postfix_expression",
        "ternary_expression",
    }
    | {"parenthesized_expression", "test_operator", "simple_expansion", "special_variable_name"}
    | {
        "command",
        "redirected_statement",
        "heredoc_redirect",
        "heredoc_body",
        "variable_assignment",
        "subscript",
        "string",
        "expansion",
    }
    | {
        "ansi_c_string",
        "arithmetic_expansion",
        "declaration_command",
        "unset_command",
        "test_command",
        "word",
    }
)
"""Nodes that are understood by what is in them."""
_LEAVES = frozenset(
    {"word", "number", "variable_name", "regex", "extglob_pattern", "string_content", "heredoc_content"}
)
"""Nodes of text in which nothing is run."""
_WITH_TEXT = frozenset(
    {"string", "heredoc_body", "expansion", "string_content", "heredoc_redirect", "translated_string"}
)
"""Nodes whose text is not all in the nodes below them."""
_QUOTED = frozenset({"raw_string", "ansi_c_string", "string", "translated_string"})
_IN_A_HEREDOC = frozenset(
    {
        "heredoc_start",
        "heredoc_body",
        "heredoc_end",
        "file_redirect",
        "herestring_redirect",
        "file_descriptor",
        "pipeline",
        "list",
        "command",
    }
    | {
        "redirected_statement",
        "subshell",
        "compound_statement",
        "negated_command",
        "test_command",
        "declaration_command",
    }
)
_HIDDEN = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\(|\$\{|[<>]\()")
_HIDDEN_IN_QUOTES = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\(|\$\{)")
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_GAP = re.compile(r"(?:\s|\\\n)*")
_NAMED_DESCRIPTOR = re.compile(r"(?<![$\w])\{\w+(?:\[[^]]*\])?\}(?:\\\n)*[<>]")
_CONTINUED = re.compile(rb"(?<!\\)((?:\\\\)*+)\\\n")
_DASH = re.compile(rb"[ \t]+-[ \t]*<<")
"""A word that the grammar passes over."""
_COMPARES = frozenset({"-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_SUBSTITUTES = re.compile(r"[$`]")
_NUMBERS = re.compile(r"[\d\s]*")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_ESCAPED = re.compile(r"\\(\n|.|\Z)", re.DOTALL)
_KNOWN_ESCAPES = frozenset("abfnrtvxuU01234567\\'\"\n")
_ESCAPED_IN_QUOTES = re.compile(r'\\([\n$`"\\])')
_PLAIN = re.compile(r"[\w./+:@%,~\-]*")
_WILD = re.compile(r"[*?\[]")
_PUNCTUATION = re.compile(r"[^\w./~\-]+")
_PUNCTUATION_AND_PATHS = re.compile(r"[^\w.~\-]+")
_OPERATORS = "|&()[<>$~"
_parsers: "list[Parser]" = []


def read_line(line: str) -> Reading:
    """Read a line, or several, of shell."""
    reading = Reading()
    try:
        _Reader(reading).read_all(line)
    except _TooMuch as error:
        reading.outer.append(UNKNOWN)
        reading.unread = reading.unread or str(error)
    return reading


class _TooMuch(Exception):
    """More could be run than is looked at."""


class _Reader:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._commands = MAX_COMMANDS
        self._room = MAX_TEXT
        self._operators = MAX_OPERATORS
        self._certainty = _SURE
        self._evaluates = ""
        """What evaluates names and numbers as the shell does, and runs what is substituted in them; "" for nothing."""
        self._counts: dict[str, str] = {}
        """Variables that are evaluated as numbers, and by what."""
        self._texts: set[str] = set()
        """Variables that are given a text here."""
        self._hears: set[str] = set()
        """What reads its standard input: a "shell", "code" in another language; or a "file" that may be written here."""
        self._told: list[str] = []
        """Texts that are said here, and that these may read."""
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
        """Read what is said in the line where something in it reads what others say."""
        read: set[str] = set()
        while (fresh := [text for text in self._told if text not in read]) and self._hears:
            read.update(fresh)
            for text in fresh:
                if self._hears & {"shell", "file"}:
                    self._line(text, 0)
                if self._hears & {"code", "file"}:
                    self._code([text])
        if "shell" in self._hears:  # what is said here, or anything
            self._anything(1, "a shell reads what others say")
        elif "code" in self._hears and is_fed and not read:
            self._anything(1, "a program of another language is read from elsewhere")

    def read(self, line: str, depth: int) -> None:
        """Read a line; of one in quotes, `depth` says in how many."""
        if len(line) > MAX_LENGTH:
            raise _TooMuch("it is too long")
        if UNKNOWN in line or depth > MAX_DEPTH:
            raise _TooMuch("it is too deep" if depth > MAX_DEPTH else "it has a NUL in it")
        self._take(line)
        self._operators -= sum(map(line.count, _OPERATORS))
        if self._operators < 0:
            raise _TooMuch("it has too many operators")
        try:
            source = line.encode()
        except UnicodeEncodeError:  # half a character, which no shell is given like this
            raise _TooMuch("it is no text") from None
        # the grammar takes other blanks for blanks, the shell for letters
        if odd := next((one for one in line if (one < " " or one.isspace()) and one not in " \t\n"), ""):
            self._anything(depth, f"the character U+{ord(odd):04X}")
        if _NAMED_DESCRIPTOR.search(line):
            self._anything(depth, "a descriptor in a variable")
        root = _parser().parse(source).root_node
        if root.has_error:
            self._anything(depth, "the grammar of bash does not know it")
        self._tree(root, source, depth)
        if "\\\n" in line:  # the shell joins lines before it looks at words, the grammar does not
            # a comment ends with its line, whatever its last character is
            ends = {node.end_byte for node in _walk(root) if node.type == "comment"}
            careful = _CONTINUED.sub(lambda found: found[0] if found.end() - 1 in ends else found[1], source)
            for joined in {line.replace("\\\n", ""), careful.decode()} - {line}:
                self.read(joined, depth + 1)
        if "&>" in line:  # other shells than bash end a command there
            self.read(line.replace("&>", "& >"), depth + 1)
        if "\n\\" in line:  # the grammar takes a backslash at the beginning of a line for the command before
            self.read(line.replace("\n\\", "\n \\"), depth + 1)

    def _tree(self, root: "Node", source: bytes, depth: int) -> None:
        behind: dict[int, list[Node]] = {}
        shape: list[bytes] = []
        done = 0
        for node in _walk(root):
            if why := _misread(node, source):
                self._anything(depth, why)
            match node.type:
                case "redirected_statement":
                    self._redirected(node, source, depth, behind)
                case "command":
                    words = [*_words(node, source), *(_value(one, source) for one in behind.get(node.id, ()))]
                    if words and _DASH.match(source, node.end_byte):
                        words.append(_Word("-"))
                    if words:
                        self._command(words, depth)
                    if depth == 0 and node.start_byte >= done:
                        start, end = _span(node)
                        shape += (source[done:start], UNKNOWN.encode())
                        done = end
                case "declaration_command" | "unset_command" | "test_command":
                    text = _source(node, source)
                    self._add(text, depth)
                    self._evaluated(node, source)
                case "herestring_redirect":
                    self._told += [_value(child, source).text for child in node.named_children]
                case "heredoc_redirect":
                    self._told += self._heredoc(node, source, depth)
                case "variable_assignment":
                    self._assignment(node, source, depth)
                case _:
                    self._evaluated(node, source)
        if depth == 0:
            shape.append(source[done:])
            self._reading.shape = b"".join(shape).decode().strip()

    def _redirected(self, node: "Node", source: bytes, depth: int, behind: "dict[int, list[Node]]") -> None:
        """Find the words behind redirections, which belong to the command before."""
        words = [word for child in node.children for word in _behind(child)]
        if not words:
            return
        body = node.child_by_field_name("body")
        while body is not None and body.type in ("pipeline", "list", "negated_command"):
            body = body.named_children[-1]
        if body is None:
            self._command([_value(word, source) for word in words], depth)
        elif body.type == "command":
            behind[body.id] = words
        else:
            self._anything(depth, "words behind a redirection")

    def _heredoc(self, node: "Node", source: bytes, depth: int) -> list[str]:
        """Return what a here-document says; read what is run in it."""
        parts = {child.type: child for child in node.children}
        start, body, end = (parts.get(f"heredoc_{name}") for name in ("start", "body", "end"))
        if start is None or end is None:
            self._anything(depth, "a here-document without an end")
            return []
        name = _source(start, source)
        quoted = any(one in name for one in "'\"\\")
        if _source(end, source).strip() != re.sub(r"['\"\\]", "", name):
            self._anything(depth, "a here-document without an end")
        text = _source(body, source) if body is not None else ""
        if _SUBSTITUTES.search(text if quoted else "".join(re.findall(r"\\.", text))):
            self._substitutes = True
        if not quoted:
            found = _BACKTICKS.findall(text)
            for line in found:
                self.read(re.sub(r"\\([`$\\])", r"\1", line), depth + 1)
            if text.count("`") != 2 * len(found):
                self._anything(depth, "backticks in a here-document")
        return [text]

    def _assignment(self, node: "Node", source: bytes, depth: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        spelled = _source(name, source)
        text = _source(value, source) if value is not None else ""
        self._assigned(spelled.partition("[")[0], _value(value, source).text if value else "", depth)
        if not _NUMBERS.fullmatch(text) and (value is None or value.type != "arithmetic_expansion"):
            self._texts.add(spelled.partition("[")[0])

    def _assigned(self, name: str, value: str, depth: int) -> None:
        if name in runners.RUN_VARIABLES and (name.endswith("ENV") or re.search(r"[$`\0\\]", value)):
            self._anything(depth, f"the shell runs what {name} says")
        if name in runners.LINE_VARIABLES or name.startswith("GIT_CONFIG_"):
            self._line(value, depth)

    def _evaluated(self, node: "Node", source: bytes) -> None:
        """Note what a node has evaluated, and texts that would be run then."""
        match node.type:
            case "raw_string":
                if _SUBSTITUTES.search(_source(node, source)):
                    self._substitutes = True
            case "ansi_c_string":
                if re.search(r"[$`]|\\[0-7xuU]", _source(node, source)):
                    self._substitutes = True
            case "word" | "string_content":
                if re.search(r"\\[$`]", _source(node, source)):
                    self._substitutes = True
            case "arithmetic_expansion" | "subscript" | "c_style_for_statement":
                self._count(node, source, "arithmetic")
            case "compound_statement" if node.children and node.children[0].type == "((":
                self._count(node, source, "arithmetic")
            case "expansion":
                text = _source(node, source)
                if "@" in [child.type for child in node.children] and re.search(r"@[PAEka]\}$", text):
                    self._evaluates = "${…@P}"
                elif text.startswith("${!"):
                    self._evaluates = "${!…}"
                elif ":" in [child.type for child in node.children]:
                    self._count(node, source, "${…:…}")
            case "test_command":
                text = _source(node, source)
                if any(re.search(rf"(?<!\S){option}(?!\S)", text) for option in _COMPARES):
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
                    self._texts.add(_source(name, source))
            case _:
                pass

    def _count(self, node: "Node", source: bytes, by: str) -> None:
        for inside in _walk(node):
            if inside.type in ("variable_name", "word", "special_variable_name"):
                self._counts[_source(inside, source)] = by

    def _anything(self, depth: int, why: str) -> None:
        if self._certainty == _GUESSED:
            return
        self._reading.unread = self._reading.unread or why
        self._take(UNKNOWN)
        (self._reading.inner if depth else self._reading.outer).append(UNKNOWN)

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
        self._reading.code.append(_PUNCTUATION.sub(" ", text))
        if "/" in text:
            self._reading.code.append(_PUNCTUATION_AND_PATHS.sub(" ", text))

    def _command(self, words: list[_Word], depth: int) -> None:
        """Take a command and what it runs."""
        certainty = self._certainty
        waiting = [(words, depth, certainty)]
        while waiting:
            words, depth, self._certainty = waiting.pop()
            self._commands -= 1
            if self._commands < 0 or depth > MAX_DEPTH:
                raise _TooMuch("it has too many commands")
            texts = [_as_name(words[0]), *(word.text for word in words[1:])]
            name = texts[0].rpartition("/")[2]
            is_unknown = UNKNOWN in name or (UNKNOWN in texts[0] and words[0].splits)
            if UNKNOWN in texts[0] and not is_unknown:  # "$X/bin/python": one word, of which the end is known
                texts[0] = name
            self._add(" ".join(texts), depth)
            if is_unknown:
                self._only_the_shell(depth, "only the shell knows the name of a command")
            elif words[0].is_bare and name in runners.RESERVED and self._keyword(name, words):
                self._anything(depth, f"{name!r} where a command is")
            self._read_arguments(name, texts, depth)
            waiting += self._run_by(name, words, texts, depth)
        self._certainty = certainty

    def _keyword(self, name: str, words: list[_Word]) -> bool:
        """Tell whether a word of the grammar that was read as a command hides what is run."""
        if name not in ("time", "coproc"):
            return True
        return any(word.is_bare and word.text in runners.RESERVED - {"in"} for word in words[1:4])

    def _read_arguments(self, name: str, texts: list[str], depth: int) -> None:
        """Read the lines and the programs in a command's arguments."""
        match name:
            case "echo" | "printf":
                self._told += {" ".join(texts[1:]), *texts[1:MAX_DOUBTFUL]}
            case "alias":
                for text in texts[1:]:
                    self._line(text.partition("=")[2] or (UNKNOWN if UNKNOWN in text else ""), depth)
            case "source" | ".":
                stdin = any(text in runners.STANDARD_INPUTS or UNKNOWN in text for text in texts[1:2])
                self._hears.add("shell" if stdin else "file")
            case "mapfile" | "readarray" if any(text.startswith(("-C", "-c")) for text in texts):
                self._anything(depth, f"{name} runs a command of its own")
            case "at" | "batch":
                self._hears.add("shell")
            case "compgen" | "complete" | "enable" | "bind" | "hash" if any(t != "-r" for t in texts[1:]):
                self._anything(depth, f"{name} runs or evaluates what it is given")
            case _:
                pass
        if name in runners.SHELLS and (heard := self._shell(texts[1:], depth)):
            self._hears.add(heard)
        if name in runners.LINES_IN_ARGUMENTS or (name == "su" and "-c" not in texts):
            self._line(" ".join(texts[1:]), depth)
            for text in texts[1:MAX_DOUBTFUL]:
                if " " in text or name in ("trap", "parallel", "hyperfine"):
                    self._line(text, depth, _POSSIBLE if name in ("tmux", "screen") else _SURE)
        if (option := runners.LINES_IN_OPTIONS.get(name)) is not None:
            self._lines_in_options(texts, option, depth)
        if name in runners.EVALUATES:
            self._evaluating(name, texts)
        if runners.CODE.fullmatch(name):
            if any(runners.CODE_OPTION.fullmatch(text[:8]) for text in texts[1:]):
                self._code(texts[1:])
            elif _script(texts[1:]) in runners.STANDARD_INPUTS and not _asks_only(texts[1:]):
                self._hears.add("code")
        if name in runners.AWKS:
            self._code(texts[1:])
            for at, text in enumerate(texts):
                if name in ("make", "gmake") and text.startswith(("--eval", "-E")):
                    self._line(text.partition("=")[2] or " ".join([text[2:], *texts[at + 1 : at + 2]]), depth)
            if name in runners.EDITORS or any(text in runners.STANDARD_INPUTS for text in texts[1:]):
                self._hears |= {"code", "file"}

    def _run_by(
        self, name: str, words: list[_Word], texts: list[str], depth: int
    ) -> Iterator[tuple[list[_Word], int, int]]:
        """Yield what a command runs of its arguments, each with its depth and certainty."""
        certainty = self._certainty
        if name == "ssh":
            yield from ((words[at:], depth + 1, certainty) for at in range(2, min(len(words), 12)))
        if name == "git":
            yield from ((rest, depth + 1, certainty) for rest in self._git(words, texts, depth))
        if (prefix := runners.PREFIXES.get(name)) is not None:
            for rest, depth_of, how in self._inner(name, prefix, words, depth):
                yield _fed(name, texts, rest), depth_of, how
            for text in texts[1:]:
                if (found := _ASSIGNED.match(text)) is not None:
                    self._assigned(found[0].rstrip("+="), text[found.end() :], depth)
                    self._texts.add(found[0].rstrip("+="))  # after `time` it is the shell's own
        subcommands = runners.SUBCOMMANDS.get(name, {})
        for at, text in enumerate(texts[1:12] if subcommands else (), 1):
            if UNKNOWN in text and _leads(texts, at):
                self._only_the_shell(depth + 1, f"only the shell knows the subcommand of {name}")
            elif "=" in text and not text.startswith("-") and _leads(texts, at):
                self._only_the_shell(depth + 1, f"{text[:40]!r} where the subcommand of {name} is")
            if (prefix := subcommands.get(text)) is not None:
                for rest, depth_of, how in self._inner(text, prefix, words[at:], depth):
                    yield rest, depth_of, how if at < 4 else min(how, _POSSIBLE)
                break
        if (options := runners.FINDS.get(name)) is not None:
            yield from ((rest, depth + 1, certainty) for rest in _found(words, options) if rest)
        if name in runners.ANYWHERE:
            if len(words) > MAX_DOUBTFUL:
                self._anything(depth, f"{name} may run any of its arguments")
            for at in range(1, min(len(words), MAX_DOUBTFUL)):
                yield words[at:], depth + 1, min(certainty, _POSSIBLE)
        if not runners.is_known(name) and UNKNOWN not in name:
            self._unknown(name, words, texts, depth)

    def _inner(
        self, name: str, prefix: Prefix, words: list[_Word], depth: int
    ) -> Iterator[tuple[list[_Word], int, int]]:
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

    def _unknown(self, name: str, words: list[_Word], texts: list[str], depth: int) -> None:
        """Look for commands in the arguments of a program that is in no table, and may be a runner."""
        self._code(texts[1:])
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

    def _git(self, words: list[_Word], texts: list[str], depth: int) -> Iterator[list[_Word]]:
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
            if option in options:
                lines.append(value if equals else " ".join(rest[place + 1 : place + 2]))
            elif text[:2] in options and len(text) > 2:
                lines.append(text[2:])
        if sub == "submodule" and "foreach" in rest:
            lines.append(
                " ".join(
                    text
                    for text in rest[rest.index("foreach") + 1 :]
                    if text not in ("--recursive", "-q", "--quiet")
                )
            )
            yield words[at + 1 + rest.index("foreach") + 1 :] or [_Word("git")]
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
        runs_line = takes_value = False
        for argument in arguments:
            if takes_value:
                takes_value = False
            elif argument in runners.OF_A_SHELL:
                takes_value = True
            elif argument in runners.STANDARD_INPUTS:
                return "shell"
            elif argument in ("--rcfile", "--init-file"):
                self._anything(1, f"the file of {argument}")
                takes_value = True
            elif argument.startswith(("-", "+")):
                if argument == "--command" or (not argument.startswith("--") and "c" in argument):
                    runs_line = True
                elif not argument.startswith("--") and "s" in argument:
                    return "shell"
                elif argument in ("--version", "--help"):
                    return ""
            else:
                if runs_line:
                    self._line(argument, depth)
                    return ""
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
            elif text.startswith(("--command", "--split-string", "--session-command", "--run", "--call")):
                self._line(" ".join([text.partition("=")[2], *texts[at + 1 :]]), depth)

    def _line(self, text: str, depth: int, certainty: int = _SURE) -> None:
        if text.strip():
            before, self._certainty = self._certainty, min(self._certainty, certainty)
            self.read(text.replace(UNKNOWN, "$_"), depth + 1)
            self._certainty = before


def _script(arguments: Sequence[str]) -> str:
    """Return the first argument of an interpreter that is no option; "-" when there is none."""
    return next((text for text in arguments if text == "-" or not text.startswith("-")), "-")


def _asks_only(options: Sequence[str]) -> bool:
    """Tell whether an interpreter only says something of itself, or runs a module."""
    return any(
        option in ("--version", "-V", "-v", "--help", "-h") or option.startswith("-m") for option in options
    )


def _fed(name: str, texts: list[str], words: list[_Word]) -> list[_Word]:
    """Return the command of a prefix; of xargs, with what xargs is told where that may be a command or a line."""
    inner = _name(words)
    if name not in ("xargs", "gxargs"):
        return words
    places = [
        text[2:] or (texts[at + 1] if text == "-I" and at + 1 < len(texts) else "{}")
        for at, text in enumerate(texts)
        if text.startswith(("-I", "-i"))
    ]
    if not (inner in places or inner in runners.SHELLS or runners.may_run(inner)):
        return words
    for place in places:
        words = [_Word(word.text.replace(place, UNKNOWN), splits=True) for word in words]
    return [*words, _Word(UNKNOWN, splits=True)]


def _misread(node: "Node", source: bytes) -> str:
    """Say why a node is not understood; "" when it is."""
    kind = node.type
    if not node.is_named:
        return ""
    if kind in _LEAVES and not node.children:
        text = _source(node, source)
        hidden = _HIDDEN_IN_QUOTES if kind in ("string_content", "heredoc_content") else _HIDDEN
        if kind != "heredoc_content" and hidden.search(text):
            return f"what is run in {text[:40]!r}"
        return ""
    if kind not in _UNDERSTOOD and kind not in _LEAVES:
        return f"{kind.replace('_', ' ')}: {_source(node, source)[:40]!r}"
    if kind == "expansion" and node.parent is not None and node.parent.type in ("string", "heredoc_body"):
        for inside in _walk(node):  # between double quotes, single ones are letters
            if inside.type in ("raw_string", "ansi_c_string") and _SUBSTITUTES.search(
                _source(inside, source)
            ):
                return f"quotes in {_source(node, source)[:40]!r}"
    if node.children and kind not in _WITH_TEXT:
        done = node.start_byte
        for child in node.children:
            gap = source[done : child.start_byte].decode()
            if not _GAP.fullmatch(gap) and not (kind == "redirected_statement" and gap.strip() == "-"):
                return f"text between the parts of {_source(node, source)[:40]!r}"
            done = child.end_byte
    return ""


def _behind(redirect: "Node") -> "Iterator[Node]":
    """Yield the words behind a redirection."""
    match redirect.type:
        case "file_redirect":
            words = [child for child in redirect.named_children if child.type != "file_descriptor"]
            closes = any(child.type in ("<&-", ">&-") for child in redirect.children)
            yield from words if closes else words[1:]
        case "heredoc_redirect":
            for child in redirect.named_children:
                if child.type == "file_redirect":
                    yield from _behind(child)
                elif child.type not in _IN_A_HEREDOC:
                    yield child
        case "herestring_redirect":
            yield from redirect.named_children[1:]
        case _:
            pass


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
        elif child.type.endswith("_redirect"):
            words += (_value(word, source) for word in _behind(child))
        elif words:
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
                return _Word(UNKNOWN, splits=True)
            is_pattern = _WILD.search(text) is not None
            return _Word(_ESCAPED.sub(_unescaped, text), is_pattern, is_pattern, "\\" not in text)
        case "raw_string":
            return _Word(text[1:-1])
        case "ansi_c_string":
            try:
                known = _ESCAPED.sub(_as_in_python, text[2:-1])
                return _Word(known.encode("latin-1").decode("unicode_escape").replace("\0", ""))
            except ValueError:
                return _Word(UNKNOWN)
        case "string" | "translated_string":
            return _Word(_quoted(node, source), splits="@" in text)
        case "concatenation":
            parts = [_value(child, source) for child in node.children]
            if _has_braces(
                "".join(_source(child, source) for child in node.children if child.type not in _QUOTED)
            ):
                return _Word(UNKNOWN, splits=True)
            return _Word(
                "".join(part.text for part in parts),
                any(part.is_pattern for part in parts),
                any(part.splits for part in parts),
            )
        case _ if not node.is_named:
            return _Word(text, is_bare=True)
        case _:
            return _Word(UNKNOWN, splits=True)


def _has_braces(text: str) -> bool:
    """Tell whether a word may be several: {a,b}, {1..3}."""
    _, brace, rest = text.partition("{")
    return bool(brace) and ("," in rest or ".." in rest)


def _as_in_python(found: re.Match[str]) -> str:
    """Return an escape of $'…' as Python reads it; what is none in the shell stays as it is."""
    return found[0] if found[1] in _KNOWN_ESCAPES else f"\\\\{found[1]}"


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


def _leads(texts: Sequence[str], at: int) -> bool:
    """Tell whether there are options alone before a word."""
    return all(text.startswith("-") for text in texts[1:at])


def _after(name: str, prefix: Prefix, words: list[_Word]) -> tuple[list[list[_Word]], list[list[_Word]], str]:
    """Return the commands in a command's arguments; those that may be others; and why it may be any, or "".

    There are none where the arguments have none.
    """
    operands, at, unknown, is_ended = prefix.operands, 1, "", False
    doubtful: list[list[_Word]] = []
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
            # the last letter of a group takes the next word
            at += 2 if not text.startswith("--") and text[-1] in prefix.short else 1
            if text.startswith("--") and "=" not in text and text not in runners.FLAGS:
                doubtful = doubtful or [words[later:] for later in range(at + 1, len(words))]
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
    runs_a_shell = name in ("sudo", "chroot", "unshare", "nsenter") and len(words) > 1
    return [[_Word("sh")]] if runs_a_shell else [], doubtful, unknown


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

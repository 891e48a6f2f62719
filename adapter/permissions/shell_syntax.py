"""Nodes of tree-sitter's grammar of bash: which are understood, and the words that they spell; pure.

Quotes and backslashes are taken off a word. What only the shell will know of it becomes UNKNOWN.
"""

import re
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

UNKNOWN = "\0"
"""Stands in a command's text for any characters, or none."""

SUBSTITUTES = re.compile(r"[$`]")
_HIDDEN = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\(|\$\{|[<>]\()")
_HIDDEN_IN_QUOTES = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\(|\$\{)")
_GAP = re.compile(r"(?:\s|\\\n)*")
_ESCAPED = re.compile(r"\\(\n|.|\Z)", re.DOTALL)
_KNOWN_ESCAPES = frozenset("abfnrtvxuU01234567\\'\"\n")
_ESCAPED_IN_QUOTES = re.compile(r'\\([\n$`"\\])')
_WILD = re.compile(r"[*?\[]")


class Word(NamedTuple):
    """A word of a command; parts of it may be unknown."""

    text: str
    is_pattern: bool = False
    """True where the shell puts names of files in the place of *, ? and []."""
    splits: bool = False
    """True where the shell may make several words of it."""
    is_bare: bool = False
    """True for a word without quotes and backslashes."""


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


class _OfThread(threading.local):
    """What each thread has of its own: a parser keeps what it is reading."""

    parser: "Parser | None" = None


_own = _OfThread()


def misread(node: "Node", source: bytes, parent: str) -> str:
    """Say why a node is not understood; "" when it is. `parent`: what kind of node it is in."""
    kind = node.type
    if not node.is_named:
        return ""
    if kind == "number" and source[node.end_byte : node.end_byte + 1] in (b"<", b">"):
        return "a number before a redirection"
    if kind in _LEAVES and not node.children:
        text = text_of(node, source)
        hidden = _HIDDEN_IN_QUOTES if kind in ("string_content", "heredoc_content") else _HIDDEN
        if kind != "heredoc_content" and hidden.search(text):
            return f"what is run in {text[:40]!r}"
        return ""
    if kind not in _UNDERSTOOD and kind not in _LEAVES:
        return f"{kind.replace('_', ' ')}: {text_of(node, source)[:40]!r}"
    if kind == "expansion" and parent in ("string", "heredoc_body"):
        for inside in walk(node):  # between double quotes, single ones are letters
            if inside.type in ("raw_string", "ansi_c_string") and SUBSTITUTES.search(text_of(inside, source)):
                return f"quotes in {text_of(node, source)[:40]!r}"
    if node.children and kind not in _WITH_TEXT:
        done = node.start_byte
        for child in node.children:
            gap = source[done : child.start_byte].decode()
            if not _GAP.fullmatch(gap) and not (kind == "redirected_statement" and gap.strip() == "-"):
                return f"text between the parts of {text_of(node, source)[:40]!r}"
            done = child.end_byte
    return ""


def words_behind(redirect: "Node") -> "Iterator[Node]":
    """Yield the words behind a redirection."""
    match redirect.type:
        case "file_redirect":
            words = [child for child in redirect.named_children if child.type != "file_descriptor"]
            closes = any(child.type in ("<&-", ">&-") for child in redirect.children)
            yield from words if closes else words[1:]
        case "heredoc_redirect":
            for child in redirect.named_children:
                if child.type == "file_redirect":
                    yield from words_behind(child)
                elif child.type not in _IN_A_HEREDOC:
                    yield child
        case "herestring_redirect":
            yield from redirect.named_children[1:]
        case _:
            pass


def parser() -> "Parser":
    """Return the thread's parser, which is loaded when it is first asked for."""
    if _own.parser is None:
        import tree_sitter_bash  # noqa: PLC0415  only where a rule is about a shell's line
        from tree_sitter import Language, Parser  # noqa: PLC0415  as above

        _own.parser = Parser(Language(tree_sitter_bash.language()))
    return _own.parser


def walk(root: "Node") -> "Iterator[Node]":
    """Yield a tree's nodes in the order of the text, however deep it is."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def walk_with_parents(root: "Node") -> "Iterator[tuple[Node, str]]":
    """Yield the same, each with the kind of the node that it is in: a node finds that itself by a search from the root."""
    waiting = [(root, "")]
    while waiting:
        node, parent = waiting.pop()
        yield node, parent
        if children := node.children:
            kind = node.type
            waiting += [(child, kind) for child in reversed(children)]


def text_of(node: "Node", source: bytes) -> str:
    """Return what a node was made of."""
    return source[node.start_byte : node.end_byte].decode()


def words_of(command: "Node", source: bytes) -> list[Word]:
    """Return a command's name and arguments; empty for assignments and redirections alone."""
    parts: list[Node] = []
    for child in command.children:
        if child.type == "command_name":
            parts += child.children[:1] or [child]
        elif child.type.endswith("_redirect"):
            parts += words_behind(child)
        elif parts:
            parts.append(child)
    return values_of(parts, source)


def values_of(nodes: "Iterable[Node]", source: bytes) -> list[Word]:
    """Return words without their quotes; the grammar cuts some in two, between which no blank is."""
    words: list[Word] = []
    done = -1
    for node in nodes:
        if node.start_byte == done:
            words[-1] = Word(UNKNOWN, splits=True)
        else:
            words.append(value_of(node, source))
        done = node.end_byte
    return words


def span_of(command: "Node") -> tuple[int, int]:
    """Return where a command's words are: assignments before it and redirections after it are not."""
    inside = [
        child
        for child in command.children
        if not child.type.endswith("_redirect") and child.type != "variable_assignment"
    ]
    if not inside:
        return command.start_byte, command.start_byte
    return inside[0].start_byte, inside[-1].end_byte


def value_of(node: "Node", source: bytes) -> Word:
    """Return a word without its quotes."""
    text = text_of(node, source)
    match node.type:
        case "word" | "number" | "variable_name" | "extglob_pattern" | "regex" | "test_operator":
            if _has_braces(text) or text.startswith("="):  # zsh: `=rm` is the path of rm
                return Word(UNKNOWN, splits=True)
            is_pattern = _WILD.search(text) is not None
            return Word(_ESCAPED.sub(_unescaped, text), is_pattern, is_pattern, "\\" not in text)
        case "raw_string":
            return Word(text[1:-1])
        case "ansi_c_string":
            return Word(decoded(text[2:-1]))
        case "string" | "translated_string":
            return Word(_quoted(node, source), splits="@" in text)
        case "concatenation":
            parts = [value_of(child, source) for child in node.children]
            if _has_braces(
                "".join(text_of(child, source) for child in node.children if child.type not in _QUOTED)
            ):
                return Word(UNKNOWN, splits=True)
            return Word(
                "".join(part.text for part in parts),
                any(part.is_pattern for part in parts),
                any(part.splits for part in parts),
            )
        case _ if not node.is_named:
            return Word("" if text == "``" else text, is_bare=True)  # backticks around nothing
        case _:
            return Word(UNKNOWN, splits=True)


def decoded(text: str) -> str:
    """Return a text without the escapes of $'…', as printf knows them as well; UNKNOWN where there are others."""
    try:
        known = _ESCAPED.sub(_as_in_python, text)
        return known.encode("latin-1").decode("unicode_escape").replace("\0", "")
    except ValueError:
        return UNKNOWN


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

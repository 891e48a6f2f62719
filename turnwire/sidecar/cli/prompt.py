"""Find the prompt among Claude Code's own arguments, as in `claude "do X"`: with stream-json input the CLI reads none from there.

The lists name the options that take no value or several. Any other option takes the next word.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from turnwire.protocol.errors import TurnwireError

FLAGS = frozenset({
    "--verbose", "--print", "--continue", "--include-partial-messages", "--replay-user-messages",
    "--mcp-debug", "--fork-session", "--ide", "--strict-mcp-config", "--version", "--help",
    "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--ax-screen-reader", "--bg",
    "--background", "--bare", "--brief", "--chrome", "--no-chrome", "--desktop", "--disable-slash-commands",
    "--forward-subagent-text", "--exclude-dynamic-system-prompt-sections", "--include-hook-events",
    "--no-session-persistence", "--restricted", "--safe-mode", "--tmux", "--init", "--init-only",
    "--maintenance",
})  # fmt: skip
"""Options without a value, of 1.0.120 to 2.1.330. `-p`, `-c`, `-h` and `-v` may be combined."""

LISTS = frozenset({
    "--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--tools", "--mcp-config",
    "--add-dir", "--betas", "--file",
})  # fmt: skip
"""Options that take all words up to the next option."""

_SHORT_FLAGS = re.compile("-[pchv]+")
_PACKAGE = re.compile(r"@anthropic-ai/claude-code(@.*)?")


class PromptError(TurnwireError):
    """The arguments contain no single prompt. The message says what to do."""


def without_prompt(argv: Sequence[str]) -> tuple[list[str], str | None]:
    """Return an argument vector without its prompt, and the prompt; of other programs than Claude Code nothing is taken.

    Raises PromptError.
    """
    first = _first_argument(argv)
    if first is None:
        return list(argv), None
    kept, words, rest = list(argv[:first]), list[str](), list(argv[first:])
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            words += rest
            break
        if not argument.startswith("-") or argument == "-":
            words.append(argument)
            continue
        kept.append(argument)
        if argument in FLAGS or "=" in argument or _SHORT_FLAGS.fullmatch(argument):
            continue
        most = len(rest) if argument in LISTS else 1
        while rest and most > 0 and not rest[0].startswith("-"):
            kept.append(rest.pop(0))
            most -= 1
    words = [word for word in words if word]
    if len(words) > 1:
        raise PromptError(
            f"the CLI takes one prompt, not {len(words)} words ({' '.join(words)[:80]!r}); put it in quotes, or give it with --prompt"
        )
    return kept, words[0] if words else None


def _first_argument(argv: Sequence[str]) -> int | None:
    """Return where Claude Code's own arguments begin; None for another program."""
    if not argv:
        return None
    if Path(argv[0]).name == "claude":
        return 1
    return next((index + 1 for index, word in enumerate(argv) if _PACKAGE.fullmatch(word)), None)

"""The command-line arguments of one-shot agents, as data."""

from collections.abc import Sequence

from msgspec import Struct

from turnwire.adapter.options import SessionOptions
from turnwire.adapter.process.cli import MAX_ARGUMENT


class Program(Struct, frozen=True, kw_only=True):
    """Arguments to add to a configured command. `{}` stands for the value."""

    model: Sequence[str]
    """Chooses the model."""
    resume: Sequence[str]
    """Continues a conversation, by its id."""
    unasked: Sequence[str] = ()
    """Lets the agent do everything without asking, for the policy `autonomous`."""
    last: Sequence[str] = ()
    """Says that the prompt is on standard input, if the program needs that."""
    argument: str | None = None
    """Option that takes the prompt, for a program that does not read stdin. A shell passes stdin as its value."""

    @property
    def max_prompt(self) -> int | None:
        """Maximum bytes of a prompt: those of one argument, if the prompt is one. None: any length."""
        return None if self.argument is None else MAX_ARGUMENT

    def argv(self, options: SessionOptions) -> tuple[str, ...]:
        """Return the command line of a run."""
        command, argv = options.command, [*options.executable]
        if command.resume is not None:
            argv += _filled(self.resume, command.resume)
        if command.model is not None:
            argv += _filled(self.model, command.model)
        if options.policy == "autonomous":
            argv += self.unasked
        if self.argument is not None:
            return ("/bin/sh", "-c", f'exec "$0" "$@" {self.argument} "$(cat)"', *argv)
        return (*argv, *self.last)


PROGRAMS: dict[str, Program] = {
    "codex-exec": Program(
        model=("--model", "{}"),
        resume=("resume", "{}"),
        unasked=("--dangerously-bypass-approvals-and-sandbox",),
        last=("--skip-git-repo-check", "-"),
    ),
    "gemini": Program(
        model=("--model", "{}"),
        resume=("--resume", "{}"),
        unasked=("--approval-mode", "yolo"),
    ),
    "opencode-run": Program(model=("--model", "{}"), resume=("--session", "{}"), unasked=("--auto",)),
    "copilot": Program(model=("--model", "{}"), resume=("--resume={}",), unasked=("--allow-all-tools",)),
    "droid": Program(model=("--model", "{}"), resume=("--session-id", "{}"), unasked=("--auto", "high")),
    # in this mode it never asks, whatever the policy
    "kimi": Program(model=("--model", "{}"), resume=("--session", "{}"), argument="--prompt"),
}
"""Family name -> its program."""


def _filled(words: Sequence[str], value: str) -> list[str]:
    return [word.replace("{}", value) for word in words]

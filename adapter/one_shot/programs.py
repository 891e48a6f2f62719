"""How each one-shot agent is told what a run is to be: the arguments that its family's programs take, as data."""

from collections.abc import Sequence

from msgspec import Struct

from turnwire.adapter.options import SessionOptions


class Program(Struct, frozen=True, kw_only=True):
    """Arguments that follow a configured command. `{}` stands for the value."""

    model: Sequence[str]
    """What chooses the model."""
    resume: Sequence[str]
    """What goes on with a conversation, by its id."""
    unasked: Sequence[str] = ()
    """What lets it do everything unasked, for the policy `autonomous`."""
    last: Sequence[str] = ()
    """What says that the prompt is on standard input, where it has to be said."""
    argument: str | None = None
    """The option that takes the prompt, of a program that does not read it from standard input: a shell puts it there."""

    def argv(self, options: SessionOptions) -> tuple[str, ...]:
        """Return the command of a run."""
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
    # it never asks in this mode, whatever the policy
    "kimi": Program(model=("--model", "{}"), resume=("--session", "{}"), argument="--prompt"),
}
"""The programs by their family."""


def _filled(words: Sequence[str], value: str) -> list[str]:
    return [word.replace("{}", value) for word in words]

"""Texts in both of Codex's wires: failures of the API, and commands with a shell around them."""

import re
import shlex

from turnwire.normalize.common.command_line import command_line
from turnwire.normalize.common.problems import problem
from turnwire.normalize.streams.observations import Failure
from turnwire.protocol.acp.messages import RpcError

_SHELL_LINE = re.compile(r"\A\S{1,200}sh -l?c ")


def failure(words: str) -> Failure:
    """Return a failure by its words: the wire has no other place for an HTTP status."""
    told = problem(RpcError(message=words))
    return Failure(message=told.message, status=told.status, code=told.code)


def unwrapped(command: str | None) -> str:
    """Return the command of `/bin/bash -lc '…'`."""
    if command is None or not _SHELL_LINE.match(command):
        return command or ""
    try:
        return command_line([*shlex.split(command)]) or command
    except ValueError:
        return command

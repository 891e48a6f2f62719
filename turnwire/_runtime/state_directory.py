"""Where turnwire keeps the state of this user, unless a setting says otherwise."""

import os
from pathlib import Path


def state_directory() -> Path:
    """Return the default state directory: $XDG_STATE_HOME/turnwire, or ~/.local/state/turnwire."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "turnwire"


def sandbox_notes() -> str:
    """Return the folder in which running sandboxes note what was in a workspace before."""
    return str(state_directory() / "sandboxes")

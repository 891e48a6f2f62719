"""Whether a folder is in a git repository: some agents ask about less there."""

from pathlib import Path


def git_above(folder: Path) -> Path | None:
    """Return the `.git` of a folder or of the nearest one above it; None if there is none.

    It may be empty: the sandbox of Codex leaves such a folder in /tmp, and Kimi Code takes it for a repository.
    """
    here = folder.resolve()
    return next((git for one in (here, *here.parents) if (git := one / ".git").exists()), None)

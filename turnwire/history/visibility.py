"""Decide which conversations a limited principal may see."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from msgspec import Struct


class VisibleConversations(Struct, frozen=True):
    """Those in some folders, and some by their ids."""

    folders: tuple[str, ...] = ()
    """Absolute paths; what is below them counts, too."""
    ids: frozenset[str] = frozenset()
    """Of conversations, and `live:SESSION` of turnwire's own sessions."""

    def has(self, identity: str, folder: str | None) -> bool:
        """Tell whether a conversation is one of these."""
        return identity in self.ids or (
            folder is not None
            and ".." not in PurePosixPath(folder).parts
            and any(PurePosixPath(folder).is_relative_to(one) for one in self.folders)
        )

    def condition(self, identity: str, folder: str) -> tuple[str, Sequence[object]]:
        """Return the same as SQL over two columns, and its values."""
        parts, values = list[str](), list[object]()
        for one in self.folders:
            below = f"{one.rstrip('/')}/"
            # not LIKE, which knows no letter case in SQLite; and ".." would lead out
            parts.append(
                f"(({folder} = ? OR substr({folder}, 1, ?) = ?) AND {folder} || '/' NOT LIKE '%/../%')"
            )
            values += [one, len(below), below]
        if self.ids:
            parts.append(f"{identity} IN ({', '.join('?' * len(self.ids))})")
            values += sorted(self.ids)
        return f"({' OR '.join(parts) or '0'})", values

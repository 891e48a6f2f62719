"""Principals: who a frontend speaks for, and which sessions that principal may see. Pure; the store of principals has the clock.

The two tokens of a hub belong to no principal and see all sessions. A principal has a token of its own, or is named
by a reverse proxy, and may be held to its own sessions and to those in some folders. For a principal, a session that
it may not see does not exist.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from turnwire.normalize.vocabulary import Role
from turnwire.protocol.errors import TurnwireError

if TYPE_CHECKING:
    from turnwire.hub.wire.frames_out import SessionSummary

TOKEN_PREFIX = "twp-"
"""Prefix of a principal's token. It differs from the two simple tokens, and scanners can find lost tokens by it."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


class BadPrincipal(TurnwireError):
    """An invalid name or scope; the message says what is valid."""


def checked_name(name: str) -> str:
    """Return a principal's name; raises BadPrincipal."""
    if _NAME.fullmatch(name) is None:
        raise BadPrincipal(
            f"{name[:64]!r} is not a name: use 1 to 64 ASCII letters, digits and ._@+-, and begin with a letter or a digit"
        )
    return name


class Scope(Struct, frozen=True):
    """Which sessions may be seen."""

    all: bool = False
    """Every one."""
    own: bool = False
    """Sessions that the principal has begun."""
    folders: tuple[str, ...] = ()
    """Sessions that work in one of these folders, or below; absolute paths."""

    @classmethod
    def parse(cls, words: Iterable[str]) -> "Scope":
        """Read `all`, `own` and `folder:PATH`; raises BadPrincipal."""
        found, folders = set[str](), list[str]()
        for word in words:
            kind, _, path = word.partition(":")
            if word in {"all", "own"}:
                found.add(word)
            elif kind == "folder" and path.startswith("/") and ".." not in PurePosixPath(path).parts:
                folders.append(str(PurePosixPath(path)))
            else:
                raise BadPrincipal(f"{word!r} is not a scope: give all, own, or folder:/ABSOLUTE/PATH")
        if not (found or folders):
            raise BadPrincipal("an empty scope shows nothing: give all, own, or folder:/PATH")
        return cls("all" in found, "own" in found, tuple(folders))

    def words(self) -> list[str]:
        """Return what `of` reads."""
        return [
            *(["all"] if self.all else []),
            *(["own"] if self.own else []),
            *(f"folder:{folder}" for folder in self.folders),
        ]

    def has_folder(self, path: str | None) -> bool:
        """Tell whether a folder is one of these, or below one."""
        return path is not None and any(
            PurePosixPath(path).is_relative_to(folder) and ".." not in PurePosixPath(path).parts
            for folder in self.folders
        )


EVERYTHING = Scope(all=True)


class Principal(Struct, frozen=True):
    """The principal that has shown a token."""

    role: Role
    name: str | None = None
    """None for the hub's two tokens."""
    scope: Scope = EVERYTHING
    id: str | None = None
    """Id of its token; None without its own token."""
    expires: float | None = None
    """When its token opens nothing any more, in seconds since 1970."""

    @property
    def sees_all(self) -> bool:
        """Whether nothing is kept from it."""
        return self.scope.all

    def as_viewer(self) -> "Principal":
        """Return the same principal with the role view."""
        return replace(self, role="view")

    def still_is(self, now: "Principal | None") -> bool:
        """Tell whether it may still do all it may, by what is known now of its token."""
        return now is not None and self in {now, now.as_viewer()}

    def sees(self, session: "SessionSummary") -> bool:
        """Tell whether it may see a session."""
        return sees(self.scope, self.name, session)


def sees(scope: Scope, name: str | None, session: "SessionSummary") -> bool:
    """Tell whether a session is in the scope of the principal of that name."""
    return (
        scope.all
        or (scope.own and name is not None and session.owner == name)
        or scope.has_folder(session.workspace)
    )


class Principals(Protocol):
    """Who keeps the principals that have tokens. What was revoked or has expired is not there."""

    def of_token(self, token: str) -> Principal | None:
        """Return whose token this is."""
        ...

    def of_id(self, token_id: str) -> Principal | None:
        """Return whose token has this id."""
        ...

    def secret(self, token_id: str) -> bytes:
        """Return the secret for cookies of this token, in addition to the hub's token; b"" for an unknown token."""
        ...

    def refresh(self) -> None:
        """Look whether something has changed, where that costs next to nothing."""
        ...

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Call the watcher whenever one may have been revoked or have expired, until the returned function is called."""
        ...


class NoPrincipals:
    """No principals: only the two tokens of the hub."""

    def of_token(self, token: str) -> Principal | None:  # noqa: ARG002 - as the protocol has it
        """Return None."""
        return None

    def of_id(self, token_id: str) -> Principal | None:  # noqa: ARG002 - as the protocol has it
        """Return None."""
        return None

    def secret(self, token_id: str) -> bytes:  # noqa: ARG002 - as the protocol has it
        """Return nothing."""
        return b""

    def refresh(self) -> None:
        """Do nothing."""

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:  # noqa: ARG002 - as the protocol has it
        """Never call it."""
        return lambda: None


class ProxyUsers:
    """Reads who a reverse proxy says that a request comes from: the one that has done the login."""

    def __init__(self, header: str | None, role: Role = "view", scope: Scope = EVERYTHING) -> None:
        """Take the header's name, in any case; None where no proxy is believed."""
        self._header = None if header is None else header.lower()
        self._role: Role = role
        self._scope = scope

    def said(self, headers: Mapping[str, str]) -> str | None:
        """Return the value of the header, from any sender; None without one, or if none is configured."""
        return None if self._header is None else headers.get(self._header)

    def principal(self, said: str) -> Principal:
        """Return who that is; raises BadPrincipal."""
        return Principal(self._role, checked_name(said), self._scope)

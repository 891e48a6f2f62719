"""Principals: whom a frontend acts for, and which sessions it may see. Pure; the store of principals has the clock.

The hub's two tokens belong to no principal and see all sessions. A principal has a token of its own, or a reverse proxy
names it. It may be limited to its own sessions and to those in some folders. For a principal, a session that
it may not see does not exist.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol, get_args

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from turnwire.normalize.vocabulary import Role
from turnwire.protocol.errors import TurnwireError

if TYPE_CHECKING:
    from turnwire.hub.wire.frames_out import SessionSummary

TOKEN_PREFIX = "twp-"
"""Prefix of a principal's token. It differs from the two simple tokens, and scanners can find lost tokens by it."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


class BadPrincipal(TurnwireError):
    """An invalid name, role or scope. The message says what is valid."""


def checked_name(name: object) -> str:
    """Return a principal's name; raises BadPrincipal."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise BadPrincipal(
            f"{str(name)[:64]!r} is not a name: use 1 to 64 ASCII letters, digits and ._@+-, and begin with a letter or a digit"
        )
    return name


USER = "{user}"
"""What stands for the principal's name in the words of a scope."""


class Scope(Struct, frozen=True):
    """The sessions that a principal may see, and where it may begin some."""

    all: bool = False
    """Every one."""
    own: bool = False
    """Sessions that the principal has begun."""
    folders: tuple[str, ...] = ()
    """Sessions that work in one of these folders, or below; absolute paths."""
    places: tuple[str, ...] = ()
    """The folders in which, and below which, it may begin sessions; none: wherever frontends may. Absolute paths."""
    workers: tuple[str, ...] = ()
    """Names, labels or groups of the workers on which it may begin sessions; none: on all."""

    @classmethod
    def parse(cls, words: Iterable[str]) -> "Scope":
        """Read `all`, `own`, `folder:PATH`, `in:PATH` and `worker:NAME`; raises BadPrincipal."""
        found = set[str]()
        named: dict[str, list[str]] = {"folder": [], "in": [], "worker": []}
        for word in words:
            kind, _, name = word.partition(":")
            if word in {"all", "own"}:
                found.add(word)
            elif kind == "worker" and name:
                named[kind].append(name)
            elif kind in {"folder", "in"} and name.startswith("/") and ".." not in PurePosixPath(name).parts:
                named[kind].append(str(PurePosixPath(name)))
            else:
                raise BadPrincipal(
                    f"{word!r} is not a scope: give all, own, folder:/ABSOLUTE/PATH, in:/ABSOLUTE/PATH, or worker:NAME"
                )
        if not (found or named["folder"]):
            raise BadPrincipal("an empty scope shows nothing: give all, own, or folder:/PATH")
        return cls(
            "all" in found, "own" in found, *(tuple(named[kind]) for kind in ("folder", "in", "worker"))
        )

    def words(self) -> list[str]:
        """Return the words that `parse` reads."""
        return [
            *(["all"] if self.all else []),
            *(["own"] if self.own else []),
            *(f"folder:{folder}" for folder in self.folders),
            *(f"in:{folder}" for folder in self.places),
            *(f"worker:{worker}" for worker in self.workers),
        ]

    def of(self, name: str) -> "Scope":
        """Return the scope of the principal of a name, which `{user}` stands for."""
        return (
            self
            if USER not in "".join(self.words())
            else Scope.parse(word.replace(USER, name) for word in self.words())
        )

    def check_worker(self, name: str | None, labels: Iterable[str], group: str | None) -> bool:
        """Tell whether the principal may begin sessions on a worker."""
        return not self.workers or not {name, group, *labels}.isdisjoint(self.workers)

    def has_folder(self, path: str | None) -> bool:
        """Tell whether a folder is one of these, or below one."""
        return path is not None and any(
            PurePosixPath(path).is_relative_to(folder) and ".." not in PurePosixPath(path).parts
            for folder in self.folders
        )


EVERYTHING = Scope(all=True)


class Principal(Struct, frozen=True):
    """The principal that has shown a token. Raises BadPrincipal for an invalid name or role: there is none with more rights than it names."""

    role: Role
    name: str | None = None
    """None for the hub's two tokens."""
    scope: Scope = EVERYTHING
    id: str | None = None
    """Id of its token; None without its own token."""
    expires: float | None = None
    """When its token opens nothing any more, in seconds since 1970."""
    admin: bool = False
    """Whether it may lead the workers of a fleet."""

    def __post_init__(self) -> None:
        """Check what a caller may have made up: a type checker does not hold at run time."""
        if self.role not in get_args(Role):
            roles = " or ".join(map(repr, get_args(Role)))
            raise BadPrincipal(f"{self.role!r} is not a role: give {roles}")
        if not isinstance(self.scope, Scope):
            raise BadPrincipal(f"{self.scope!r} is not a scope: give Scope.parse([...])")
        if self.name is not None:
            force_setattr(self, "scope", self.scope.of(checked_name(self.name)))

    @property
    def sees_all(self) -> bool:
        """Return whether it sees every session."""
        return self.scope.all

    def as_viewer(self) -> "Principal":
        """Return the same principal with the role view."""
        return replace(self, role="view", admin=False)

    def still_is(self, now: "Principal | None") -> bool:
        """Return whether its token still gives it all its rights."""
        return now is not None and self in {now, now.as_viewer()}

    def sees(self, session: "SessionSummary") -> bool:
        """Tell whether it may see a session."""
        return sees(self.scope, self.name, session)


HIDDEN = {
    "journal_unavailable": "Events cannot be stored or read at present. It is tried again; the operator sees why.",
    "limit_processes": "No more agents can run at present. Close a session, or ask the operator.",
    "limit_sessions": "No more sessions can be had at present. Delete some, or ask the operator.",
    "no_worker": "No machine that is there fits; ask the operator.",
    "timeout": "The session's machine has not answered in time; its events show whether the command was carried out.",
    "unreachable": "The session's machine is not there at present; its events show whether the command was carried out.",
}
"""Refusals that name machines, servers or settings, and what a principal reads that may not see all sessions."""


def shown(session: "SessionSummary", principal: Principal) -> "SessionSummary":
    """Return a session as a principal may see it: without names of machines, unless it sees all sessions."""
    if principal.sees_all:
        return session
    trouble = None if session.trouble is None else HIDDEN["journal_unavailable"]
    return replace(session, worker=None, trouble=trouble)


def sees(scope: Scope, name: str | None, session: "SessionSummary") -> bool:
    """Tell whether a session is in the scope of the principal of that name."""
    return (
        scope.all
        or (scope.own and name is not None and session.owner == name)
        or scope.has_folder(_folder_of(session))
    )


def _folder_of(session: "SessionSummary") -> str | None:
    return session.workspace if session.worktree is None else session.worktree.repository


class SessionIndex:
    """Sessions by what `sees` looks at: what one principal of many sees costs what it sees, and not a look at each session."""

    def __init__(self, sessions: "Sequence[SessionSummary]") -> None:
        self._sessions = sessions
        self._by_owner: defaultdict[str | None, list[int]] = defaultdict(list)
        self._by_folder: defaultdict[str, list[int]] = defaultdict(list)
        above: dict[str, list[str]] = {}
        for number, session in enumerate(sessions):
            self._by_owner[session.owner].append(number)
            folder = _folder_of(session)
            if folder is not None and folder not in above:
                path = PurePosixPath(folder)
                above[folder] = [] if ".." in path.parts else [str(path), *map(str, path.parents)]
            for place in above.get(folder or "", ()):
                self._by_folder[place].append(number)

    def seen(self, scope: Scope, name: str | None) -> Sequence[int]:
        """Return the places of the sessions that the principal of that name sees, in their order."""
        if scope.all:
            return range(len(self._sessions))
        found = [self._by_owner.get(name, [])] if scope.own and name is not None else []
        found += [self._by_folder.get(folder, []) for folder in scope.folders]
        return found[0] if len(found) == 1 else sorted({number for numbers in found for number in numbers})


class Principals(Protocol):
    """The store of principals with tokens. It returns no revoked or expired ones."""

    def of_token(self, token: str) -> Principal | None:
        """Return the principal of a token."""
        ...

    def of_id(self, token_id: str) -> Principal | None:
        """Return the principal of a token's id."""
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
    """Reads the user whom a reverse proxy has logged in."""

    def __init__(self, header: str | None, role: Role = "view", scope: Scope = EVERYTHING) -> None:
        """Take the header's name, in any case. None: no proxy logs users in."""
        self._header = None if header is None else header.lower()
        self._role: Role = role
        self._scope = scope

    def said(self, headers: Mapping[str, str]) -> str | None:
        """Return the value of the header, from any sender; None without one, or if none is configured."""
        return None if self._header is None else headers.get(self._header)

    def principal(self, said: str) -> Principal:
        """Return the principal of a header's value. Raises BadPrincipal."""
        return Principal(self._role, said, self._scope)

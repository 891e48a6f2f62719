"""Web push of one turnwire: subscriptions, notifications, and the commands of browsers."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import JsonValue

from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.principals import NoPrincipals, Principals
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.normalize.events.envelope import Envelope
from turnwire.normalize.vocabulary import Role
from turnwire.outbound.push.delivery import EncryptedMessage, Post, Sender, posting
from turnwire.outbound.push.endpoints import EndpointRefused, place_of
from turnwire.outbound.push.keys import KeyRefused, VapidKeys, encrypted, is_installed
from turnwire.outbound.push.message import KINDS, Told, body_of, told
from turnwire.outbound.push.subscriptions import Subscription, Subscriptions

log = logging.getLogger(__name__)

TTL_S = 3600
"""Seconds that a push service keeps a message for a browser that is away: after that an answer is too late as a rule."""

INSTALL = "web push needs the extra: pip install 'turnwire[push]'"


class Push:
    """Tells browsers what happens."""

    kinds = KINDS

    def __init__(
        self,
        directory: Path,
        summary_of: Callable[[str], SessionSummary | None],
        *,
        named: tuple[str, ...] = (),
        contact: str = "mailto:turnwire@example.com",
        post: Post | None = None,
    ) -> None:
        """Take the state directory; `named` are the operator's push services, `contact` is whom a service can write to."""
        self._directory = directory
        self._summary_of = summary_of
        self._named = named
        self._contact = contact
        self._post = post or posting(named)
        self._installed = is_installed()
        self._sender: Sender | None = None
        self._principals: Principals = NoPrincipals()
        self._signing: VapidKeys | None = None
        self._subscriptions: Subscriptions | None = None

    def admit(self, tokens: Mapping[Role, str], principals: Principals | None = None) -> None:
        """Begin to tell those that are kept: the hub's tokens and its principals say which of them count."""
        self._principals = principals or NoPrincipals()
        self._subscriptions = Subscriptions(self._directory / "push.json", tokens)

    def start(self) -> None:
        """Begin: events follow."""
        loop = asyncio.get_running_loop()

        def gone(endpoint: str) -> None:
            loop.call_soon_threadsafe(self._forget, endpoint)

        self._sender = Sender(self._post, gone)

    def stop(self) -> None:
        """Stop all notifications."""
        if self._sender is not None:
            self._sender.stop()

    def tell(self, envelope: Envelope, kind: str, epoch: str) -> None:  # noqa: ARG002 - Receiving
        """Tell all that are subscribed of an event."""
        those = self._subscriptions.all if self._subscriptions is not None and self._installed else ()
        if not those or (message := told(envelope, self._title_of)) is None:
            return
        session = self._summary_of(envelope.session)
        for one in those:
            if self._may_see(one, session):
                self._send(one, message)

    def _title_of(self, session: str) -> str | None:
        known = self._summary_of(session)
        return None if known is None else known.title

    def _may_see(self, one: Subscription, session: SessionSummary | None) -> bool:
        if one.token is None:
            return True
        principal = self._principals.of_id(one.token)
        if principal is None:
            self._forget(one.endpoint)
            return False
        return principal.sees_all or (session is not None and principal.sees(session))

    def execute(self, command: frames.PushCommand, frontend: Frontend) -> JsonValue:
        """Do a command; raises CommandRefused."""
        subscriptions = self._subscriptions
        if subscriptions is None or not self._installed:
            raise CommandRefused("no_push", INSTALL)
        match command:
            case frames.PushKey():
                return {"key": self._sign().public}
            case frames.PushSubscribe():
                if frontend.user is not None and frontend.token is None:
                    # Nobody would tell us when the proxy's user is no more.
                    raise CommandRefused(
                        "forbidden", "Web push needs your own token; ask the operator for one.", "type"
                    )
                one = Subscription(
                    command.endpoint, command.p256dh, command.auth, frontend.role, frontend.token
                )
                try:
                    place_of(one.endpoint, self._named)
                    encrypted(b"", one.p256dh, one.auth)
                except EndpointRefused as refused:
                    raise CommandRefused("invalid_params", str(refused), "endpoint") from refused
                except KeyRefused as refused:
                    raise CommandRefused("invalid_params", str(refused), "p256dh") from refused
                subscriptions.add(one)
                return None
            case frames.PushUnsubscribe():
                return {"subscribed": subscriptions.drop(command.endpoint)}
            case _:
                raise AssertionError(f"{type(command).__name__} is no command of web push")

    def _sign(self) -> VapidKeys:
        if self._signing is None:
            try:
                self._signing = VapidKeys.kept(self._directory / "vapid.pem")
            except KeyRefused as refused:
                raise CommandRefused("no_push", str(refused)) from refused
        return self._signing

    def _send(self, to: Subscription, message: Told) -> None:
        if self._sender is None:
            return
        try:
            headers = {
                **self._sign().headers(place_of(to.endpoint, self._named).origin, self._contact),
                "Content-Encoding": "aes128gcm",
                "Content-Type": "application/octet-stream",
                "TTL": str(TTL_S),
                "Urgency": "high" if "pending" in message else "normal",
            }
            body = encrypted(body_of(message, may_answer=to.role == "control"), to.p256dh, to.auth)
        except (CommandRefused, EndpointRefused, KeyRefused) as error:
            # of an earlier start, whose settings allowed what these do not
            log.warning("a browser is not notified", extra={"reason": str(error)})
            self._forget(to.endpoint)
            return
        self._sender.put(EncryptedMessage(to.endpoint, body, headers))

    def _forget(self, endpoint: str) -> None:
        if self._subscriptions is not None:
            self._subscriptions.drop(endpoint)

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
from turnwire.outbound.push.delivery import EncryptedMessage, Post, Sender, make_post
from turnwire.outbound.push.endpoints import EndpointRefused, parse_endpoint
from turnwire.outbound.push.keys import KeyRefused, VapidKeys, encrypted, is_installed
from turnwire.outbound.push.message import KINDS, Notification, body_of, notification_of
from turnwire.outbound.push.subscriptions import Subscription, Subscriptions

log = logging.getLogger(__name__)

TTL_S = 3600
"""Seconds that a push service keeps a message for an offline browser. Later answers usually come too late."""

INSTALL = "web push needs the extra: pip install 'turnwire[push]'"


class Push:
    """Send web push notifications to subscribed browsers, and handle the browsers' commands."""

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
        """directory: the state directory. named: the operator's push services. contact: address for push services to write to."""
        self._directory = directory
        self._summary_of = summary_of
        self._named = named
        self._contact = contact
        self._post = post or make_post(named)
        self._installed = is_installed()
        self._sender: Sender | None = None
        self._principals: Principals = NoPrincipals()
        self._signing: VapidKeys | None = None
        self._subscriptions: Subscriptions | None = None

    def admit(self, tokens: Mapping[Role, str], principals: Principals | None = None) -> None:
        """Load the subscriptions. Those of unknown tokens or principals are ignored."""
        self._principals = principals or NoPrincipals()
        self._subscriptions = Subscriptions(self._directory / "push.json", tokens)

    def start(self) -> None:
        """Start sending. Must run in the event loop."""
        loop = asyncio.get_running_loop()

        def gone(endpoint: str) -> None:
            loop.call_soon_threadsafe(self._forget, endpoint)

        self._sender = Sender(self._post, gone)

    def stop(self) -> None:
        """Stop all notifications."""
        if self._sender is not None:
            self._sender.stop()

    def receive(self, envelope: Envelope, kind: str, epoch: str) -> None:  # noqa: ARG002 - EventReceiver
        """Notify all subscribed browsers that may see the event."""
        those = self._subscriptions.all if self._subscriptions is not None and self._installed else ()
        if not those or (message := notification_of(envelope, self._title_of)) is None:
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
        """Execute a command of a browser. Raises CommandRefused."""
        subscriptions = self._subscriptions
        if subscriptions is None or not self._installed:
            raise CommandRefused("no_push", INSTALL)
        match command:
            case frames.PushKey():
                return {"key": self._sign().public}
            case frames.PushSubscribe():
                if frontend.user is not None and frontend.token is None:
                    # turnwire would not learn when the proxy's user is removed.
                    raise CommandRefused(
                        "forbidden", "Web push needs your own token; ask the operator for one.", "type"
                    )
                one = Subscription(
                    command.endpoint, command.p256dh, command.auth, frontend.role, frontend.token
                )
                try:
                    parse_endpoint(one.endpoint, self._named)
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
                self._signing = VapidKeys.load(self._directory / "vapid.pem")
            except KeyRefused as refused:
                raise CommandRefused("no_push", str(refused)) from refused
        return self._signing

    def _send(self, to: Subscription, message: Notification) -> None:
        if self._sender is None:
            return
        try:
            headers = {
                **self._sign().headers(parse_endpoint(to.endpoint, self._named).origin, self._contact),
                "Content-Encoding": "aes128gcm",
                "Content-Type": "application/octet-stream",
                "TTL": str(TTL_S),
                "Urgency": "high" if "pending" in message else "normal",
            }
            body = encrypted(body_of(message, may_answer=to.role == "control"), to.p256dh, to.auth)
        except (CommandRefused, EndpointRefused, KeyRefused) as error:
            # The subscription is from an earlier start with other settings.
            log.warning("a browser is not notified", extra={"reason": str(error)})
            self._forget(to.endpoint)
            return
        self._sender.put(EncryptedMessage(to.endpoint, body, headers))

    def _forget(self, endpoint: str) -> None:
        if self._subscriptions is not None:
            self._subscriptions.drop(endpoint)

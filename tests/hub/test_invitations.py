"""Codes that log one more browser in: once, and soon."""

from hub_harness import hub_harness

from turnwire.client import connect
from turnwire.client.commands import AccessInvite
from turnwire.hub.principals import Principal
from turnwire.hub.server.invitations import LIFE_S, MOST, OwnInvitations

CONTROL, VIEW = Principal("control"), Principal("view")


async def test_a_code_is_good_once_and_for_a_while() -> None:
    now = 0.0
    invitations = OwnInvitations(lambda: now)
    code = await invitations.give(VIEW)
    now = 1
    assert await invitations.redeem("another") is None
    assert await invitations.redeem(code) == VIEW
    assert await invitations.redeem(code) is None
    late = await invitations.give(CONTROL)
    now += LIFE_S
    assert await invitations.redeem(late) is None
    codes = [await invitations.give(CONTROL) for _ in range(MOST + 1)]
    assert await invitations.redeem(codes[0]) is None
    assert await invitations.redeem(codes[-1]) == CONTROL


async def test_an_invited_browser_logs_in_once_with_the_role_it_was_invited_for() -> None:
    async with hub_harness() as where:
        async with connect(where.url) as client:
            told = await client.command(AccessInvite(role="view"))
        shown = {"Authorization": f"Bearer {told.code}"}
        status, headers, body = await where.request("/login", method="POST", headers=shown)
        assert (status, b'"view"' in body, "HttpOnly" in headers["set-cookie"]) == (200, True, True)
        # It is a way to a cookie alone, and once.
        assert (await where.request("/login", method="POST", headers=shown))[0] == 401
        assert (await where.request("/sessions", headers=shown))[0] == 401

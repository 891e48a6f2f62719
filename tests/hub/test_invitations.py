"""Codes that log one more browser in: once, and soon."""

from hub_harness import hub_harness

from hub.principals import Principal
from hub.server.invitations import LIFE_S, MOST, Invitations
from turnwire_client import connect
from turnwire_client.commands import AccessInvite

CONTROL, VIEW = Principal("control"), Principal("view")


def test_a_code_is_good_once_and_for_a_while() -> None:
    invitations = Invitations()
    code = invitations.give(VIEW, 0)
    assert invitations.redeem("another", 1) is None
    assert invitations.redeem(code, 1) == VIEW
    assert invitations.redeem(code, 1) is None
    late = invitations.give(CONTROL, 0)
    assert invitations.redeem(late, LIFE_S) is None
    codes = [invitations.give(CONTROL, 0) for _ in range(MOST + 1)]
    assert invitations.redeem(codes[0], 1) is None
    assert invitations.redeem(codes[-1], 1) == CONTROL


async def test_an_invited_browser_logs_in_once_with_the_role_it_was_invited_for() -> None:
    async with hub_harness() as where:
        async with connect(where.url) as client:
            told = await client.command(AccessInvite(role="view"))
        assert isinstance(told, dict)
        shown = {"Authorization": f"Bearer {told['code']}"}
        status, headers, body = await where.request("/login", method="POST", headers=shown)
        assert (status, b'"view"' in body, "HttpOnly" in headers["set-cookie"]) == (200, True, True)
        # It is a way to a cookie alone, and once.
        assert (await where.request("/login", method="POST", headers=shown))[0] == 401
        assert (await where.request("/sessions", headers=shown))[0] == 401
